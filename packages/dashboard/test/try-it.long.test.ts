// Requirements, tags and owner of a flag, and "Try it", in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { focused } from "./support/controls.ts";
import { addressOf, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("requirements are chosen, drawn and refused in a circle; tags and owner find flags", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "base", type: "boolean", enabled: true },
    { key: "middle", type: "boolean" },
    { key: "top", type: "boolean" },
    { key: "unlabelled", type: "boolean" },
  ]);
  await admin("PATCH", "/flags/middle", { requires: [{ flag: "base", variant: "on" }] });
  await admin("PATCH", "/flags/base", { tags: ["infra"], owner: "team-core" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/top", {
    ...audited,
    expected: [/409 \(Conflict\)/],
  });
  const section = page.getByRole("region", { name: "Requirements" });
  const requires = async (flag: string) => {
    await section.getByRole("button", { name: "Add requirement" }).click();
    await section
      .getByRole("combobox", { name: /^Flag of requirement/ })
      .last()
      .fill(flag);
    await page.getByRole("option", { name: flag, exact: true }).click();
    await section.getByRole("button", { name: "Save requirements" }).press("Enter");
  };
  await requires("middle");
  await until(async () =>
    assert.deepEqual((await stateOf(admin, "top")).requires, [{ flag: "middle", variant: "on" }]),
  );
  await section.getByRole("img", { name: /What top requires/ }).waitFor();
  await section
    .getByRole("listitem")
    .filter({ hasText: "middle gives on, which is off" })
    .waitFor();
  await section.getByRole("link", { name: "base" }).waitFor();

  // Rows are told apart, and the focus stays among them when one goes.
  const add = section.getByRole("button", { name: "Add requirement" });
  await add.click();
  await section.getByRole("combobox", { name: "must give (requirement 2)" }).waitFor();
  await section.getByRole("button", { name: "Remove requirement 1: middle" }).press("Enter");
  assert.equal(await focused(page), "Remove requirement 1");
  await page.keyboard.press("Enter");
  await add.and(page.locator(":focus")).waitFor();
  await section.getByRole("button", { name: "Discard" }).click();

  await page.getByRole("combobox", { name: "Tags" }).fill("inf");
  await page.getByRole("option", { name: "infra" }).click();
  await page.getByRole("combobox", { name: "Tags" }).fill("q4");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "Owner" }).fill("team-shop");
  await page.getByRole("button", { name: "Save tags and owner" }).click();
  await until(async () =>
    assert.partialDeepStrictEqual(await stateOf(admin, "top"), {
      tags: ["infra", "q4"],
      owner: "team-shop",
    }),
  );
  await notice(page, "top").getByText("Tags saved. Owner saved.").waitFor();
  await audit(page, "requirements and labels");
  await fitsOn(page, 320);

  await section.getByRole("link", { name: "base" }).click();
  await page.getByRole("heading", { name: "base", level: 1 }).waitFor();
  await section.getByText("Required by").waitFor();
  await requires("top");
  await notice(page, "base was not changed")
    .getByText(/circle: base → top → middle → base/)
    .waitFor();

  await page.getByRole("link", { name: "All flags" }).click();
  const rows = page.getByRole("list", { name: "Flags" }).getByRole("listitem");
  await page.getByLabel("Tag", { exact: true }).selectOption("infra");
  await until(async () => assert.equal(await rows.count(), 2));
  await rows.getByText("q4").waitFor();
  await page.getByLabel("Owner", { exact: true }).selectOption("team-shop");
  await until(async () => assert.equal(await rows.count(), 1));
  assert.match((await addressOf(page)).href, /tag=infra&owner=team-shop/);
  await page.reload();
  await rows.getByRole("link", { name: "top" }).waitFor();
  assert.equal(await rows.count(), 1);
  await audit(page, "flags with labels");
});

test("a flag is tried with a context: now, as it was, and with what is not saved", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "payments", type: "boolean", enabled: true }]);
  await admin("POST", "/segments", { key: "embargoed", include: ["user-9"] });
  await admin("POST", "/flags", {
    key: "checkout",
    type: "rollout",
    percentage: 0,
    requires: [{ flag: "payments", variant: "on" }],
    rules: [
      {
        id: "beta",
        when: {
          all: [
            { attribute: "plan", op: "in", values: ["pro"] },
            { not: { segment: ["embargoed"] } },
          ],
        },
        serve: "on",
      },
    ],
  });
  await admin("PATCH", "/flags/checkout", { enabled: true });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/checkout", audited);
  const section = page.getByRole("region", { name: "Try it" });
  const given = section.getByRole("status").filter({ hasText: "Gives" });
  const evaluate = () => section.getByRole("button", { name: "Evaluate" }).click();
  await section.getByLabel("targetingKey").fill("user-7");
  await evaluate();
  await given.getByText("false", { exact: true }).waitFor();
  await given.getByText("off, because no rule decides.").waitFor();
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Evaluate");
  await section.getByText("unknown plan is pro (the context has no plan)").waitFor();

  // What the rule asks for has a row already. A new row has the focus; without a name it is left out.
  const attributes = section.getByRole("combobox", { name: /^Attribute of row/ });
  assert.equal(await attributes.inputValue(), "plan");
  await section.getByLabel("Value of row 1", { exact: true }).fill("pro");
  const add = section.getByRole("button", { name: "Add attribute" });
  await add.click();
  await attributes.nth(1).and(page.locator(":focus")).waitFor();
  // The focus stays among the rows when one goes.
  await add.click();
  await section.getByRole("button", { name: "Remove the attribute of row 2" }).press("Enter");
  assert.equal(await focused(page), "Remove the attribute of row 2");
  await page.keyboard.press("Enter");
  await add.and(page.locator(":focus")).waitFor();
  await evaluate();
  await given.getByText("on, because the rule beta decides.").waitFor();
  const steps = section.getByRole("listitem");
  await steps.filter({ hasText: 'true plan is pro (found "pro")' }).first().waitFor();
  await steps.filter({ hasText: "false in segment embargoed" }).first().waitFor();
  await section.getByText("met payments must give on: it gives on").waitFor();
  await section.getByText("Why payments gives that").click();
  await section.getByText("There are no rules: everyone gets on.").waitFor();
  await section.getByText(/Splits go by targetingKey: user-7 with the seed checkout/).waitFor();
  await audit(page, "try it");
  await fitsOn(page, 320);

  // As it was before the rule was taken away.
  const then = "As it was: why did they get that?";
  const { body } = await admin("GET", "/flags/checkout/history");
  const [last] = body as { createdAt: string }[];
  assert.ok(last);
  await admin("PATCH", "/flags/checkout", { rules: null });
  await evaluate();
  await given.getByText("off, because it is the same for everyone.").waitFor();
  await section.getByLabel("When", { exact: true }).selectOption(then);
  // The input has whole seconds; the change above may be of the same second.
  const local = await page.evaluate(
    `(() => {
      const at = new Date(${JSON.stringify(last.createdAt)});
      return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 23);
    })()`,
  );
  await section.getByLabel("Time, in your time zone").fill(String(local));
  await evaluate();
  await given.getByText("on, because the rule beta decides.").waitFor();

  // Right after one of the changes near that time.
  const changes = section.getByLabel("Or right after a change");
  await changes.getByText(/flag checkout created by admin/).waitFor({ state: "attached" });
  const created = await changes.getByText(/flag checkout created by admin/).textContent();
  await changes.selectOption(String(created));
  await evaluate();
  await given.getByText("off, because the flag is off.").waitFor();
  await audit(page, "try it as it was");
  await fitsOn(page, 320);

  // With what is typed above and not saved.
  await page.getByLabel("Percent of users", { exact: true }).fill("100");
  await section.getByLabel("When", { exact: true }).selectOption("With my unsaved changes");
  await evaluate();
  await given.getByText("true", { exact: true }).waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { percentage: 0 });

  // Several contexts are remembered, with their names.
  await section.getByRole("button", { name: "New context" }).click();
  await section.getByLabel("targetingKey").fill("user-9");
  await section.getByRole("button", { name: "Rename the context" }).click();
  await section.getByLabel("Name of the context").fill("Embargoed");
  await page.keyboard.press("Enter");
  await page.reload();
  assert.equal(await section.getByLabel("targetingKey").inputValue(), "user-9");
  await section.getByLabel("Context", { exact: true }).selectOption("Someone");
  assert.equal(await section.getByLabel("targetingKey").inputValue(), "user-7");
  await section.getByRole("radiogroup", { name: "How to edit it" }).getByText("JSON").click();
  assert.deepEqual(JSON.parse(await section.getByLabel("Context as JSON").inputValue()), {
    targetingKey: "user-7",
    plan: "pro",
  });
});

test("a flag that was deleted is tried as it was", async (t) => {
  const { name, keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "gone", type: "boolean", enabled: true }]);
  const { body } = await admin("GET", "/flags/gone/history");
  const { revision } = (body as { revision: number }[])[0] ?? { revision: 0 };
  await admin("DELETE", "/flags/gone");
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/gone", {
    ...audited,
    expected: [/404 \(Not Found\)/, /409 \(Conflict\)/],
  });
  const section = page.getByRole("region", { name: "Why did they get that?" });
  await section.getByLabel("targetingKey").fill("user-7");
  const changes = section.getByLabel("Or right after a change");
  const wanted = new RegExp(`revision ${revision}\\)`);
  await changes.getByText(wanted).waitFor({ state: "attached" });
  await changes.selectOption(String(await changes.getByText(wanted).textContent()));
  await section.getByRole("button", { name: "Evaluate" }).click();
  const given = section.getByRole("status").filter({ hasText: "Gives" });
  await given.getByText("true", { exact: true }).waitFor();
  await given.getByText(`Revision ${revision}.`).waitFor();
  await audit(page, "a deleted flag");
  await fitsOn(page, 320);

  // The page History leads to the same question, with the time filled in.
  await page.goto(`/environments/${name}/history`);
  await page.getByRole("link", { name: `View this revision (revision ${revision})` }).click();
  await section.getByText("The flag as it was").waitFor();
  await changes.getByText(wanted).waitFor({ state: "attached" });
  assert.equal(await changes.inputValue(), String(revision));
  await section.getByRole("button", { name: "Evaluate" }).click();
  await given.getByText(`Revision ${revision}.`).waitFor();
  // Before there was a history, nothing is in the way but the time.
  await section.getByLabel("Time, in your time zone").fill("2020-01-01T14:03:00");
  await section.getByRole("button", { name: "Evaluate" }).click();
  await section.getByRole("alert").getByText("Choose another time.").waitFor();
});
