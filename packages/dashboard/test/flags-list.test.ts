// The list of flags in a real browser: search, filters, toggling, shortcuts, undo.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, notice, openAs, seedFlags, stateOf, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";

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

test("a row shows how often its flag is evaluated, and that a new one never was", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "fresh", type: "boolean" },
    { key: "once", type: "boolean" },
    { key: "twice", type: "boolean" },
  ]);
  const evaluations = [
    { key: "once", on: 1, off: 0 },
    { key: "twice", on: 1, off: 1 },
  ];
  await admin("POST", "/usage", { evaluations });
  const { page } = await browser.visit(t, server.url, { keys: [keys.admin] });
  await page.goto("/flags");
  const rowOf = (key: string) =>
    rows(page).filter({ has: page.getByRole("link", { name: key, exact: true }) });
  await rowOf("once").getByText("1 evaluation", { exact: true }).waitFor();
  await rowOf("twice").getByText("2 evaluations", { exact: true }).waitFor();
  await rowOf("fresh").getByText("no evaluations", { exact: true }).waitFor();
  assert.equal(await rows(page).getByText("stale", { exact: true }).count(), 0);

  const bulk = await admin("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  assert.equal(bulk.status, 200);
  await page.reload();
  await rowOf("fresh")
    .getByText(/^with all flags: /)
    .waitFor();
  await rowOf("once").getByText("1 evaluation", { exact: true }).waitFor();
  await page.getByRole("link", { name: "fresh", exact: true }).click();
  const usage = page.getByRole("region", { name: "Evaluations" });
  // The second when an hour has just begun.
  await usage
    .getByText(/^(No evaluations .* Last evaluated: .* from the first full hour|1 evaluation )/)
    .waitFor();
  await writeRows(server, "update history set at = at - 3600000 where subject_id = 'fresh'");
  await page.reload();
  await usage
    .getByText(/^1 evaluation in the last 24 hours: 1 in requests for all flags\. Last evaluated: /)
    .waitFor();
  await usage.getByRole("img", { name: /0 on, 0 off, 1 with all flags$/ }).waitFor();
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

test("who changed a flag last is in the list, which sorts by it and follows changes of others", async (t) => {
  if (isLeftOut(t)) return;
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "a", type: "boolean" },
    { key: "b", type: "boolean" },
  ]);
  const made = await admin("POST", "/keys", { role: "admin", name: "Ann" });
  const ann = server.api((made.body as { key: string }).key);
  const { page } = await openAs(browser, t, server.url, [keys.server], "/flags");
  await page.getByText("Last changed", { exact: true }).waitFor();
  await page.getByLabel("Sort by").selectOption("Sort by last change");
  await until(async () => assert.deepEqual(await keysShown(page), ["b", "a"]));
  assert.equal((await addressOf(page)).search, "?sort=changed");
  await ann("PATCH", "/flags/a", { enabled: true });
  const row = rows(page).filter({ has: page.getByRole("link", { name: "a", exact: true }) });
  await row.getByText("by Ann").waitFor();
  await until(async () => assert.deepEqual(await keysShown(page), ["a", "b"]));

  // However many changes arrive, the page asks once at a time.
  const held = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/api/v1/usage?*", async (route) => {
    asked += 1;
    await held.promise;
    await route.continue();
  });
  for (let count = 0; count < 4; count += 1) {
    await admin("PATCH", "/flags/a", { enabled: count % 2 === 1 });
    await until(async () =>
      assert.equal(await toggleOf(page, "a").isChecked(), count % 2 === 1, "it has arrived"),
    );
    await until(async () => assert.equal(asked, 1));
  }
  await ann("PATCH", "/flags/b", { enabled: true });
  await until(async () => assert.equal(await toggleOf(page, "b").isChecked(), true));
  assert.equal(asked, 1);
  held.resolve();
  await until(async () => assert.deepEqual(await keysShown(page), ["b", "a"]));
  await row.getByText("by admin").waitFor();

  for (const width of [320, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await row.getByText("by admin").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    const outside = await row.evaluate((element) => {
      const whole = element.getBoundingClientRect();
      const parts = [
        ...element.querySelectorAll("a, time, .flag-row-actor, .flag-row-usage, .reach-bar"),
      ].filter((part) => part.getClientRects().length > 0);
      return parts
        .map((part) => part.getBoundingClientRect())
        .filter(
          ({ top, bottom, width: wide }) => top < whole.top || bottom > whole.bottom || wide < 5,
        ).length;
    });
    assert.equal(outside, 0, `${width} pixels`);
  }

  await page.setViewportSize({ width: 320, height: 800 });
  const hit = await row.locator(".flag-row-words").evaluate((words) => {
    const { left, top, height } = words.getBoundingClientRect();
    const ends = [top + 2, top + height - 2].map((y) => document.elementFromPoint(left + 10, y));
    return { height, links: ends.map((element) => element?.tagName) };
  });
  assert.deepEqual(hit.links, ["A", "A"]);
  assert.ok(hit.height >= 44, `fingers have ${hit.height} pixels`);
  const stale = await page.locator("label", { hasText: "Only stale" }).boundingBox();
  assert.ok((stale?.height ?? 0) >= 44);

  await row.getByRole("link").click();
  await page.getByText(/Last change: .*, by admin/).waitFor();
  await ann("PATCH", "/flags/a", { enabled: false });
  await page.getByText(/Last change: .*, by Ann/).waitFor();
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
