// The delivery log in a real browser: requests, responses, filters, replay of one event or a range.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  createFlag,
  logWhen,
  patchFlag,
  register,
  wasAttempted,
} from "../../server/test/support/delivery-log.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, openAs, until } from "./support/flags.ts";
import { receiverFor } from "./support/webhooks.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

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
  await until(async () => assert.equal(await page.getByText("100% of 2").count(), 2));
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
