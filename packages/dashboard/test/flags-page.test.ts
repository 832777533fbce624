// One flag's page in a real browser: creation, rollout preview, usage, history, code snippets.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bucketOf } from "@halyard/core/bucket";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs, seedFlags, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("the rollout preview matches what the server evaluates, with the percentage from which each key is included", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "half", type: "rollout", percentage: 50, enabled: true }]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/half");
  const users = ["user-1", "user-2", "user-3", "Ünïcode 7"];
  await page.getByLabel("Targeting keys, one per line").fill(`${users.join("\n")}\n\n user-1 \n`);
  for (const targetingKey of users) {
    const answer = await fetch(`${server.url}/ofrep/v1/evaluate/flags/half`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.client}`, "content-type": "application/json" },
      body: JSON.stringify({ context: { targetingKey } }),
    });
    const { value } = (await answer.json()) as { value: boolean };
    const from = bucketOf("half", targetingKey) / 1_000;
    const row = page.getByRole("row", {
      name: `${targetingKey} ${value ? "included" : "not included"} ${from}%`,
    });
    await row.waitFor();
  }
  assert.equal(await page.getByRole("row").filter({ hasText: "user-1" }).count(), 1);
  await page.getByText(/^\d of 4 are included\.$/).waitFor();
});

test("history shows who changed what, and any version can be restored", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "turned", type: "rollout", percentage: 10, enabled: true }]);
  await admin("PATCH", "/flags/turned", { percentage: 80, description: "too fast" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/turned");
  const entries = page.getByRole("region", { name: "History" }).getByRole("listitem");
  await until(async () => assert.equal(await entries.count(), 3));
  for (const text of ["admin", "version 3", "10%", "80%", "too fast"]) {
    await entries.first().getByText(text, { exact: true }).waitFor();
  }
  assert.equal(await entries.first().getByRole("button").count(), 0);

  await page.getByRole("button", { name: "Restore this version (version 2)" }).click();
  await dialog(page).getByText("80% → 10%: about 7,000 of every 10,000 users lose it.").waitFor();
  await dialog(page).getByRole("button", { name: "Restore" }).press("Enter");
  await until(async () =>
    assert.partialDeepStrictEqual(await stateOf(admin, "turned"), {
      percentage: 10,
      description: null,
      enabled: true,
    }),
  );
  await until(async () => assert.equal(await entries.count(), 4));
});

test("evaluations and deliveries of the flag are on its page", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { keys, admin } = await server.environment();
  await admin("POST", "/webhooks", { url: receiver.url, events: ["*"] });
  await seedFlags(admin, [{ key: "told", type: "boolean", enabled: true }]);
  await admin("POST", "/usage", { evaluations: [{ key: "told", on: 1_200, off: 34 }] });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/told");
  await page
    .getByRole("img", { name: "Evaluations in the last 24 hours: 1,200 on, 34 off" })
    .waitFor();
  await page.getByText("30 days", { exact: true }).click();
  await page
    .getByRole("img", { name: "Evaluations in the last 30 days: 1,200 on, 34 off" })
    .waitFor();
  const deliveries = page.getByRole("table", { name: "Deliveries of this flag" });
  await deliveries.getByRole("row", { name: "delivered flag.enabled" }).waitFor();
  await deliveries.getByRole("row", { name: "delivered flag.created" }).waitFor();
});

test("the dialog creates a flag and says what is wrong with a key", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("heading", { name: "No flags yet" }).waitFor();
  await audit(page, "no flags");
  await page.keyboard.press("c");
  const form = dialog(page);
  await form.getByLabel("Key").fill("not a key");
  await form.getByText("Use letters, digits, dots").waitFor();
  assert.equal(await form.getByRole("button", { name: "Create flag" }).isDisabled(), true);
  await form.getByLabel("Key").fill("new-checkout");
  await form.getByLabel(/^rollout/).check();
  await form.getByLabel("Percent of users").fill("0.125");
  await form.getByLabel("Description").fill("One page");
  await audit(page, "creating a flag");
  // Escape closes the dialog and keeps what was typed.
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await page.keyboard.press("c");
  assert.equal(await form.getByLabel("Key").inputValue(), "new-checkout");
  assert.equal(await form.getByLabel("Percent of users").inputValue(), "0.125%");
  await form.getByRole("button", { name: "Create flag" }).click();
  await page.getByRole("heading", { name: "new-checkout", level: 1 }).waitFor();
  assert.deepEqual(await stateOf(admin, "new-checkout"), {
    key: "new-checkout",
    type: "rollout",
    enabled: false,
    percentage: 0.125,
    description: "One page",
  });

  const code = page.getByRole("region", { name: "In your code" });
  await code.getByText("None so far.").waitFor();
  await page
    .getByText("No evaluations in the last 24 hours. No evaluation is on record.")
    .waitFor();
  await code.getByText('-H "Authorization: Bearer $HALYARD_API_KEY"').waitFor();
  const sections = await page.locator("main").getByRole("heading", { level: 2 }).allInnerTexts();
  assert.deepEqual(sections.slice(0, 2), ["About", "In your code"]);
  await fetch(`${server.url}/ofrep/v1/evaluate/flags/new-checkout`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.client}`, "content-type": "application/json" },
    body: JSON.stringify({ context: { targetingKey: "user-7" } }),
  });
  await code.getByText("It works. Last evaluated:").waitFor();
  await page.getByText(/^1 evaluation in the last 24 hours: /).waitFor();
  await page.goto("/flags");
  await page.getByRole("link", { name: "new-checkout" }).waitFor();
  await page.keyboard.press("c");
  await form.getByLabel("Key").fill("dropped");
  await form.getByRole("button", { name: "Cancel" }).click();
  await form.waitFor({ state: "detached" });
  await page.keyboard.press("c");
  assert.equal(await form.getByLabel("Key").inputValue(), "");
});
