// The stream behind the pages in a real browser: resumed after a loss, closed while the page is hidden.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { seedFlags } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const stream = "**/api/v1/stream";
const status = (page: Page, text: string) =>
  page.getByRole("status").getByText(text, { exact: true });
const toggleOf = (page: Page, key: string) =>
  page.getByRole("switch", { name: `${key} is on`, exact: true });

test("after a loss the page says so, keeps its flags and resumes", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "kept", type: "boolean" }]);
  const { page } = await browser.visit(t, server.url, { keys: [keys.admin] });
  let reconnect = () => {};
  const released = new Promise<void>((resolve) => {
    reconnect = resolve;
  });
  const resumedFrom: (string | undefined)[] = [];
  await page.route(stream, async (route) => {
    resumedFrom.push(route.request().headers()["last-event-id"]);
    if (resumedFrom.length > 1) {
      await released;
      return route.continue();
    }
    const flags = [
      { version: 1, flag: { key: "kept", type: "boolean", enabled: false, description: null } },
    ];
    const snapshot = JSON.stringify({ environment: "any", revision: 1, at: null, flags });
    // A response with an end: the connection is lost right after the snapshot.
    return route.fulfill({
      contentType: "text/event-stream",
      body: `event: snapshot\nid: the-first\ndata: ${snapshot}\n\n`,
    });
  });
  await page.goto("/flags");
  await status(page, "Connection lost, reconnecting…").waitFor();
  await toggleOf(page, "kept").waitFor();
  await admin("PATCH", "/flags/kept", { enabled: true });
  reconnect();
  await status(page, "Live").waitFor();
  await page.locator("input:checked").and(toggleOf(page, "kept")).waitFor();
  assert.match(resumedFrom[0] ?? "", /^1-/, "after the snapshot that was read before");
  assert.equal(resumedFrom[1], "the-first");
});

test("a hidden page gives its connection back and catches up when it is visible again", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "seen", type: "boolean" }]);
  const { page, context } = await browser.visit(t, server.url, { keys: [keys.admin], isNew: true });
  await page.clock.install();
  await page.goto("/flags");
  await status(page, "Live").waitFor();
  const show = (hidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const closed = page.waitForEvent("requestfailed", (request) =>
    request.url().endsWith("/api/v1/stream"),
  );
  let connections = 0;
  context.on("request", (request) => {
    if (request.url().endsWith("/api/v1/stream")) connections += 1;
  });
  await show(true);
  await page.clock.fastForward(31_000);
  await closed;
  await admin("PATCH", "/flags/seen", { enabled: true });
  assert.equal(connections, 0);
  await show(false);
  await page.locator("input:checked").and(toggleOf(page, "seen")).waitFor();
  assert.equal(connections, 1);
});
