// Keys in detail: the last admin key, expiry, origins.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs } from "./support/flags.ts";
import { createKey, keyRow } from "./support/keys.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("the last admin key cannot be revoked; with another one, revoking your own key signs you out", async (t) => {
  const { keys } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/keys");
  await keyRow(page, "admin").getByText("you", { exact: true }).waitFor();
  const revokeOwn = async () => {
    await page.getByRole("button", { name: "Revoke key admin" }).click();
    await dialog(page).getByText("You are signed in to").waitFor();
    await dialog(page).getByRole("button", { name: "Revoke key" }).click();
  };
  await revokeOwn();
  await page.getByText("This is the last admin key").waitFor();
  assert.equal((await server.api(keys.admin)("GET", "/keys")).status, 200);

  const other = await createKey(page, "Maya", /^admin/);
  await revokeOwn();
  await page.getByRole("heading", { name: "Sign in to Halyard" }).waitFor();
  const left = (await server.api(other)("GET", "/keys")).body as { name: string }[];
  assert.deepEqual(left.map(({ name }) => name).sort(), ["Maya", "client", "server"]);
});

test("an expiry and allowed origins are set with the key, and shown", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/keys", audited);
  await page.getByRole("button", { name: "Create key" }).first().click();
  await dialog(page).getByLabel("Name").fill("shop");
  assert.equal(
    await dialog(page).getByLabel("Allowed origins").count(),
    0,
    "for a client key only",
  );
  await dialog(page)
    .getByRole("radio", { name: /^client/ })
    .check();
  await dialog(page).getByLabel("Allowed origins").fill("https://shop.example.com/path");
  await dialog(page).getByLabel("Expires").selectOption("In 30 days");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByText("The key was not created").waitFor();
  await audit(page, "creating a key");
  await fitsOn(page, 320);
  await dialog(page)
    .getByLabel("Allowed origins")
    .fill("https://shop.example.com, http://localhost:5173");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByText("Shown only once").waitFor();
  await audit(page, "a new key");
  await fitsOn(page, 320);
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await keyRow(page, "shop")
    .getByText(/in 30 days|next month/)
    .waitFor();
  await keyRow(page, "shop").getByText("https://shop.example.com, http://localhost:5173").waitFor();
  const listed = (await admin("GET", "/keys")).body as { name: string; expiresAt: string | null }[];
  const { expiresAt } = listed.find(({ name }) => name === "shop") ?? {};
  const days = (Date.parse(expiresAt ?? "") - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days <= 30, `${days} days`);
});
