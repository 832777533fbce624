// The list of flags in a real browser: search, filters, toggling, shortcuts, undo.
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

const rows = (page: Page) => page.getByRole("list", { name: "Flags" }).getByRole("listitem");
const keysShown = (page: Page) => rows(page).getByRole("link").allInnerTexts();
const toggleOf = (page: Page, key: string) =>
  page.getByRole("switch", { name: `${key} is on`, exact: true });

test("search and filters show what matches, and the URL keeps them", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "new-checkout", type: "rollout", percentage: 25, enabled: true },
    { key: "old-banner", type: "boolean", description: "The summer sale" },
    { key: "search", type: "boolean", enabled: true },
  ]);
  await admin("POST", "/usage", { evaluations: [{ key: "search", on: 3, off: 0 }] });
  // The others are too young to be stale.
  await writeRows(
    server,
    "update history set at = at - 31 * 86400000 where subject_id in ('old-banner', 'search')",
  );
  const { page } = await browser.visit(t, server.url, { keys: [keys.admin] });
  await page.goto("/flags");
  await until(async () =>
    assert.deepEqual(await keysShown(page), ["new-checkout", "old-banner", "search"]),
  );

  await page.keyboard.press("/");
  await page.keyboard.type("SUMMER");
  await until(async () => assert.deepEqual(await keysShown(page), ["old-banner"]));
  await page.getByText("1 of 3 flags").waitFor();
  await page.reload();
  await until(async () => assert.deepEqual(await keysShown(page), ["old-banner"]));
  await page.getByRole("searchbox").fill("checkout NEW");
  await until(async () => assert.deepEqual(await keysShown(page), ["new-checkout"]));
  await page.getByRole("searchbox").press("Enter");
  await page.getByRole("heading", { name: "new-checkout", level: 1 }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "All flags" }).click();
  await until(async () => assert.deepEqual(await keysShown(page), ["new-checkout"]));
  assert.equal(await page.getByRole("searchbox").inputValue(), "checkout NEW");
  await page.getByRole("searchbox").fill("no such flag");
  await page.getByRole("button", { name: "Clear filters" }).click();

  await page.getByLabel("Type").selectOption("boolean");
  await until(async () => assert.deepEqual(await keysShown(page), ["old-banner", "search"]));
  await page.getByLabel("State").selectOption("on");
  await until(async () => assert.deepEqual(await keysShown(page), ["search"]));
  await page.getByLabel("Type").selectOption("all");
  await page.getByLabel("State").selectOption("all");
  await page.getByLabel("Only stale").check();
  await until(async () => assert.deepEqual(await keysShown(page), ["old-banner"]));
  await page.getByText("Stale: neither evaluated, nor requested").waitFor();
  const staleRow = rows(page).filter({ hasText: "old-banner" });
  await admin("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  // Which stores the counts.
  await admin("GET", "/usage");
  await writeRows(
    server,
    "update usage set hour = hour - 31 * 86400000, last_at = last_at - 31 * 86400000 where flag_key = ''",
  );
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.reload();
    await staleRow.getByText("stale", { exact: true }).waitFor();
    await staleRow.getByText("with all flags: last month").waitFor();
  }
  await page.getByLabel("Only stale").uncheck();
  await page.getByLabel("Sort by").selectOption("reach");
  await until(async () =>
    assert.deepEqual(await keysShown(page), ["search", "new-checkout", "old-banner"]),
  );
});

test("shortcuts move through the list, toggle a flag and open it; Undo reverts", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "a", type: "boolean" },
    { key: "b", type: "boolean" },
    { key: "c", type: "boolean" },
  ]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await rows(page).first().waitFor();
  await page.getByRole("searchbox").press("ArrowDown");
  for (const key of ["j", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
  await page.keyboard.press("e");
  await until(async () => assert.equal((await stateOf(admin, "b")).enabled, true));
  assert.equal(await toggleOf(page, "b").isChecked(), true);

  await notice(page, "b").getByRole("button", { name: "Undo" }).click();
  await until(async () => assert.equal((await stateOf(admin, "b")).enabled, false));
  await until(async () => assert.equal(await toggleOf(page, "b").isChecked(), false));

  await page.keyboard.press("?");
  await dialog(page).getByText("Turn flag on or off").waitFor();
  await audit(page, "keyboard shortcuts");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await rows(page).getByRole("link", { name: "b" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "b", level: 1 }).waitFor();
  assert.match(await page.title(), /^b · test-\d+ · Halyard$/);
});

test("a change that is refused is reverted on the page, with advice", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "a", type: "boolean" }]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", {
    expected: [/503/, /Failed to load resource/],
  });
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/v1/flags/a", async (route) => {
    await asked;
    await route.fulfill({
      status: 403,
      json: { error: "FORBIDDEN", message: "The role of this key is too low." },
    });
  });
  await toggleOf(page, "a").click({ force: true });
  // Before any answer.
  await until(async () => assert.equal(await toggleOf(page, "a").isChecked(), true));
  answer();
  await until(async () => assert.equal(await toggleOf(page, "a").isChecked(), false));
  await notice(page, "a was not changed")
    .getByText("You may look at it but not change it")
    .waitFor();
  assert.equal((await stateOf(admin, "a")).enabled, false);
});

test("a read-only key shows everything and changes nothing", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "a", type: "boolean" }]);
  const { page } = await openAs(browser, t, server.url, [keys.server], "/flags");
  await rows(page).first().waitFor();
  await rows(page).first().getByText("Off", { exact: true }).waitFor();
  assert.equal(await toggleOf(page, "a").count(), 0);
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.keyboard.press("c");
  assert.equal(await page.getByRole("button", { name: "Create flag" }).count(), 0);
  assert.equal(await dialog(page).count(), 0);
  await rows(page).getByRole("link", { name: "a" }).click();
  await page.getByRole("heading", { name: "Evaluations" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
  assert.equal((await stateOf(admin, "a")).enabled, false);
});
