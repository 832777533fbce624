// The rule editor on the page of a flag: rows, order, JSON, mistakes, conflicts, and those who only read.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field, focused } from "./support/controls.ts";
import { openAs, stateOf, until } from "./support/flags.ts";
import { rule, ruleFor, save } from "./support/targeting.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const addTo = (place: Locator, what: string): Promise<void> =>
  place
    .getByRole("button", { name: `Add ${what}` })
    .last()
    .click();

test("a first rule is made in rows, and every kind of condition has its input", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/segments", { key: "embargoed" });
  await admin("POST", "/flags", { key: "other", type: "rollout", rules: [ruleFor("pro")] });
  await admin("POST", "/flags", { key: "shop", type: "boolean" });
  const asked: string[] = [];
  const { page, context } = await openAs(
    browser,
    t,
    server.url,
    [keys.admin],
    "/flags/shop",
    audited,
  );
  context.on("request", (request) => asked.push(request.url()));
  await page.getByRole("button", { name: "Add a rule" }).click();
  const attribute = field(page, "Attribute of condition 1");
  await until(async () => assert.equal(await focused(page), "Attribute of condition 1"));
  assert.ok(
    asked.some((url) => /targeting-editor/.test(url)),
    "the editor is loaded now",
  );
  await attribute.fill("pla");
  await page.getByRole("option", { name: "plan" }).click();
  const values = field(page, "Values of condition 1");
  await values.click();
  await page.getByRole("option", { name: "pro" }).click();
  await values.fill("team,");
  await page.keyboard.press("Escape");
  await field(page, "Ignore case of condition 1").check();
  await field(page, "Name").fill("paying");
  await field(page, "Description").last().fill("Who pays");

  // A boolean flag must say what the others get.
  await page.getByRole("button", { name: "Save targeting" }).press("Enter");
  await until(async () => assert.equal(await focused(page), "Not saved yet"));
  await page.getByRole("button", { name: "Everyone else" }).click();
  await until(async () => assert.equal(await focused(page), "on"));
  await page.getByRole("radio", { name: "off", exact: true }).check();
  await page.getByText("rule paying", { exact: true }).waitFor();
  await save(page);
  const first = {
    id: "paying",
    description: "Who pays",
    when: { attribute: "plan", op: "in", values: ["pro", "team"], ignoreCase: true },
    serve: "on",
  };
  assert.partialDeepStrictEqual(await stateOf(admin, "shop"), { rules: [first], otherwise: "off" });

  await page.getByRole("button", { name: "Add rule" }).click();
  const second = rule(page, "rule-1");
  const fill = async (number: string, name: string, comparison: string): Promise<void> => {
    await field(second, `Attribute of condition ${number}`).fill(name);
    await field(second, `Comparison of condition ${number}`).selectOption(comparison);
  };
  await fill("1", "age", "is at least");
  await field(second, "Value of condition 1").fill("18");
  await field(second, "Count a text such as “42” as a number of condition 1").check();
  await addTo(second, "condition");
  await fill("2", "app", "is below version");
  await field(second, "Value of condition 2").fill("2.x");
  await second.getByText("must be a semantic version").waitFor();
  await field(second, "Value of condition 2").fill("2.4.0");
  await addTo(second, "condition");
  await fill("3", "signedUp", "is after");
  await field(second, "Date and time of condition 3").fill("2026-11-14T12:00:00");
  await addTo(second, "condition");
  await fill("4", "ip", "is in the network");
  await field(second, "Values of condition 4").fill("10.0.0.0/8");
  await addTo(second, "condition");
  await fill("5", "email", "is known");
  await field(second, "Answer of condition 5").selectOption("no: missing or null");
  await addTo(second, "condition");
  await fill("6", "seats", "is none of");
  await field(second, "Type of condition 6").selectOption("numbers");
  await field(second, "Values of condition 6").fill("5,x,");
  await second.getByText("“x” is not a number.").waitFor();
  await page.keyboard.press("Backspace");
  await addTo(second, "condition");
  await fill("7", "vip", "is one of");
  await field(second, "Type of condition 7").selectOption("true or false");
  await second.getByRole("checkbox", { name: "true" }).check();
  await addTo(second, "segment");
  await field(second, "Is in any of the segments of condition 8").click();
  await page.getByRole("option", { name: "embargoed" }).click();
  await page.keyboard.press("Escape");
  await second.getByRole("button", { name: "More for condition 8" }).click();
  await page.getByRole("menuitem", { name: "Negate: not" }).click();
  await second.getByRole("button", { name: "More for condition 7" }).click();
  await page.getByRole("menuitem", { name: "any of" }).click();
  await second.getByRole("button", { name: "More for condition 5" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await field(second, "Serve").selectOption("a split by percentage");
  await field(second, "Percent of users: on").fill("25");
  await audit(page, "a rule with every kind of condition");
  await save(page);
  assert.partialDeepStrictEqual(await stateOf(admin, "shop"), {
    rules: [
      first,
      {
        id: "rule-1",
        when: {
          all: [
            { attribute: "age", op: "gte", value: 18, as: "number" },
            { attribute: "app", op: "semverLt", value: "2.4.0" },
            { attribute: "signedUp", op: "after", value: "2026-11-14T12:00:00Z" },
            { attribute: "ip", op: "inCidr", values: ["10.0.0.0/8"] },
            { attribute: "seats", op: "notIn", values: [5] },
            { any: [{ attribute: "vip", op: "in", values: [true] }] },
            { not: { segment: ["embargoed"] } },
          ],
        },
        serve: [{ variant: "on", share: 25 }],
      },
    ],
  });
});
