// The watch that every test in the browser stands under: each thing that must never happen is noticed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { signInWith, testBrowser } from "./support/browser.ts";
import { watchContext } from "./support/watch-context.ts";

const browser = testBrowser();
let server: TestServer;
let key: string;
before(async () => {
  server = await startTestServer();
  key = (await server.environment()).keys.admin;
});
after(() => server.close());

const secret = "a secret of the test";
const mistakes: [what: string, make: (page: Page) => Promise<unknown>, told: RegExp][] = [
  [
    "an inline script",
    (page) =>
      page.evaluate(() => {
        document.body.append(
          Object.assign(document.createElement("script"), { textContent: "globalThis.ran = 1" }),
        );
      }),
    /Content-Security-Policy: script-src/,
  ],
  [
    "a style without the nonce",
    (page) =>
      page.evaluate(() => {
        document.head.append(
          Object.assign(document.createElement("style"), { textContent: "p { color: red }" }),
        );
      }),
    /Content-Security-Policy: style-src/,
  ],
  [
    "a picture from elsewhere",
    (page) =>
      page.evaluate(() => {
        document.body.append(
          Object.assign(document.createElement("img"), { src: "http://localhost:1/pixel.png" }),
        );
      }),
    /Content-Security-Policy: img-src/,
  ],
  [
    "a call to elsewhere",
    (page) => page.evaluate(() => fetch("http://localhost:1/").catch(() => undefined)),
    /Content-Security-Policy: connect-src/,
  ],
  [
    "an error that nobody catches",
    (page) =>
      page.evaluate(() => {
        setTimeout(() => {
          throw new Error("thrown by the test");
        });
      }),
    /an error in the page: thrown by the test/,
  ],
  [
    "an error in the console",
    (page) => page.evaluate(() => console.error("a complaint")),
    /in the console: a complaint/,
  ],
  [
    "a key in the console",
    (page) => page.evaluate(() => console.log(`hal_0123456789abcdef_${"s".repeat(43)}`)),
    /a secret in the console/,
  ],
  [
    "a secret in an address",
    (page) => page.evaluate((text) => fetch(`/keys?key=${encodeURIComponent(text)}`), secret),
    /a secret in an address/,
  ],
  [
    "a secret in the page's own address",
    (page) => page.evaluate(() => history.pushState({}, "", "/flags?whsec_0123456789abcdef")),
    /a secret in the page's address/,
  ],
  [
    "a file that is not there",
    (page) => page.evaluate(() => fetch("/assets/nothing.js")),
    /404 for .*\/assets\/nothing\.js/,
  ],
  [
    "a secret in the storage",
    (page) => page.evaluate((text) => localStorage.setItem("kept", text), secret),
    /a secret in storage/,
  ],
  [
    "the token in the storage",
    (page) =>
      page.evaluate(async () => {
        const { csrf } = (await (await fetch("/session")).json()) as { csrf: string };
        sessionStorage.setItem("kept", csrf);
      }),
    /the token in storage/,
  ],
  [
    "a session that scripts can read",
    async (page) => {
      const [cookie] = await page.context().cookies();
      assert.ok(cookie);
      await page.context().addCookies([{ ...cookie, httpOnly: false }]);
    },
    /the session is open to scripts/,
  ],
  [
    "a page elsewhere",
    (page) => page.goto("http://localhost:1/elsewhere").catch(() => undefined),
    /a request elsewhere: http:\/\/localhost:1\/elsewhere/,
  ],
];

test("every mistake is noticed", async (t) => {
  const context = await browser.newContext(t, { baseURL: server.url });
  const watched = await watchContext(context, { url: server.url, secrets: [secret], expected: [] });
  await signInWith(context, server.url, [key]);
  const page = await context.newPage();
  await page.goto("/keys");
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  await watched.judge();

  for (const [what, make, told] of mistakes) {
    await t.test(what, async () => {
      const isTold = () => watched.problems.some((problem) => told.test(problem));
      assert.ok(!isTold(), "told before it was made");
      await make(page);
      await until(what, async () => {
        await assert.rejects(watched.judge()).catch(() => undefined);
        return isTold();
      });
      await assert.rejects(watched.judge(), /must never happen/);
    });
  }
});
