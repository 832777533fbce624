// A rule for everyone on the page of a flag: add it, narrow it, try it, and read it as a viewer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field, focused } from "./support/controls.ts";
import { openAs, stateOf } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a boolean flag is split with a rule for everyone, and a viewer reads it in words", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "half", type: "boolean" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags/half", audited);
  await page.getByRole("button", { name: "Add a rule" }).click();
  const first = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("button", { name: "More for rule rule-1" }) });
  await first.getByRole("button", { name: "Match everyone" }).click();
  await first.getByText("Everyone", { exact: true }).waitFor();
  assert.equal(await focused(page), "More for condition 1");
  assert.equal(await first.getByRole("button", { name: "Match everyone" }).count(), 0);
  await field(first, "Serve").selectOption("a split by percentage");
  await field(first, "Percent of users: on").fill("50");
  await page
    .getByText(/^Everyone: serve on to 50%; the others go on\.$/)
    .first()
    .waitFor();
  await page.getByRole("radio", { name: "off", exact: true }).check();
  await audit(page, "a rule for everyone");
  await page.getByRole("button", { name: "Save targeting" }).press("Enter");
  await page.getByText("What saving changes").waitFor({ state: "detached" });
  const everyone = { id: "rule-1", when: { all: [] }, serve: [{ variant: "on", share: 50 }] };
  assert.partialDeepStrictEqual(await stateOf(admin, "half"), { rules: [everyone] });

  // A second condition narrows the rule. Removing it leaves an empty condition, and "Match everyone" is offered again.
  await first.getByRole("button", { name: "Add condition" }).click();
  await field(first, "Attribute of condition 1").fill("plan");
  assert.equal(await first.getByRole("button", { name: "Match everyone" }).count(), 0);
  await first.getByRole("button", { name: "More for condition 1" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await first.getByRole("button", { name: "Match everyone" }).click();
  await page.getByText("What saving changes").waitFor({ state: "detached" });

  const tried = page.getByRole("region", { name: "Try it" });
  await tried.getByRole("button", { name: "Evaluate" }).click();
  await tried
    .getByRole("listitem")
    .filter({ hasText: /^true\s*everyone$/ })
    .waitFor();

  const viewer = await openAs(browser, t, server.url, [keys.server], "/flags/half");
  await viewer.page
    .getByRole("list", { name: "Rules, in order" })
    .getByText(/^Everyone: serve on to 50%; the others go on\.$/)
    .waitFor();
});
