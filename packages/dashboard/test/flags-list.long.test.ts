// The list of flags in detail: evaluations, and who changed what last.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, openAs, seedFlags, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const rows = (page: Page) => page.getByRole("list", { name: "Flags" }).getByRole("listitem");
const keysShown = (page: Page) => rows(page).getByRole("link").allInnerTexts();

test("a row shows how often its flag is evaluated, and that a new one never was", async (t) => {
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

test("who changed a flag last is in the list, which sorts by it and follows changes of others", async (t) => {
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
    await row.getByText(count % 2 === 1 ? "On" : "Off", { exact: true }).waitFor();
    await until(async () => assert.equal(asked, 1));
  }
  await ann("PATCH", "/flags/b", { enabled: true });
  const other = rows(page).filter({ has: page.getByRole("link", { name: "b", exact: true }) });
  await other.getByText("On", { exact: true }).waitFor();
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
