// Flags with variants and with rules on the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { auditBoth, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a variant flag is created, split and changed", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("button", { name: "Create flag" }).first().click();
  const form = dialog(page);
  await form.getByLabel("Key").fill("button-size");
  await form.getByRole("radio", { name: /variant/ }).check();
  await form.getByLabel("Variant", { exact: true }).nth(0).fill("small");
  await form.getByLabel("Value of small").fill("S");
  await form.getByLabel("Variant", { exact: true }).nth(1).fill("large");
  await form.getByLabel("Value of large").fill("L");
  await auditBoth(page, "a new variant flag");
  await form.getByRole("button", { name: "Create flag" }).click();
  await page.getByRole("heading", { name: "button-size" }).waitFor();
  const made = {
    key: "button-size",
    type: "variant",
    enabled: false,
    valueType: "string",
    variants: { small: "S", large: "L" },
    off: "small",
    otherwise: "small",
    description: null,
  };
  assert.deepEqual(await stateOf(admin, "button-size"), made);
  await page.getByLabel("Language").selectOption("Node, Halyard SDK");
  await page.getByText('client.stringValue("button-size"').waitFor();

  await page.getByRole("combobox", { name: "While on" }).click();
  await page.getByRole("option", { name: "a split by percentage" }).click();
  await page.getByLabel("Percent of users: small").fill("25");
  // Together they are always everyone.
  assert.equal(await page.getByLabel("Percent of users: large").inputValue(), "75 %");
  await page.getByText("75\u00a0% of people move from small to large.").waitFor();
  await auditBoth(page, "a split");
  await page.getByRole("button", { name: "Save changes" }).click();
  await until(async () =>
    assert.deepEqual(await stateOf(admin, "button-size"), {
      ...made,
      otherwise: [
        { variant: "small", share: 25 },
        { variant: "large", share: 75 },
      ],
    }),
  );
});

test("a flag with rules says so, shows them, and keeps them when it is turned on", async (t) => {
  const { keys, admin } = await server.environment();
  const rules = [
    { id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "on" },
  ];
  await admin("POST", "/flags", { key: "ruled", type: "boolean", rules, otherwise: "off" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags");
  await page.getByRole("img", { name: "off, 1 rule when on" }).waitFor();
  await page.getByRole("link", { name: "ruled" }).click();
  await page.getByRole("heading", { name: "Targeting" }).waitFor();
  const text = page.getByLabel("as JSON");
  assert.match(await text.inputValue(), /"plan"/);
  await page.getByRole("switch", { name: "Off" }).click({ force: true });
  await page.getByRole("switch", { name: "On" }).waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "ruled"), { enabled: true, rules });
  await text.fill("no JSON");
  await page.getByText("This is not a JSON object.").waitFor();
  const team = { ...rules[0], when: { attribute: "plan", op: "in", values: ["team"] } };
  await text.fill(JSON.stringify({ otherwise: "on", rules: [team], owner: "shop" }));
  await page.getByRole("button", { name: "Save targeting" }).click();
  await until(async () =>
    assert.partialDeepStrictEqual(await stateOf(admin, "ruled"), {
      otherwise: "on",
      rules: [team],
      owner: "shop",
    }),
  );
  await text.fill("");
  await page.getByRole("button", { name: "Save targeting" }).click();
  await page.getByRole("button", { name: "Add a rule" }).waitFor();
  assert.ok(!("rules" in (await stateOf(admin, "ruled"))));
});
