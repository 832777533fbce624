// The delivery log in a real browser: requests, responses, filters, replay of one event or a range.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
  wasAttempted,
} from "../../server/test/support/delivery-log.ts";
import { type Script, startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, dialog, openAs, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const receiverFor = async (t: TestContext, script?: Script) => {
  const receiver = await startReceiver(script);
  t.after(() => receiver.close());
  return receiver;
};

const rows = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
const state = (page: Page, name: string) =>
  page.getByRole("radiogroup", { name: "State" }).getByText(name, { exact: true });
const opened = (page: Page) => page.getByRole("region", { name: "Delivery", exact: true });

test("a delivery shows every attempt with its response, and the raw request", async (t) => {
  const receiver = await receiverFor(t, () => ({ status: 500, body: "<b>out of order</b>" }));
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin, "shown-u");
  await logWhen(admin, id, 1, wasAttempted);
  const { page } = await openAs(browser, t, server.url, [keys.admin], `/webhooks/${id}`);
  await rows(page).getByText("retrying").waitFor();
  await rows(page).getByText("#1", { exact: true }).waitFor();
  await rows(page).getByRole("link").click();
  await opened(page).getByText("answered 500").first().waitFor();
  await opened(page).getByText("<b>out of order</b>").first().waitFor();
  await opened(page).getByRole("link", { name: "shown-u" }).waitFor();

  const [sent] = receiver.received;
  assert.ok(sent);
  const [head = "", body] = (await opened(page).locator("pre").allTextContents()).slice(-2);
  assert.equal(body, sent.body.toString());
  const name = (header: string) => sent.rawHeaders.find((each) => each.toLowerCase() === header);
  for (const header of ["content-type", "x-service-event", "x-service-delivery", "webhook-id"]) {
    const line: string = `${name(header)}: ${String(sent.headers[header])}`;
    assert.ok(head.split("\n").includes(line), `${line} in ${head}`);
  }
  assert.ok(head.startsWith(`POST ${receiver.url}\n`));
  // Another attempt may have been made meanwhile.
  const timestamps = receiver.received.map(({ headers }) => headers["webhook-timestamp"]);
  assert.ok(timestamps.includes(/^webhook-timestamp: (\d+)$/m.exec(head)?.[1]), head);
  await page.getByText("Formatted", { exact: true }).click();
  const readable = await opened(page).locator("pre").last().textContent();
  assert.equal(readable, JSON.stringify(JSON.parse(sent.body.toString()), null, 2));

  receiver.answer(() => ({ status: 200, body: "thanks" }));
  await opened(page).getByRole("button", { name: "Replay" }).click();
  await opened(page).getByText("replay", { exact: true }).waitFor();
  await opened(page).getByText("thanks").waitFor();
  await until(async () => assert.equal(await rows(page).count(), 2));
  const again = receiver.received.find(
    ({ headers }) => headers["x-service-delivery"] !== sent.headers["x-service-delivery"],
  );
  assert.equal(again?.headers["webhook-id"], sent.headers["webhook-id"]);
  const address = (await addressOf(page)).searchParams.get("delivery");
  assert.equal(address, again?.headers["x-service-delivery"], "the address leads to what is shown");
  await opened(page).getByRole("button", { name: "Close delivery" }).click();
  await opened(page).waitFor({ state: "detached" });
});

test("the log follows what happens, and is filtered by state and by flag", async (t) => {
  const receiver = await receiverFor(t);
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const { page } = await openAs(browser, t, server.url, [keys.admin], `/webhooks/${id}`);
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  await createFlag(admin, "one");
  await createFlag(admin, "two");
  await until(async () => assert.equal(await rows(page).getByText("answered 204").count(), 2));
  await page.getByRole("img", { name: /^The last 2 deliveries: p50 / }).waitFor();
  await until(async () => assert.equal(await page.getByText("100 % of 2").count(), 2));
  receiver.answer(() => ({ status: 500 }));
  await patchFlag(admin, "two", { enabled: true });
  await rows(page).getByText("retrying").waitFor();

  await state(page, "pending").click();
  await until(async () => assert.equal(await rows(page).count(), 1));
  await rows(page).getByText("flag.enabled").waitFor();
  await state(page, "delivered").click();
  await until(async () => assert.equal(await rows(page).getByText("flag.created").count(), 2));
  await page.getByRole("combobox", { name: "Flag" }).fill("one");
  await until(async () => assert.equal(await rows(page).count(), 1));
  await rows(page).getByText("one", { exact: true }).waitFor();
  const { searchParams } = await addressOf(page);
  assert.deepEqual(
    [...searchParams],
    [
      ["state", "delivered"],
      ["flag", "one"],
    ],
  );
  await page.reload();
  await until(async () => assert.equal(await rows(page).count(), 1));
  await page.getByRole("combobox", { name: "Flag" }).fill("");
  await state(page, "failed").click();
  await page.getByRole("heading", { name: "No deliveries match" }).waitFor();
  await page.getByRole("link", { name: "1 retrying" }).click();
  await until(async () => assert.equal(await rows(page).count(), 1));
  await rows(page).getByText("flag.enabled").waitFor();

  // It accepts the events of another flag: the page says what to do about the rest.
  receiver.answer(({ body }) => ({ status: body.includes('"key":"two"') ? 500 : 204 }));
  await patchFlag(admin, "one", { enabled: true });
  await page
    .locator('.health-line:has-text("unstable") + .health-details')
    .getByText("check its log. Pending events are not lost: each is attempted up to 12 times")
    .waitFor();
});

test("on a phone, the chart's texts are beside its columns, and the log's beside each other", async (t) => {
  if (isLeftOut(t)) return;
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
  if (isLeftOut(t)) return;
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
  if (isLeftOut(t)) return;
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
