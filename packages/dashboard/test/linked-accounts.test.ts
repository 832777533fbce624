// Accounts of one human in a real browser: seen, linked and unlinked by an owner; and what a key without a person needs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { addPerson, type SignedIn, signInAs } from "../../server/test/support/people.ts";
import { act, propose, protectedEnvironment } from "../../server/test/support/protected.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog } from "./support/flags.ts";
import { row } from "./support/people.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const enter = (context: BrowserContext, { cookie }: Pick<SignedIn, "cookie">) => {
  const [name = "", value = ""] = cookie.split("=");
  return context.addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: "Strict" }]);
};

test("an owner sees that two accounts have one address, and links them", async (t) => {
  const { name } = await server.environment();
  const first = await addPerson(server, { name: "Ada", email: "ada@example.com" });
  const second = await addPerson(server, { name: "Ada by provider" });
  // As a sign-in with a provider writes it.
  await writeRows(
    server,
    `insert into user_addresses (user_id, hash, since)
     select '${second}', hash, since from user_addresses where user_id = ?`,
    first,
  );
  const { page, context } = await browser.visit(t, server.url, audited);
  await enter(context, await signInAs(server, { name: "Olga", owner: true }));
  await page.goto(`/environments/${name}/people`);
  await row(page, "Ada by provider").getByText("Same e-mail address as Ada.").waitFor();
  await page.getByRole("button", { name: "More for Ada by provider" }).click();
  await page.getByRole("menuitem", { name: "Link an account" }).click();
  await dialog(page).getByText("Neither account can approve").waitFor();
  assert.equal(await dialog(page).getByLabel("Other account").inputValue(), first);
  await audit(page, "linking accounts");
  await fitsOn(page, 320);
  await dialog(page).getByRole("button", { name: "Link accounts" }).click();
  await row(page, "Ada by provider").getByText("Linked with Ada", { exact: true }).waitFor();
  await page.getByRole("button", { name: "More for Ada by provider" }).click();
  await page.getByRole("menuitem", { name: "Unlink account" }).click();
  await row(page, "Ada by provider").getByText("Same e-mail address as Ada.").waitFor();
});

test("a request from a key that belongs to no person shows how many approvals it needs", async (t) => {
  const { name, admin, ben, asAda } = await protectedEnvironment(server);
  const made = await propose(admin, { enabled: true });
  assert.equal((await act(asAda, made, "approve")).status, 200);
  const { page, context } = await browser.visit(t, server.url, audited);
  await enter(context, ben);
  await page.goto(`/environments/${name}/change-requests/${made.id}`);
  await page.getByText("It needs approvals from 2 people, or from one owner. It has 1.").waitFor();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByText("Applied").first().waitFor();
});
