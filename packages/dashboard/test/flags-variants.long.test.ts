// Flags with variants: splits, drafts, rules that are typed anew.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field } from "./support/controls.ts";
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
  await audit(page, "a new variant flag");
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

  const split = async () => {
    await page.getByRole("combobox", { name: "While on" }).click();
    await page.getByRole("option", { name: "a split by percentage" }).click();
  };
  await page.getByRole("button", { name: "Add variant" }).click();
  await split();
  // One that begins has a number for each variant.
  await page.getByLabel("Percent of users: variant-3").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await split();
  await page.getByLabel("Percent of users: small").fill("25");
  // Together they are always everyone.
  assert.equal(await page.getByLabel("Percent of users: large").inputValue(), "75%");
  await page.getByText("75\u00a0% of people move from small to large.").waitFor();
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
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

test("a flag with rules says so, and keeps them when it is turned on", async (t) => {
  const { keys, admin } = await server.environment();
  const rules = [
    { id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "on" },
  ];
  await admin("POST", "/flags", { key: "ruled", type: "boolean", rules, otherwise: "off" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags");
  await page.getByRole("img", { name: "off, 1 rule, then off when on" }).waitFor();
  await page.getByRole("link", { name: "ruled" }).click();
  await page.getByRole("heading", { name: "Targeting" }).waitFor();
  await page.getByText("If plan is pro, serve on.").first().waitFor();
  await page.getByRole("switch", { name: "Off" }).click({ force: true });
  await page.getByRole("switch", { name: "On" }).waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "ruled"), { enabled: true, rules });
});

test("what is typed anew keeps the rest of a rule", async (t) => {
  const { keys, admin } = await server.environment();
  const when = { attribute: "since", op: "before", value: "2026-11-14T12:00:00+05:00" };
  await admin("POST", "/flags", {
    key: "typed",
    type: "rollout",
    rules: [
      { id: "early", when, serve: "on" },
      { id: "plans", when: { attribute: "plan", op: "in", values: ["pro", "7"] }, serve: "on" },
    ],
  });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/typed");
  await page.getByRole("button", { name: /^1\. early/ }).click();
  const moment = field(page, "Date and time of condition 1");
  await moment.fill("");
  await moment.fill("2026-11-20T12:00:00");
  assert.equal(await field(page, "Zone of condition 1").inputValue(), "+05:00");

  const plans = page.getByRole("listitem").filter({ hasText: "2. plans" });
  await plans.getByRole("button", { name: /^2\. plans/ }).click();
  const type = field(plans, "Type of condition 1");
  await type.selectOption("numbers");
  await plans.getByText("“pro” is not a number.").waitFor();
  await type.selectOption("true or false");
  await plans.getByRole("checkbox", { name: "pro" }).waitFor();
  await type.selectOption("texts");
  await plans.getByText('If plan is pro or "7", serve on.').waitFor();
});

test("no draft breaks the page: a variant without a name, a segment that is named twice", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", {
    key: "drafts",
    type: "variant",
    valueType: "string",
    variants: { a: "A", b: "B" },
    off: "a",
    otherwise: "b",
  });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/drafts", {
    expected: [/SyntaxError/],
  });
  const second = page.getByLabel("Variant", { exact: true }).nth(1);
  await second.fill("");
  await page.reload();
  await until(async () => assert.equal(await second.inputValue(), ""));
  await page.getByRole("combobox", { name: "While on" }).click();
  await page.getByRole("option", { name: "a split by percentage" }).click();
  await second.fill("bb");
  await page.getByLabel("Percent of users: bb").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();

  await page.getByRole("button", { name: "Edit as JSON" }).click();
  const rules = [{ id: "twice", when: { segment: ["nope", "nope"] }, serve: "b" }];
  await field(page, "Targeting as JSON").fill(JSON.stringify({ rules }));
  await page.getByRole("button", { name: /^1\. twice/ }).click();
  await page.getByText("There is no segment nope.").waitFor();

  // One that no version of the page can read is discarded, and no other with it.
  await page.evaluate(() => {
    for (const key of Object.keys(sessionStorage)) {
      if (!key.startsWith("halyard-draft")) continue;
      sessionStorage.setItem(key.replace("drafts", "other"), "{}");
      sessionStorage.setItem(key, "{");
    }
  });
  await page.reload();
  await page.getByRole("button", { name: "Discard my unsaved changes" }).click();
  await page.getByText("No targeting rules").waitFor();
  assert.equal(
    await page.evaluate(
      () => Object.keys(sessionStorage).filter((key) => key.includes(" other ")).length,
    ),
    1,
  );
});

test("the drafts of a flag named segment are not those of a segment", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "segment", type: "boolean" });
  await admin("POST", "/segments", { key: "targeting", description: "as saved" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/segment");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByText("What saving changes").waitFor();
  await page.goto("/segments/targeting");
  await until(async () =>
    assert.equal(await page.getByLabel("Description").inputValue(), "as saved"),
  );
});

test("a split says whom it moves, also of a rule that was renamed", async (t) => {
  const { keys, admin } = await server.environment();
  const when = { attribute: "plan", op: "in", values: ["pro"] };
  await admin("POST", "/flags", {
    key: "moves",
    type: "rollout",
    rules: [{ id: "half", when, serve: [{ variant: "on", share: 50 }] }],
  });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/moves");
  const toggle = page.getByRole("button", { name: /^1\. (half|other)/ });
  await toggle.click();
  await field(page, "Name").fill("other");
  await field(page, "Percent of users: on").fill("80");
  const effect = page.getByText("30\u00a0% more of people get on.");
  await effect.waitFor();
  await toggle.click();
  await effect.waitFor({ state: "detached" });
  await toggle.click();
  await effect.waitFor();
  // A name that is not saved tells nothing of who has what.
  await page.reload();
  await page.getByText("20\u00a0% go on to the next rule.").waitFor();
  assert.equal(await page.getByText("Nobody moves").count(), 0);
});
