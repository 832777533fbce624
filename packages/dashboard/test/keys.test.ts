// API keys in a real browser: create with a role, shown once, revoke, and what cannot be revoked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, until } from "./support/flags.ts";
import { createKey, keyRow } from "./support/keys.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a key is created with its role, works, and stops working once it is revoked", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/keys", audited);
  await keyRow(page, "server").getByText("reads flags, usage, history").waitFor();
  assert.equal(await page.getByRole("row").count(), 4);
  const text = await createKey(page, "checkout service", /^server/);
  await keyRow(page, "checkout service").getByText("now").waitFor();
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
  await until(async () => assert.equal(await keyRow(page, "checkout service").count(), 0));
  await until(async () => assert.equal((await api("GET", "/flags")).status, 401));

  // One that was created elsewhere appears without a reload.
  await admin("POST", "/keys", { name: "made elsewhere", role: "client" });
  await keyRow(page, "made elsewhere").waitFor();
});
