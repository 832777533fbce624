// Changes in production need a confirmation; two people who change the same flag see both versions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const keyOf = (environment: string): string => {
  const found = server.firstKeys.find((key) => key.environment === environment);
  assert.ok(found);
  return found.text;
};
const band = (page: Page) => page.getByRole("region", { name: "Environment" });

test("production is unmistakable, and switching shows the other environment's flags", async (t) => {
  await seedFlags(server.api(keyOf("development")), [{ key: "only-here", type: "boolean" }]);
  const both = [keyOf("development"), keyOf("production")];
  const { page } = await openAs(browser, t, server.url, both, "/flags");
  await page.getByRole("link", { name: "only-here" }).waitFor();
  assert.equal(await band(page).count(), 0);

  await page.getByRole("button", { name: /^Environment: development/ }).click();
  await page.getByRole("menuitem", { name: "production (admin)" }).click();
  await band(page).getByText("PRODUCTION").waitFor();
  await page.getByRole("heading", { name: "No flags yet" }).waitFor();
  assert.match(await page.title(), /production/);
  await page.reload();
  await band(page).waitFor();

  await page.getByRole("button", { name: /^Environment: production/ }).click();
  await page.getByRole("menuitem", { name: "Sign out of production" }).click();
  await page.getByRole("link", { name: "only-here" }).waitFor();
  assert.equal(await band(page).count(), 0);
});

test("when the key of the environment shown is revoked, the page says which one it shows instead", async (t) => {
  const first = await server.environment();
  const second = await server.environment();
  await seedFlags(second.admin, [{ key: "of-the-second", type: "boolean" }]);
  const made = await first.admin("POST", "/keys", { name: "to be revoked", role: "admin" });
  const { id, key } = made.body as { id: string; key: string };
  const { page } = await openAs(browser, t, server.url, [key, second.keys.admin], "/flags");
  await page.getByText(`0 in ${first.name}`).waitFor();
  await first.admin("DELETE", `/keys/${id}`);
  await notice(page, `You are no longer signed in to ${first.name}`)
    .getByText(`You now see ${second.name}.`)
    .waitFor();
  await page.getByRole("link", { name: "of-the-second" }).waitFor();
});

test("a rollout is raised after its summary was confirmed, and stays when it was not", async (t) => {
  const admin = server.api(keyOf("production"));
  await seedFlags(admin, [{ key: "checkout", type: "rollout", percentage: 25, enabled: true }]);
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [keyOf("production")],
    "/flags/checkout",
    audited,
  );
  const percent = page.getByLabel("Percent of users");
  await percent.fill("50");
  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  const question = dialog(page);
  await question
    .getByText("25% → 50%: about 2,500 more of every 10,000 users get it, nobody loses it.")
    .waitFor();
  await audit(page, "a change to confirm");
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  assert.equal(await percent.inputValue(), "50%");
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { percentage: 25 });

  await page.getByRole("button", { name: "Save changes" }).press("Enter");
  await question.getByRole("button", { name: "Change flag" }).press("Enter");
  await notice(page, "checkout").getByText("Now on for 50%.").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { percentage: 50 });

  // A dialog that is still closing lies over the switch.
  await question.waitFor({ state: "detached" });
  await page.getByRole("switch", { name: "On" }).click({ force: true });
  await question.getByText("50% → off: everyone who has it loses it").waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { enabled: true });
});

test("a flag is deleted only after its key was typed", async (t) => {
  const admin = server.api(keyOf("production"));
  await seedFlags(admin, [{ key: "to-go", type: "boolean" }]);
  const { page } = await openAs(
    browser,
    t,
    server.url,
    [keyOf("production")],
    "/flags/to-go",
    audited,
  );
  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = dialog(page).getByRole("button", { name: "Delete flag" });
  assert.equal(await confirm.isDisabled(), true);
  await dialog(page).getByLabel("Type to-go to confirm").fill("to-g");
  assert.equal(await confirm.isDisabled(), true);
  await dialog(page).getByLabel("Type to-go to confirm").fill("to-go");
  await audit(page, "a deletion to confirm");
  await confirm.click();
  await page.getByRole("heading", { name: "Flags", level: 1 }).waitFor();
  assert.equal((await admin("GET", "/flags/to-go")).status, 404);

  await page.goto("/flags/to-go");
  await page.getByRole("heading", { name: "Flag not found" }).waitFor();
  await page.getByText("Deleted", { exact: true }).waitFor();

  // However much has changed since, it is found among the deleted flags, and restored there.
  await writeRows(
    server,
    `insert into history (environment_id, subject, subject_id, at, actor_name, actions, before, after)
     with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 600)
     select (select max(environment_id) from history where subject_id = 'to-go'),
       'flag', 'other', 0, 'other', '["flag.updated"]', '{}', '{}' from numbers`,
  );
  await page.goto("/deleted-flags");
  await page.getByRole("button", { name: "Restore: to-go, version 2" }).click();
  await dialog(page).getByRole("button", { name: "Create flag" }).click();
  await notice(page, "to-go").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "to-go"), { enabled: false });
});

test("two people see each other's changes, and a conflict shows both versions", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "shared", type: "rollout", percentage: 10, enabled: true }]);
  const first = await openAs(browser, t, server.url, [keys.admin], "/flags/shared", audited);
  const second = await openAs(browser, t, server.url, [keys.admin], "/flags");
  const percent = first.page.getByLabel("Percent of users");
  const rowOfSecond = second.page.getByRole("listitem").filter({ hasText: "shared" });
  // A draft that is again as it was is none: it follows the changes of others.
  await percent.fill("11");
  await first.page.getByRole("button", { name: "Discard" }).waitFor();
  await percent.fill("10");
  await first.page.getByRole("button", { name: "Discard" }).waitFor({ state: "detached" });
  await admin("PATCH", "/flags/shared", { percentage: 60 });
  await until(async () => assert.equal(await percent.inputValue(), "60%"));
  assert.equal(await first.page.getByText("This flag changed").count(), 0);
  await admin("PATCH", "/flags/shared", { percentage: 10 });
  await until(async () => assert.equal(await percent.inputValue(), "10%"));
  await percent.fill("30");

  await second.page.getByRole("switch", { name: "shared is on" }).click({ force: true });
  await first.page.getByText("This flag changed").first().waitFor();
  await first.page.getByRole("button", { name: "Save changes" }).press("Enter");
  const conflict = dialog(first.page);
  await conflict.getByRole("columnheader", { name: "Theirs (version 5)" }).waitFor();
  await conflict.getByRole("row", { name: "enabled off off" }).waitFor();
  await conflict.getByRole("row", { name: "percentage 10% 30%" }).waitFor();
  // What neither of both has set says nothing.
  assert.deepEqual(await conflict.getByRole("rowheader").allTextContents(), [
    "enabled",
    "percentage",
  ]);
  await audit(first.page, "a conflict");
  // Escape decides nothing: the draft stays.
  await first.page.keyboard.press("Escape");
  await conflict.waitFor({ state: "detached" });
  assert.equal(await percent.inputValue(), "30%");
  await first.page.getByRole("button", { name: "Save changes" }).press("Enter");
  await conflict.getByRole("button", { name: "Keep theirs" }).click();
  await until(async () =>
    assert.equal(await first.page.getByLabel("Percent of users").inputValue(), "10%"),
  );
  assert.partialDeepStrictEqual(await stateOf(admin, "shared"), { enabled: false, percentage: 10 });

  await first.page.getByLabel("Percent of users").fill("30");
  await admin("PATCH", "/flags/shared", { description: "theirs" });
  await first.page.getByText("This flag changed").first().waitFor();
  await first.page.getByRole("button", { name: "Save changes" }).press("Enter");
  await conflict.getByRole("button", { name: "Apply my change" }).click();
  await rowOfSecond.getByText("30%").waitFor();
  assert.deepEqual(await stateOf(admin, "shared"), {
    key: "shared",
    type: "rollout",
    enabled: false,
    percentage: 30,
    description: "theirs",
  });

  // What the same person changes in another section is no conflict.
  await first.page.getByLabel("Percent of users").fill("40");
  await first.page.getByRole("switch").click({ force: true });
  await until(async () => assert.equal((await stateOf(admin, "shared")).enabled, true));
  await first.page.getByText("Now on for 30%.").waitFor();
  assert.equal(await first.page.getByText("This flag changed").count(), 0);
  await first.page.getByRole("button", { name: "Save changes" }).press("Enter");
  await rowOfSecond.getByText("40%").waitFor();
});
