// Pages of other origins in the browser of somebody who is signed in: they can neither read nor change anything.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { signInWith, testBrowser } from "./support/browser.ts";

const browser = testBrowser();
let server: TestServer;
let environment: TestEnvironment;
/** The port of a site that answers every request with an empty page, whatever the name of its host. */
let otherPort: number;
/** The cookies that browsers have sent to that site. */
const cookiesSeen: string[] = [];
const site = createServer((request, response) => {
  cookiesSeen.push(request.headers.cookie ?? "");
  response
    .writeHead(200, { "content-type": "text/html" })
    .end("<!doctype html><title>evil</title>");
});
before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "victim", type: "boolean" });
  site.listen(0);
  await once(site, "listening");
  otherPort = (site.address() as AddressInfo).port;
});
after(async () => {
  site.close();
  site.closeAllConnections();
  await server.close();
});

interface Attack {
  readonly target: string;
  readonly environment: string;
  readonly csrf: string;
}

/** Everything that a page can try with the cookie of its visitor; gives what it could read. */
const attack = async ({ target, environment: name, csrf }: Attack): Promise<string[]> => {
  const read: string[] = [];
  const attempt = async (what: string, path: string, init: RequestInit) => {
    try {
      const answer = await fetch(target + path, { credentials: "include", ...init });
      const text = await answer.text();
      if (text !== "" && answer.ok) read.push(`${what}: ${text}`);
    } catch {
      // The browser has kept the answer to itself.
    }
  };
  const inEnvironment = { "x-halyard-environment": name };
  const whole = { ...inEnvironment, "x-halyard-csrf": csrf, "content-type": "application/json" };
  await attempt("the session", "/session", {});
  await attempt("the flags", "/api/v1/flags", { headers: inEnvironment });
  await attempt("the flags, without a header", "/api/v1/flags", {});
  await attempt("the flags, unseen", "/api/v1/flags", { mode: "no-cors" });
  const body = JSON.stringify({ key: "planted", type: "boolean" });
  await attempt("a flag", "/api/v1/flags", { method: "POST", headers: whole, body });
  await attempt("a flag, unseen", "/api/v1/flags", { method: "POST", mode: "no-cors", body });
  await attempt("a deletion", "/api/v1/flags/victim", { method: "DELETE", headers: whole });
  await attempt("signing out", "/session", { method: "DELETE", headers: whole });

  const loads = (path: string): Promise<boolean> =>
    new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve(true);
      image.onerror = () => resolve(false);
      image.src = target + path;
    });
  if (await loads("/api/v1/flags")) read.push("an image");

  // A form can be sent anywhere, with cookies of the same site and a body that looks like JSON.
  for (const path of ["/api/v1/flags", "/session"]) {
    const frame = Object.assign(document.createElement("iframe"), { name: `frame-${path}` });
    document.body.append(frame);
    const form = Object.assign(document.createElement("form"), {
      action: target + path,
      method: "POST",
      enctype: "text/plain",
      target: frame.name,
    });
    const field = Object.assign(document.createElement("input"), {
      name: '{"key":"planted","type":"boolean","description":"',
      value: '"}',
    });
    form.append(field);
    document.body.append(form);
    const sent = new Promise((resolve) => frame.addEventListener("load", resolve));
    form.submit();
    await sent;
    frame.remove();
    form.remove();
  }
  return read;
};

const signedIn = async (page: Page): Promise<Attack> => {
  await signInWith(page.context(), server.url, [environment.keys.admin]);
  const answer = await page.context().request.get(`${server.url}/session`);
  const { csrf } = (await answer.json()) as { csrf: string };
  return { target: server.url, environment: environment.name, csrf };
};

const victimIsThere = async (): Promise<void> => {
  const flags = (await environment.admin("GET", "/flags")).body as { key: string }[];
  assert.deepEqual(
    flags.map(({ key }) => key),
    ["victim"],
  );
};

for (const [what, host, isSameSite] of [
  ["another host", "localhost", false],
  ["another port of the same host", "127.0.0.1", true],
] as const) {
  test(`a page on ${what} gets nothing and changes nothing`, async (t) => {
    const context = await browser.newContext(t);
    const page = await context.newPage();
    const known = await signedIn(page);
    cookiesSeen.length = 0;
    await page.goto(`http://${host}:${otherPort}/`);
    // Ports do not make a site: this is why the cookie alone is not believed.
    assert.equal(cookiesSeen[0]?.includes("halyard_session="), isSameSite);
    // Even a token that has leaked is of no use to it.
    for (const csrf of ["guessed", known.csrf]) {
      assert.deepEqual(await page.evaluate(attack, { ...known, csrf }), []);
    }
    await victimIsThere();
    const still = await context.request.get(`${server.url}/session`);
    assert.equal(still.status(), 200, "it was signed out");
  });
}

test("the same attempts from our own page do what they say", async (t) => {
  const context = await browser.newContext(t);
  const page = await context.newPage();
  const known = await signedIn(page);
  await page.goto(`${server.url}/keys`);
  const signsOut = page.waitForResponse(
    (answer) => answer.request().method() === "DELETE" && answer.url().endsWith("/session"),
  );
  // Its forms wait for frames that our own policy refuses: it comes to no end.
  page.evaluate(attack, known).catch(() => undefined);
  assert.equal((await signsOut).status(), 204);
  const flags = (await environment.admin("GET", "/flags")).body as { key: string }[];
  assert.deepEqual(
    flags.map(({ key }) => key),
    ["planted"],
  );
  const after = await context.request.get(`${server.url}/session`);
  assert.equal(after.status(), 401);
});

test("no page can put the dashboard into a frame", async (t) => {
  const context = await browser.newContext(t);
  const page = await context.newPage();
  await signedIn(page);
  await page.goto(`http://127.0.0.1:${otherPort}/`);
  await page.evaluate(async (target) => {
    const frame = Object.assign(document.createElement("iframe"), { src: `${target}/flags` });
    const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
    document.body.append(frame);
    await loaded;
  }, server.url);
  const [, framed] = page.frames();
  assert.ok(framed);
  assert.equal(await framed.locator("#root").count(), 0);
});
