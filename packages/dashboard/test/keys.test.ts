// API keys in a real browser: create with a role, shown once, revoke, and what cannot be revoked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const row = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: false }) });

const create = async (page: Page, name: string, role: RegExp): Promise<string> => {
  await page.getByRole("button", { name: "Create key" }).first().click();
  await dialog(page).getByLabel("Name").fill(name);
  await dialog(page).getByRole("radio", { name: role }).check();
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await dialog(page).getByText("Shown only once").waitFor();
  // Not even by mistake.
  await page.keyboard.press("Escape");
  assert.equal(await dialog(page).getByRole("button", { name: "Close" }).count(), 0);
  const text = (await dialog(page).getByText(/^hal_/).textContent()) ?? "";
  await dialog(page).getByText(`export HALYARD_API_KEY=${text}`).waitFor();
  await dialog(page).getByRole("button", { name: "I saved the key" }).click();
  await dialog(page).waitFor({ state: "detached" });
  return text;
};

test("a key is created with its role, works, and stops working once it is revoked", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/keys", audited);
  await row(page, "server").getByText("reads flags, usage, history").waitFor();
  assert.equal(await page.getByRole("row").count(), 4);
  const text = await create(page, "checkout service", /^server/);
  await row(page, "checkout service").getByText("now").waitFor();
  assert.ok(!(await page.content()).includes(text));
  const api = server.api(text);
  assert.equal((await api("GET", "/flags")).status, 200);
  assert.equal((await api("POST", "/flags", { key: "no", type: "boolean" })).status, 403);

  await page.getByRole("button", { name: "Revoke key checkout service" }).click();
  await dialog(page).getByText("This cannot be undone.").waitFor();
  await audit(page, "revoking a key");
  await fitsOn(page, 320);
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await dialog(page).waitFor({ state: "detached" });
  assert.equal((await api("GET", "/flags")).status, 200);
  await page.getByRole("button", { name: "Revoke key checkout service" }).click();
  await dialog(page).getByRole("button", { name: "Revoke key" }).click();
  await notice(page, "checkout service").waitFor();
  await until(async () => assert.equal(await row(page, "checkout service").count(), 0));
  await until(async () => assert.equal((await api("GET", "/flags")).status, 401));

  // One that was created elsewhere appears without a reload.
  await admin("POST", "/keys", { name: "made elsewhere", role: "client" });
  await row(page, "made elsewhere").waitFor();
});

test("the last admin key cannot be revoked; with another one, revoking your own key signs you out", async (t) => {
  if (isLeftOut(t)) return;
  const { keys } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/keys");
  await row(page, "admin").getByText("you", { exact: true }).waitFor();
  const revokeOwn = async () => {
    await page.getByRole("button", { name: "Revoke key admin" }).click();
    await dialog(page).getByText("You are signed in to").waitFor();
    await dialog(page).getByRole("button", { name: "Revoke key" }).click();
  };
  await revokeOwn();
  await page.getByText("This is the last admin key").waitFor();
  assert.equal((await server.api(keys.admin)("GET", "/keys")).status, 200);

  const other = await create(page, "Maya", /^admin/);
  await revokeOwn();
  await page.getByRole("heading", { name: "Sign in to Halyard" }).waitFor();
  const left = (await server.api(other)("GET", "/keys")).body as { name: string }[];
  assert.deepEqual(left.map(({ name }) => name).sort(), ["Maya", "client", "server"]);
});

test("an expiry and allowed origins are set with the key, and shown", async (t) => {
  if (isLeftOut(t)) return;
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
  await row(page, "shop")
    .getByText(/in 30 days|next month/)
    .waitFor();
  await row(page, "shop").getByText("https://shop.example.com, http://localhost:5173").waitFor();
  const listed = (await admin("GET", "/keys")).body as { name: string; expiresAt: string | null }[];
  const { expiresAt } = listed.find(({ name }) => name === "shop") ?? {};
  const days = (Date.parse(expiresAt ?? "") - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days <= 30, `${days} days`);
});
