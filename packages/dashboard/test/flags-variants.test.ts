// Flags with variants and with rules on the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("who may not change anything reads rules as sentences, without the editor", async (t) => {
  const { keys, admin } = await server.environment();
  const rules = [{ id: "a", when: { attribute: "plan", op: "in", values: ["a"] }, serve: "on" }];
  await admin("POST", "/flags", { key: "read", type: "rollout", percentage: 5, rules });
  const { page, context } = await openAs(browser, t, server.url, [keys.server], "/flags", audited);
  const asked: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  await page.getByRole("link", { name: "read" }).click();
  await page.getByText("If plan is a, serve on.").first().waitFor();
  await page.getByText("Everyone else gets on to 5").waitFor();
  await audit(page, "rules in sentences");
  assert.ok(!asked.some((url) => /targeting-editor/.test(url)));
});
