// Targeting in detail: order, JSON, what a newer server has written.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field, focused, tooSmall } from "./support/controls.ts";
import { dialog, notice, openAs, stateOf, until } from "./support/flags.ts";
import { planIs, rule, ruleFor, save } from "./support/targeting.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("rules are put in order by keyboard and by mouse, duplicated, disabled and removed", async (t) => {
  const { keys, admin } = await server.environment();
  const rules = ["a", "b", "c"].map(ruleFor);
  await admin("POST", "/flags", { key: "order", type: "boolean", otherwise: "off", rules });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/order", audited);
  const idsAre = (ids: readonly string[]) =>
    until(async () =>
      assert.deepEqual(
        (await stateOf(admin, "order")).rules?.map(({ id }) => id),
        ids,
      ),
    );
  const told = (text: string) =>
    page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });

  await page.getByRole("button", { name: "Move rule c: drag, or arrow keys" }).focus();
  await page.keyboard.press("ArrowUp");
  await told("Rule c is now 2 of 3.");
  await page.keyboard.press("Home");
  await told("Rule c is now 1 of 3.");
  assert.equal(await focused(page), "Move rule c: drag, or arrow keys", "the focus goes along");
  await page.getByRole("button", { name: "Move rule a down" }).focus();
  await page.keyboard.press("Enter");
  await told("Rule a is now 3 of 3.");
  assert.equal(await focused(page), "Move rule a: drag, or arrow keys", "there is no further down");
  await page.getByText("rule a, place", { exact: true }).waitFor();
  await save(page);
  await idsAre(["c", "b", "a"]);

  const edgesOf = async (place: Locator) => {
    const { x = 0, y = 0, height = 0 } = (await place.boundingBox()) ?? {};
    return { x: x + 5, y: y + 5, bottom: y + height };
  };
  await rule(page, "a").scrollIntoViewIfNeeded();
  const from = await edgesOf(page.getByRole("button", { name: "Move rule c: drag" }));
  const to = await edgesOf(rule(page, "b"));
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, to.bottom - 2, { steps: 3 });
  await page.mouse.up();
  await told("Rule c is now 2 of 3.");

  await page.getByRole("button", { name: "More for rule b" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("button", { name: "More for rule b-copy" }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByText("Disabled: If plan is b, serve on.").first().waitFor();
  await page.getByRole("button", { name: "More for rule a", exact: true }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await told("Rule a was removed.");
  assert.match(await focused(page), /rule-toggle/);
  await audit(page, "rules that were moved");
  await save(page);
  await idsAre(["b", "b-copy", "c"]);
  assert.equal((await stateOf(admin, "order")).rules?.[1]?.disabled, true);
});

test("the JSON and the rows follow each other; what the server refuses stands at its place", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "json", type: "rollout", percentage: 25 });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/json", {
    ...audited,
    viewport: { width: 320, height: 700 },
  });
  await page.getByRole("button", { name: "Edit as JSON" }).click();
  const text = field(page, "Targeting as JSON");
  await text.fill('{\n  "rules": [}');
  await page.getByText("see line 2, character 13").waitFor();
  await page.reload();
  await page.getByText("see line 2, character 13").waitFor();
  assert.equal(await text.inputValue(), '{\n  "rules": [}', "it is kept");
  const split = [{ variant: "on", share: 25 }];
  const rules = [
    { id: "one", when: { segment: ["nobody"] }, serve: split },
    { id: "two", when: { any: [planIs("pro"), { not: planIs("free") }] }, serve: split },
  ];
  await text.fill(JSON.stringify({ rules, owner: "shop" }));
  await page.getByText("This reaches nobody whom rule one matches").first().waitFor();
  await page.getByText("If in segment nobody, serve on to 25").first().waitFor();
  await page.getByRole("button", { name: "Save targeting" }).press("Enter");
  await page.getByRole("button", { name: "Rule one, condition, segment" }).click();
  await until(async () =>
    assert.equal(await focused(page), "Is in any of the segments of condition 1"),
  );
  await page.keyboard.press("Escape");
  // All of it at once, so that the bars of the page lie over none of it.
  await page.setViewportSize({ width: 320, height: 8_000 });
  await page.evaluate("scrollTo(0, 0)");
  await audit(page, "a refusal on a phone");
  await admin("POST", "/segments", { key: "nobody" });
  await page.getByRole("button", { name: /^2\. two/ }).click();
  await field(page, "Attribute of condition 2").last().fill("tier");
  assert.match(await text.inputValue(), /"tier"/);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
  assert.deepEqual(await tooSmall(page, "form"), []);
  await save(page);
  assert.partialDeepStrictEqual(await stateOf(admin, "json"), {
    owner: "shop",
    rules: [
      rules[0],
      {
        ...rules[1],
        when: { any: [planIs("pro"), { not: { ...planIs("free"), attribute: "tier" } }] },
      },
    ],
  });
  await text.fill("");
  await save(page);
  assert.ok(!("rules" in (await stateOf(admin, "json"))));
});

test("what a newer server has written is kept, and a change by somebody else is seen first", async (t) => {
  const key = server.firstKeys.find(({ environment }) => environment === "production")?.text ?? "";
  const admin = server.api(key);
  await admin("POST", "/flags", { key: "both", type: "rollout", rules: [ruleFor("a")] });
  const { page, context } = await openAs(browser, t, server.url, [key], "/flags", audited);
  await context.route("**/api/v1/snapshot*", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('"id":"a"', '"id":"a","later":{"x":1}');
    await route.fulfill({ response, body });
  });
  let sent = "";
  await context.route("**/api/v1/flags/both", async (route) => {
    if (route.request().method() === "PATCH") {
      sent = route.request().postData() ?? "";
      await admin("PATCH", "/flags/both", { rules: [ruleFor("theirs")] });
    }
    await route.continue();
  });
  await page.goto("/flags/both");
  await page.getByRole("button", { name: /^1\. a/ }).click();
  await field(page, "Attribute of condition 1").fill("tier");
  await page.getByRole("button", { name: "Save targeting" }).press("Enter");
  await dialog(page).getByText("If tier is a, serve on.").waitFor();
  await audit(page, "a change of rules in production");
  await dialog(page).getByRole("button", { name: "Change flag" }).press("Enter");
  await dialog(page).getByText("changed while you were editing it").waitFor();
  const mine = { ...ruleFor("a"), when: { ...planIs("a"), attribute: "tier" } };
  assert.deepEqual(JSON.parse(sent), { rules: [{ ...mine, later: { x: 1 } }] });
  await dialog(page).getByText("If plan is theirs, serve on.").waitFor();
  await dialog(page).getByRole("button", { name: "Keep theirs" }).press("Enter");
  await page.getByRole("button", { name: /^1\. theirs/ }).waitFor();
  assert.equal(await notice(page, "both").count(), 0);
});
