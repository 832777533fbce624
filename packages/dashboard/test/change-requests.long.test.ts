// Change requests in detail: rebasing, going past an approval, several changes at once, keys that write directly.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { propose, withPeople } from "./support/change-requests.ts";
import { dialog, lineOf, notice, seedFlags, stateOf, until } from "./support/flags.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const decision = (page: Page) => page.locator(".request-decision");

test("what moved on is rebased; an owner goes past it with a reason that stays visible", async (t) => {
  const { environment, at, ada, bo, olga, protect } = await withPeople(server);
  const { name, admin } = environment;
  await seedFlags(admin, [{ key: "checkout", type: "rollout", percentage: 25, enabled: true }]);
  await protect();
  const made = await ada.in(name)("PATCH", "/flags/checkout?reason=More", { percentage: 60 });
  assert.equal(made.status, 202, made.text);
  const { id } = made.body as { id: string };
  const moving = await ada.in(name)("PATCH", "/flags/checkout", { description: "The new one" });
  const { id: movingId } = moving.body as { id: string };

  const other = await openAsPerson(browser, t, server.url, bo, `${at}/change-requests/${id}`);
  await other.page.getByRole("button", { name: "Approve" }).waitFor();
  await bo.in(name)("POST", `/change-requests/${movingId}/approve`);
  await other.page.getByText(/changed since this was proposed, so it can’t be approved/).waitFor();
  assert.equal(await other.page.getByRole("button", { name: "Approve" }).count(), 0);

  const { page } = await openAsPerson(
    browser,
    t,
    server.url,
    ada,
    `${at}/change-requests/${id}`,
    audited,
  );
  await page.getByText("moved on", { exact: true }).waitFor();
  await page.getByText("Changed since this was proposed:").waitFor();
  await page.locator(".request-since").getByText("The new one").waitFor();
  await audit(page, "a request that moved on");
  await page.getByRole("button", { name: "Rebase" }).click();
  await decision(page).getByText("You proposed this").waitFor();
  await page.getByRole("button", { name: "Edit reason and time…" }).click();
  await dialog(page).getByLabel("Reason").fill("More, and later");
  await audit(page, "the dialog that edits a request");
  await dialog(page).getByRole("button", { name: "Change request" }).click();
  await page.getByText("“More, and later”").waitFor();
  await other.page.getByText("“More, and later”").waitFor();
  await other.page.getByRole("button", { name: "Approve" }).waitFor();

  const owner = await openAsPerson(
    browser,
    t,
    server.url,
    olga,
    `${at}/change-requests/${id}`,
    audited,
  );
  await owner.page.getByRole("button", { name: "Apply without an approval…" }).click();
  const confirm = dialog(owner.page).getByRole("button", { name: "Apply without an approval" });
  assert.equal(await confirm.isDisabled(), true);
  await dialog(owner.page)
    .getByLabel(/^Why can it not wait/)
    .fill("The shop is down");
  await audit(owner.page, "the dialog that goes past an approval");
  await confirm.click();
  await owner.page.getByText("Applied without an approval by Olga").waitFor();
  await audit(owner.page, "a request without an approval");
  await other.page.getByText("Applied without an approval by Olga").waitFor();
  assert.match(JSON.stringify(await stateOf(admin, "checkout")), /"percentage":60/);
  await owner.page.goto(`${at}/history`);
  await owner.page.getByText("without an approval").first().waitFor();
});

test("creating, several at once and lists of people are proposed too; refused and withdrawn", async (t) => {
  const { environment, at, ada, bo, protect } = await withPeople(server);
  const { admin } = environment;
  await seedFlags(admin, [
    { key: "one", type: "boolean", enabled: true },
    { key: "two", type: "boolean", enabled: true },
  ]);
  await admin("POST", "/segments", { key: "beta", include: ["user-7"] });
  await protect();
  const { page } = await openAsPerson(browser, t, server.url, ada, `${at}/flags`);

  await page.getByLabel("Select one").check();
  await page.getByLabel("Select two").check();
  await page.getByRole("button", { name: "Turn off" }).click();
  await lineOf(page, "one").waitFor();
  const both = await propose(page, "Clean up");
  const changes = page.getByRole("list", { name: "Changes" }).getByRole("listitem");
  assert.equal(await changes.count(), 2);
  assert.equal((await stateOf(admin, "one")).enabled, true);

  await page.goto(`${at}/flags?create=1`);
  await dialog(page).getByLabel("Key").fill("three");
  await dialog(page).getByRole("button", { name: "Propose" }).press("Enter");
  await notice(page, "Proposed").waitFor();
  await dialog(page).waitFor({ state: "detached" });
  assert.equal((await admin("GET", "/flags/three")).status, 404);

  await page.goto(`${at}/segments/beta`);
  await page.getByLabel(/^Add targeting keys/).fill("user-8");
  await page.getByRole("button", { name: "Propose" }).press("Enter");
  const members = await propose(page, "One more");
  await page.getByText("1 added: user-8").waitFor();
  await page.getByRole("button", { name: "Withdraw" }).click();
  await page.getByText(/^Withdrawn/).waitFor();

  const other = await openAsPerson(browser, t, server.url, bo, `${at}/change-requests/${both}`);
  // By keyboard alone: the dialog begins with its text, and its last button refuses.
  await other.page.getByRole("button", { name: "Refuse…" }).press("Enter");
  await dialog(other.page)
    .getByLabel(/^Comment/)
    .and(other.page.locator(":focus"))
    .waitFor();
  await other.page.keyboard.type("Two is still used");
  await other.page.keyboard.press("Tab");
  await other.page.keyboard.press("Tab");
  await other.page.keyboard.press("Enter");
  await other.page.getByText(/^Refused/).waitFor();
  await other.page.getByText("Two is still used").waitFor();
  assert.equal((await stateOf(admin, "one")).enabled, true);
  await other.page.getByRole("link", { name: "All change requests" }).click();
  const rows = other.page.getByRole("list", { name: "Change requests" }).getByRole("listitem");
  await until(async () => assert.match((await rows.first().textContent()) ?? "", /three/));
  await until(async () => assert.equal(await rows.count(), 3));
  await other.page.getByRole("combobox", { name: "State" }).click();
  await other.page.getByRole("option", { name: "withdrawn" }).click();
  await until(async () => assert.equal(await rows.count(), 1));
  assert.ok(
    await rows
      .getByRole("link")
      .getAttribute("href")
      .then((path) => path?.endsWith(members)),
  );
});

test("a key that writes directly is there at once, and proposes until another person approves", async (t) => {
  const { environment, at, bo, olga, protect } = await withPeople(server);
  await protect();
  const { page } = await openAsPerson(browser, t, server.url, olga, `${at}/keys`, audited);
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByLabel("Name").fill("pipeline");
  const directly = dialog(page).getByLabel("Writes directly");
  assert.equal(await directly.count(), 0, "a key that only reads writes nothing");
  await dialog(page)
    .getByLabel(/^editor:/)
    .check();
  await directly.check();
  await audit(page, "a key that writes directly");
  await fitsOn(page, 320);
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByText("It proposes until somebody else approves").waitFor();
  await page.getByRole("link", { name: "Requests 1 open" }).waitFor({ state: "attached" });
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  const listed = page.getByRole("row").filter({ hasText: "pipeline" });
  await listed.waitFor();
  assert.equal(await listed.getByText("writes directly").count(), 0);

  const open = await bo.in(environment.name)("GET", "/change-requests?state=open");
  const [request] = (open.body as { requests: readonly { id: string }[] }).requests;
  const approved = await bo.in(environment.name)("POST", `/change-requests/${request?.id}/approve`);
  assert.equal(approved.status, 200, approved.text);
  await listed.getByText("writes directly, without an approval").waitFor();
});
