// Sessions of several tabs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a tab goes on after another one has signed in to one more environment", async (t) => {
  const [here, there] = [await server.environment(), await server.environment()];
  await here.admin("POST", "/flags", { key: "a", type: "boolean" });
  const { page, context } = await browser.visit(t, server.url, { keys: [here.keys.admin] });
  await page.goto("/flags");
  await page.getByRole("switch").waitFor();
  const other = await context.newPage();
  await other.goto(server.url);
  await other.evaluate(
    (key) =>
      fetch("/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key }),
      }),
    there.keys.admin,
  );
  await page.getByRole("switch").press("Space");
  await until(async () => {
    const { body } = await here.admin("GET", "/flags/a");
    assert.equal((body as { enabled: boolean }).enabled, true);
  });
});
