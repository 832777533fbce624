// A protected environment in real browsers: one person proposes, another approves, and both see what becomes of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { propose, withPeople } from "./support/change-requests.ts";
import { dialog, seedFlags, stateOf, until } from "./support/flags.ts";
import { openAsPerson } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** With how long ago that was, which depends on the machine. */
const applied = /^Applied (now|\d+ (second|minute)s? ago)/;
const decision = (page: Page) => page.locator(".request-decision");

test("one person protects, another proposes, a third approves; all see it at once", async (t) => {
  const { environment, at, ada, bo, olga } = await withPeople(server);
  const { name, admin } = environment;
  await seedFlags(admin, [{ key: "checkout", type: "rollout", percentage: 25, enabled: true }]);

  const owners = await openAsPerson(browser, t, server.url, olga, `${at}/environments/${name}`);
  await owners.page.getByText("Not protected: changes take effect at once.").waitFor();
  await owners.page.getByRole("button", { name: "Protect…" }).click();
  await dialog(owners.page)
    .getByText(/every change of its flags and segments is a request/)
    .waitFor();
  await dialog(owners.page).getByRole("button", { name: "Protect" }).click();
  await owners.page.getByRole("button", { name: "Take the protection off…" }).waitFor();
  await owners.page.getByText("A protected environment cannot be deleted.").waitFor();
  assert.equal(await owners.page.getByRole("button", { name: /^Delete / }).count(), 0);

  const { page } = await openAsPerson(browser, t, server.url, ada, `${at}/flags/checkout`, audited);
  await page.getByRole("button", { name: `Environment: ${name} (protected)` }).waitFor();
  const percent = page.getByLabel("Percent of users");
  await percent.fill("50");
  assert.equal(await page.getByRole("button", { name: "Save changes" }).count(), 0);
  await page.getByRole("button", { name: "Propose" }).press("Enter");
  await audit(page, "a change to propose");
  const id = await propose(page, "The first week went well");
  await page.getByRole("link", { name: "Requests 1 open" }).waitFor();
  // Nothing has changed, and nobody approves their own.
  assert.equal((await stateOf(admin, "checkout")).type, "rollout");
  assert.match(JSON.stringify(await stateOf(admin, "checkout")), /"percentage":25/);
  await decision(page).getByText("You proposed this, so you cannot approve it").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  assert.equal((await ada.in(name)("POST", `/change-requests/${id}/approve`)).status, 403);
  await fitsOn(page, 320);
  await page.getByRole("link", { name: "checkout", exact: true }).click();
  await page.getByText("A change of this flag waits for an approval").waitFor();
  assert.match(await percent.inputValue(), /^25/);

  const other = await openAsPerson(browser, t, server.url, bo, `${at}/flags`, audited);
  await other.page.getByRole("link", { name: "Requests 1 open" }).click();
  await other.page.getByRole("heading", { name: "Change requests", level: 1 }).waitFor();
  await fitsOn(other.page, 320);
  await other.page.getByRole("link", { name: "Change the flag checkout" }).click();
  await other.page.getByText("It changes nothing until you or somebody else approves it").waitFor();
  await other.page.getByRole("list", { name: "Changes" }).getByText("50%").waitFor();
  await other.page.getByLabel("Comment").fill("Is support ready?");
  await other.page.getByRole("button", { name: "Send comment" }).click();
  await audit(other.page, "a request of somebody else");
  await page.getByRole("link", { name: "Change the flag checkout" }).click();
  await page.getByText("Is support ready?").waitFor();

  await other.page.getByRole("button", { name: "Approve" }).click();
  await other.page.getByText(applied).waitFor();
  // Seen by the one who proposed it, who does nothing.
  await page.getByText(applied).waitFor();
  await page.getByRole("region", { name: "Approvals" }).getByText("Bo").waitFor();
  await page.getByRole("link", { name: "checkout", exact: true }).click();
  await page.getByRole("region", { name: "History" }).getByText("Approved by Bo.").waitFor();
  await until(async () => assert.match(await percent.inputValue(), /^50/));
  assert.equal(await page.getByText("waits for an approval").count(), 0);
  await page
    .getByRole("region", { name: "History" })
    .getByRole("link", { name: "Change request" })
    .click();
  await page.waitForURL(`**/change-requests/${id}`);
});
