// The page of a flag makes only true statements: about percentages, propagation, earlier revisions, and other environments.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { notice, openAs, seedFlags } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const rule = {
  id: "staff",
  when: { attribute: "plan", op: "in", values: ["pro"] },
  serve: "on",
};

test("a rollout without rules reports no rules, not that everyone gets the same value", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "quarter", type: "rollout", percentage: 25, enabled: true }]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/quarter");
  const targeting = page.getByRole("region", { name: "Targeting" });
  await targeting.getByText("No targeting rules", { exact: true }).waitFor();
  assert.equal(await page.getByText("alike").count(), 0);
});

test("the page says that the percentage of a flag with rules decides, before and after it is saved", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "ruled", type: "rollout", percentage: 5, rules: [rule] });
  await admin("PATCH", "/flags/ruled", { enabled: true });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/ruled");
  await page.getByLabel("Percent of users").fill("25");
  await page
    .getByRole("status")
    .filter({
      hasText: /^5% → 25%: applies to users who are not decided by a rule; no one loses it\.$/,
    })
    .waitFor();
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await notice(page, "ruled")
    .getByText(/^Now on, 1 rule, then 25%\.$/)
    .waitFor();
});

test("without clients, the page counts Halyard's instances as instances, not as programs", async (t) => {
  const { keys, admin, name } = await server.environment();
  await seedFlags(admin, [{ key: "a", type: "boolean" }]);
  const path = `/environments/${name}/programs`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path);
  await page.getByRole("heading", { name: "No programs yet" }).waitFor();
  await page.getByText("1 of 1 Halyard instance has revision 1").waitFor();
  assert.equal(await page.getByText("1 of 1 program").count(), 0);
});

const tryIt = (page: Page) => page.getByRole("region", { name: "Try it" });

test("the link to a revision shows the flag at that revision without another click", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "then", type: "rollout", percentage: 5, rules: [rule] });
  await admin("PATCH", "/flags/then", { enabled: true });
  await admin("PATCH", "/flags/then", { percentage: 40 });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/then");
  await page.getByRole("link", { name: "View this revision (revision 2)" }).click();
  await tryIt(page)
    .getByText(/^At that time: on, 1 rule, then 5%$/)
    .waitFor();
  await tryIt(page).getByText("If plan is pro, serve on.").waitFor();
  await tryIt(page).getByText("Revision 2.").waitFor();
});

test("another environment doesn't treat a flag as new, and logs no error when it lacks the flag", async (t) => {
  const here = await server.environment();
  const there = await server.environment();
  const failed: string[] = [];
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [here.keys.admin, there.keys.admin],
    `/environments/${here.name}/flags`,
  );
  page.on("response", (response) => {
    if (response.status() >= 400) failed.push(response.url());
  });
  await page.getByRole("button", { name: "Create flag" }).first().click();
  await page.getByRole("dialog").getByLabel("Key").fill("fresh");
  await page.getByRole("dialog").getByRole("button", { name: "Create flag" }).click();
  await page.getByRole("heading", { name: "fresh", level: 1 }).waitFor();
  const order = () => page.getByRole("heading", { level: 2 }).allTextContents();
  const [, second] = await order();
  assert.equal(second, "In your code", "the code comes first for a new flag");
  await page.getByRole("button", { name: /^Environment/ }).click();
  await page.getByRole("menuitem", { name: new RegExp(`^${there.name} `) }).click();
  await page.getByRole("heading", { name: "Flag not found" }).waitFor();
  await page.getByText(`It exists in ${here.name}.`).waitFor();
  assert.equal(new URL(page.url()).search, "");
  await page.getByRole("button", { name: `Copy from ${here.name}` }).click();
  await page.getByRole("heading", { name: "Evaluations" }).waitFor();
  assert.notEqual((await order())[1], "In your code", "it was not created by hand here");
  assert.deepEqual(failed, []);
});

test("a revision in the address stays in its environment", async (t) => {
  const here = await server.environment();
  const there = await server.environment();
  for (const { admin } of [here, there]) {
    await seedFlags(admin, [{ key: "both", type: "boolean", enabled: true }]);
  }
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [here.keys.admin, there.keys.admin],
    `/environments/${here.name}/flags/both?revision=1`,
  );
  await tryIt(page).getByText("At that time: off").waitFor();
  await page.getByRole("button", { name: /^Environment/ }).click();
  await page.getByRole("menuitem", { name: new RegExp(`^${there.name} `) }).click();
  await page.waitForURL(`**/environments/${there.name}/flags/both`);
});
