// Searches on the page History in a real browser: while typing, in the address, without results, and in a long history.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { HistoryEntry } from "@halyard/sdk/management";
import type { Page } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { field } from "./support/controls.ts";
import { addressOf, openAs, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const entries = (page: Page) => page.getByRole("list", { name: "Changes" }).getByRole("listitem");

test("filters match partial text while you type; an empty result lists them and clears them", async (t) => {
  const { keys, admin } = await server.environment();
  const keysOf = ["new-checkout", "Checkout2", "pay.CHECKOUT", "banner"];
  for (const key of keysOf) {
    const labels = key === "banner" ? {} : { tags: ["Payments"], owner: "Team Shop" };
    await admin("POST", "/flags", { key, type: "boolean", ...labels });
  }
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/history", audited);
  const total = ((await admin("GET", "/history")).body as HistoryEntry[]).length;
  const counted = (count: number) =>
    until(async () => assert.equal(await entries(page).count(), count));
  await counted(total);

  // Only letters, without Enter.
  await field(page, "Search").pressSequentially("checkout");
  await counted(3);
  await page.waitForURL(/\/history\?q=checkout$/);
  await field(page, "Search").pressSequentially("2");
  await counted(1);
  await page.reload();
  await counted(1);
  assert.equal(await field(page, "Search").inputValue(), "checkout2");
  await field(page, "Tag").pressSequentially("search");
  await page.getByRole("heading", { name: "No changes match these filters" }).waitFor();
  const active = page.getByRole("list", { name: "Active filters" });
  assert.deepEqual(
    (await active.getByRole("listitem").allTextContents()).map((text) => text.trim()),
    ["Search: checkout2", "Tag: search"],
  );
  await audit(page, "a search that found nothing");
  await fitsOn(page, 320);
  await page.getByRole("button", { name: "Remove the filter Tag: search" }).press("Enter");
  await counted(1);
  assert.equal(await field(page, "Tag").inputValue(), "");
  await field(page, "Search").fill("");
  await field(page, "Owner").pressSequentially("shop");
  await counted(3);
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Segments" }).click();
  await page.waitForURL(/\/history\?kind=segment$/);
  await page.getByRole("button", { name: "Clear filters" }).last().press("Enter");
  await counted(total);

  const { href } = await addressOf(page);
  await page.goto(`${href}?kind=flag&key=${"a-long-key-".repeat(9)}`);
  await page.getByRole("heading", { name: "No changes match these filters" }).waitFor();
  await fitsOn(page, 320);

  // An exact filter that a link brings can be seen and removed.
  await page.goto(`${href}?kind=flag&key=banner&actor=admin`);
  await counted(1);
  await page.getByRole("button", { name: "Remove the filter Exact key: banner" }).click();
  await counted(4);
});

test("a late response to an earlier search doesn't replace the results of a later one", async (t) => {
  const { keys, admin } = await server.environment();
  for (const key of ["alpha", "alphabet"]) await admin("POST", "/flags", { key, type: "boolean" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/history");
  await entries(page).getByText("alphabet").first().waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  await page.route(/\/api\/v1\/history\?.*q=alpha(&|$)/, async (route) => {
    isHeld = true;
    await held;
    await route.continue().catch(() => undefined);
  });
  await field(page, "Search").fill("alpha");
  await until(async () => assert.ok(isHeld));
  await field(page, "Search").fill("alphabet");
  await until(async () => assert.equal(await entries(page).count(), 1));
  release();
  const all = page.waitForResponse(/\/history\?.*q=alph(&|$)/);
  await field(page, "Search").fill("alph");
  await all;
  await until(async () => assert.equal(await entries(page).count(), 2));
  await field(page, "Search").fill("alphabet");
  await until(async () => assert.equal(await entries(page).count(), 1));
  assert.match((await addressOf(page)).href, /q=alphabet$/);
});

test("a search of a long history continues until it finds something", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "needle", type: "boolean" });
  await admin("POST", "/flags", { key: "hay", type: "boolean" });
  await writeRows(
    server,
    `insert into history (environment_id, subject, subject_id, version, at, actor_name, actions, before, after)
     select environment_id, subject, subject_id, n + 1, at + n, actor_name, actions, before, after
     from history, (with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 21000) select n from numbers)
     where id = (select max(id) from history)`,
  );
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/history?q=NEEDLE");
  await until(async () => assert.equal(await entries(page).count(), 1));
  await entries(page).getByText("needle").first().waitFor();
  await field(page, "Search").fill("nowhere");
  await page.getByRole("heading", { name: "No changes match these filters" }).waitFor();
});
