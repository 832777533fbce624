// Deliveries in detail: phones, replays.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  createFlag,
  isDelivered,
  logWhen,
  readLog,
  register,
  wasAttempted,
} from "../../server/test/support/delivery-log.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs } from "./support/flags.ts";
import { receiverFor } from "./support/webhooks.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const rows = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
const opened = (page: Page) => page.getByRole("region", { name: "Delivery", exact: true });

test("on a phone, the chart's texts are beside its columns, and the log's beside each other", async (t) => {
  const receiver = await receiverFor(t);
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  for (let count = 0; count < 34; count += 1) await admin("POST", `/webhooks/${id}/test`);
  await logWhen(admin, id, 34, isDelivered);
  const viewport = { width: 320, height: 700 };
  const path = `/webhooks/${id}`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path, { viewport });
  const chart = page.getByRole("img", { name: /^The last 30 deliveries: p50 / });
  await chart.waitFor();
  await page.getByText("p95, last 30 deliveries").waitFor();
  const column = await chart.locator(".delivery-column-time").first().boundingBox();
  assert.ok((column?.width ?? 0) >= 6, `columns of ${column?.width} pixels`);
  const plot = await chart.boundingBox();
  const labels = page.locator(".delivery-chart .chart-label");
  const top = await labels.first().boundingBox();
  const times = await labels.last().boundingBox();
  assert.ok(plot && top && times);
  assert.match((await labels.first().textContent()) ?? "", /^[\d.,]+\s*m?s$/);
  assert.ok(top.y + top.height <= plot.y + 1, "the highest value is above the columns");
  assert.ok(times.y >= plot.y + plot.height - 1, "the times are below them");

  const row = rows(page).first();
  const event = await row.getByText("webhook.test").boundingBox();
  const ago = await row.locator("time").boundingBox();
  assert.ok(event && ago);
  const isApart = event.x + event.width <= ago.x || event.y >= ago.y + ago.height;
  assert.ok(isApart, "event and time overlap");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
});

test("a range of events is replayed, and a bar shows the progress", async (t) => {
  const receiver = await receiverFor(t);
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  for (let count = 0; count < 6; count += 1) await createFlag(admin);
  await logWhen(admin, id, 6, isDelivered);
  const { page } = await openAs(browser, t, server.url, [keys.admin], `/webhooks/${id}`);
  const openDialog = async () => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Replay events" }).click();
  };
  const send = () => dialog(page).getByRole("button", { name: "Replay" });
  await openDialog();
  assert.ok(await send().isDisabled());
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.answer(async ({ body }) => {
    if (body.includes('"sequence":6,')) await held;
    return { status: 204 };
  });
  await dialog(page).getByLabel("After sequence").fill("2");
  await send().click();
  await dialog(page).getByText("3 of 4 completed; 1 pending.").waitFor();
  const bar = dialog(page).getByRole("progressbar");
  assert.equal(await bar.getAttribute("aria-valuenow"), "75");
  release();
  await dialog(page).getByText("4 of 4 completed.").waitFor();
  assert.equal(await bar.getAttribute("aria-valuenow"), "100");
  const replays = (await readLog(admin, id)).filter(({ kind }) => kind === "replay");
  assert.deepEqual(new Set(replays.map(({ event }) => event.sequence)), new Set([3, 4, 5, 6]));
  await dialog(page).getByRole("button", { name: "Done" }).click();
  await dialog(page).waitFor({ state: "detached" });
  await page.getByText(/^Last replay .*: 4 events, 4 delivered\.\s*$/).waitFor();

  await openDialog();
  await dialog(page).getByLabel("Between two times").check();
  await dialog(page).getByLabel("From").fill("2026-01-01T00:00");
  await dialog(page).getByLabel("To").fill("2025-01-01T00:00");
  await dialog(page).getByText("Must be after the start.").waitFor();
  assert.ok(await send().isDisabled());
  await dialog(page).getByLabel("To").fill("2026-01-02T00:00");
  await send().click();
  await dialog(page).getByText("No events of this webhook are in this range").waitFor();
  await dialog(page).getByLabel("To").fill("2100-01-01T00:00");
  await send().click();
  await dialog(page).getByText("6 of 6 completed.").waitFor();
});

test("deliveries are accessible, light and dark, and on a phone the details replace the list", async (t) => {
  const receiver = await receiverFor(t, () => ({ status: 500, body: "no" }));
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const key = await createFlag(admin, "a-flag-with-a-long-name-for-a-phone");
  const [delivery] = await logWhen(admin, id, 1, wasAttempted);
  const path = `/webhooks/${id}?delivery=${delivery?.id}`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path, audited);
  await opened(page).getByText("Raw").waitFor();
  await audit(page, "a delivery");
  await page.setViewportSize({ width: 390, height: 800 });
  await rows(page).first().waitFor({ state: "hidden" });
  // Nothing scrolls sideways, once the page is laid out anew.
  await page.waitForFunction(
    () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  );
  await opened(page).getByRole("button", { name: "Close delivery" }).click();
  await rows(page).first().waitFor();
  await page.setViewportSize({ width: 320, height: 800 });
  await page.waitForFunction(
    () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  );
  const named = rows(page).getByText(key, { exact: true });
  const isCut = await named.evaluate((element) => element.scrollWidth > element.clientWidth);
  assert.ok(!isCut, "the name of the flag is readable");
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Replay events" }).click();
  await dialog(page).getByLabel("After sequence").fill("3");
  await audit(page, "replaying, on a phone");
});
