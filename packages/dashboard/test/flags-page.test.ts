// One flag's page in a real browser: creation, rollout preview, usage, history, code snippets.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bucketOf } from "@halyard/core/bucket";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { tooSmall } from "./support/controls.ts";
import { dialog, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";

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
      name: `${targetingKey} ${value ? "included" : "not included"} ${from} %`,
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
  for (const text of ["admin", "version 3", "10 %", "80 %", "too fast"]) {
    await entries.first().getByText(text, { exact: true }).waitFor();
  }
  assert.equal(await entries.first().getByRole("button").count(), 0);

  await page.getByRole("button", { name: "Restore this version (version 2)" }).click();
  await dialog(page).getByText("80 % → 10 %: about 7,000 of every 10,000 users lose it.").waitFor();
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

test("evaluations of a flag with variants and rules are shown by them, in words and not by colour alone", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, admin } = await server.environment();
  const inPlan = (plan: string) => ({ attribute: "plan", op: "in", values: [plan] });
  const made = await admin("POST", "/flags", {
    key: "size",
    type: "variant",
    valueType: "string",
    variants: { small: "S", medium: "M", large: "L" },
    off: "small",
    otherwise: "medium",
    rules: [
      { id: "pro", when: inPlan("pro"), serve: "large" },
      { id: "team", when: inPlan("team"), serve: "large" },
    ],
  });
  assert.equal(made.status, 201, made.text);
  await admin("PATCH", "/flags/size", { enabled: true });
  const results = { variants: { large: 500, medium: 250, small: 200 }, rules: { pro: 400 } };
  await admin("POST", "/usage", { evaluations: [{ key: "size", on: 800, off: 200, ...results }] });
  const phone = { ...audited, viewport: { width: 390, height: 800 } };
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/size", phone);
  const usage = page.getByRole("region", { name: "Evaluations" });
  const counts = "250 medium, 500 large, 200 small, 50 all others";
  await usage.getByText(`1,000 evaluations in the last 24 hours: ${counts}.`).waitFor();
  const chart = usage.getByRole("img", { name: new RegExp(`: ${counts}, 0 with all flags$`) });
  await chart.waitFor();
  const legend = await usage.locator("figcaption > span").allInnerTexts();
  assert.deepEqual(
    legend.map((text) => text.replace(/\s+/g, " ")),
    ["medium 25 %", "large 50 %", "small 20 %", "all others 5 %", "with all flags"],
  );
  const rules = usage.getByRole("table", { name: "Decided by, in the last 24 hours" });
  const rows = await rules.getByRole("row").allInnerTexts();
  assert.deepEqual(
    rows.map((text) => text.replace(/\s+/g, " ").trim()),
    ["Rule Evaluations Share", "pro 400 40 %", "team 0 0 %", "No rule 600 60 %"],
  );
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.getByRole("region", { name: "History" }).getByRole("listitem").first().waitFor();
  await audit(page, "a flag with variants and rules");

  // What was counted stays with its name when the rule is gone.
  await admin("PATCH", "/flags/size", { rules: null });
  await rules.getByRole("row", { name: /^pro \(removed\)\s+400/ }).waitFor();
});

test("the description is edited, and snippets are copied", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "described", type: "boolean" }]);
  const path = "/flags/described";
  const { page, context } = await openAs(browser, t, server.url, [keys.admin], path, audited);
  await page.getByLabel("Description").fill("Ask the shop team");
  await page.getByRole("button", { name: "Save description" }).click();
  await notice(page, "described").getByText("Description saved.", { exact: true }).waitFor();
  await audit(page, "a message");
  assert.equal((await stateOf(admin, "described")).description, "Ask the shop team");

  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const code = page.getByRole("region", { name: "In your code" });
  const languages = await page.getByLabel("Language").locator("option").allInnerTexts();
  assert.ok(languages.length >= 9, languages.join());
  for (const language of languages) {
    await page.getByLabel("Language").selectOption(language);
    await code.getByText("described").first().waitFor();
    const text = (await code.textContent()) ?? "";
    assert.equal(text.includes("Set HALYARD_API_KEY to"), !text.includes("Replace <a"), language);
    assert.equal(text.includes("Replace <a"), language.startsWith("Web"), language);
    assert.match(text, language === "curl" ? /./ : /Install|The packages are on/, language);
  }
  await page.getByLabel("Language").selectOption("curl");
  await code.getByRole("button", { name: /^Copy/ }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.includes(`${server.url}/ofrep/v1/evaluate/flags/described`), copied);
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
  assert.equal(await form.getByLabel("Percent of users").inputValue(), "0.125 %");
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

test("on a phone, texts of the chart are readable, fingers hit every control, and the percentage is there once", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "small", type: "rollout", percentage: 37, enabled: true }]);
  await admin("POST", "/usage", { evaluations: [{ key: "small", on: 1_200, off: 34 }] });
  const phone = { ...audited, viewport: { width: 320, height: 700 } };
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/small", phone);
  const highest = page
    .getByRole("region", { name: "Evaluations" })
    .getByText("1.2K evaluations an hour");
  await highest.waitFor();
  assert.ok(((await highest.boundingBox())?.height ?? 0) >= 14, "the text shrinks with the chart");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  await page.getByRole("region", { name: "History" }).getByRole("listitem").first().waitFor();
  assert.deepEqual(await tooSmall(page, "main"), []);
  await audit(page, "a rollout flag on a phone");
  assert.equal(await page.getByLabel("Percent of users").inputValue(), "37 %");
  const settings = (await page.locator(".flag-head").textContent()) ?? "";
  assert.ok(!settings.includes("37"), settings);
});
