// The page of a flag in detail: evaluations by rule, description, snippets, phones.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { tooSmall } from "./support/controls.ts";
import { notice, openAs, seedFlags, stateOf } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("evaluations of a flag with variants and rules are shown by them, in words and not by colour alone", async (t) => {
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
    ["medium 25%", "large 50%", "small 20%", "all others 5%", "with all flags"],
  );
  const rules = usage.getByRole("table", { name: "Decided by, in the last 24 hours" });
  const rows = await rules.getByRole("row").allInnerTexts();
  assert.deepEqual(
    rows.map((text) => text.replace(/\s+/g, " ").trim()),
    ["Rule Evaluations Share", "pro 400 40%", "team 0 0%", "No rule 600 60%"],
  );
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.getByRole("region", { name: "History" }).getByRole("listitem").first().waitFor();
  await audit(page, "a flag with variants and rules");

  // What was counted stays with its name when the rule is gone.
  await admin("PATCH", "/flags/size", { rules: null });
  await rules.getByRole("row", { name: /^pro \(removed\)\s+400/ }).waitFor();
});

test("the description is edited, and snippets are copied", async (t) => {
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

test("on a phone, texts of the chart are readable, fingers hit every control, and the percentage is there once", async (t) => {
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
  assert.equal(await page.getByLabel("Percent of users").inputValue(), "37%");
  const settings = (await page.locator(".flag-head").textContent()) ?? "";
  assert.ok(!settings.includes("37"), settings);
});
