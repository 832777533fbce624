// The page of the history: filters, restoring, exports.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { HistoryEntry, Segment } from "@halyard/sdk/management";
import type { Page } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field } from "./support/controls.ts";
import { addressOf, dialog, notice, openAs, stateOf, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const entries = (page: Page) => page.getByRole("list", { name: "Changes" }).getByRole("listitem");

const download = async (page: Page, item: RegExp): Promise<{ name: string; text: string }> => {
  await page.getByRole("button", { name: "Export" }).click();
  const started = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: item }).click();
  const file = await started;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
};

test("the history is filtered by kind, key, name and time, restored from and exported", async (t) => {
  const { keys, admin, name } = await server.environment();
  const issued = await admin("POST", "/keys", { name: "deploy bot", role: "admin" });
  const bot = server.api((issued.body as { key: string }).key);
  await admin("POST", "/flags", { key: "checkout", type: "rollout", percentage: 5 });
  await bot("PATCH", "/flags/checkout?reason=No%20errors%20so%20far", { percentage: 50 });
  await admin("POST", "/segments", { key: "beta", include: ["ann", "bob"], exclude: ["eve"] });
  await bot("POST", "/segments/beta/members", { include: { add: ["zoe"], remove: ["ann"] } });
  await bot("DELETE", "/segments/beta?reason=%3DOld");
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("heading", { name: "History", level: 1 }).waitFor();
  await page.getByText("“No errors so far”").waitFor();
  await page.getByText("1 added: zoe").waitFor();
  await audit(page, "the history");

  await field(page, "Who").fill("DEPLOY");
  await until(async () => assert.equal(await entries(page).count(), 3));
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Flags" }).click();
  await until(async () => assert.equal(await entries(page).count(), 1));
  assert.match((await addressOf(page)).href, /\/history\?kind=flag&who=DEPLOY$/);
  await page.reload();
  await until(async () => assert.equal(await entries(page).count(), 1));
  await page.getByRole("combobox", { name: "When" }).click();
  await page.getByRole("option", { name: "From … to …" }).click();
  await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00");
  await page.getByRole("heading", { name: "No changes match these filters" }).waitFor();
  await audit(page, "a history in which nothing was found");
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  const all = (await admin("GET", "/history")).body as HistoryEntry[];
  await until(async () => assert.equal(await entries(page).count(), all.length));

  const csv = await download(page, /CSV/);
  assert.match(csv.name, new RegExp(`^history-${name}-\\d{4}-\\d\\d-\\d\\d\\.csv$`));
  assert.equal(csv.text.split("\r\n").length, 1 + all.length + 1);
  assert.ok(csv.text.includes(`"'=Old"`));
  const json = await download(page, /JSON/);
  assert.deepEqual(JSON.parse(json.text), all);

  await page.getByRole("button", { name: "Restore this version: checkout, version 1" }).click();
  await dialog(page).getByText("50% → 5%", { exact: true }).waitFor();
  await dialog(page).getByRole("button", { name: "Restore" }).press("Enter");
  await notice(page, "checkout").waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { percentage: 5 });

  // As the first version left it: the members of before the change that followed.
  await page.getByRole("button", { name: "Restore: beta, version 1" }).click();
  await notice(page, "beta").waitFor();
  const restored = (await admin("GET", "/segments/beta")).body as Segment;
  assert.deepEqual([restored.include, restored.exclude], [["ann", "bob"], ["eve"]]);
  await page.getByRole("button", { name: "Restore this version: beta, version 2" }).click();
  await dialog(page).getByText("Members: 1 added, 1 removed").waitFor();
  await audit(page, "a segment to restore");
  await dialog(page).getByRole("button", { name: "Restore" }).press("Enter");
  await until(async () => {
    const { include } = (await admin("GET", "/segments/beta")).body as Segment;
    assert.deepEqual(include, ["bob", "zoe"]);
  });
});

test("an export of many pages tells how far it is, and is cancelled", async (t) => {
  const { keys, admin } = await server.environment();
  for (const key of ["a", "b"]) await admin("POST", "/flags", { key, type: "boolean" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/history");
  let asked = 0;
  // Each page leads to another, until somebody cancels.
  await page.route("**/api/v1/history?limit=1000*", async (route) => {
    asked += 1;
    if (asked > 3) return;
    const response = await route.fetch();
    const cursor = Buffer.from("9999999999999-999").toString("base64url");
    const link = `</api/v1/history?limit=1000&cursor=${cursor}>; rel="next"`;
    const body = await response.text();
    await route.fulfill({ response, body, headers: { ...response.headers(), link } });
  });
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /JSON/ }).click();
  await page.getByText(/Exporting, \d changes so far…/).waitFor();
  await until(async () => assert.equal(asked, 4));
  await page.getByRole("button", { name: "Cancel export" }).click();
  await page.getByRole("button", { name: "Export" }).waitFor();
  assert.equal(await page.getByText("Exported").count(), 0);
});
