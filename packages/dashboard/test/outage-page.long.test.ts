// An outage of receivers in a real browser: what the page says while it lasts, and how the recovery is seen without a reload.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import {
  createFlag,
  patchFlag,
  readLog,
  register,
} from "../../server/test/support/delivery-log.ts";
import {
  type Received,
  type Script,
  startReceiver,
} from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const flags = ["banner", "checkout", "pricing", "search"];
/** Of each flag; three webhooks get none of them. */
const changes = 420;
const events = flags.length * changes;
const count = (number: number): string => number.toLocaleString("en-US");

const accept: Script = () => ({ status: 204 });
/** Every other of its first requests fails. */
const flaky = (): Script => {
  let requests = 0;
  return () => {
    requests += 1;
    return { status: requests < 8 && requests % 2 === 1 ? 500 : 204 };
  };
};
const broken: Script = () => {
  throw new Error("the connection ends without an answer");
};

const startReceivers = async (t: TestContext) => {
  const start = async (script: Script) => {
    const receiver = await startReceiver(script);
    t.after(() => receiver.close());
    return receiver;
  };
  return {
    good: await start(accept),
    second: await start(accept),
    flaky: await start(flaky()),
    busy: await start(() => ({ status: 503, body: "out of memory" })),
    locked: await start(() => ({ status: 401, body: "bad signature" })),
    gone: await start(broken),
  };
};

const row = (page: Page, url: string) => page.getByRole("listitem").filter({ hasText: url });
const mark = (page: Page, text: string) => page.getByRole("link", { name: text, exact: true });
const opened = (page: Page) => page.getByRole("region", { name: "Delivery", exact: true });
const rows = (page: Page) => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");

interface Sent {
  readonly sequence: number;
  readonly data: { readonly flag: { readonly key: string } };
}

/** What a receiver got of each flag is in order and complete. */
const assertComplete = (received: readonly Received[], whose: string): void => {
  const last = new Map<string, number>();
  const seen = new Set<number>();
  for (const { body, headers } of received) {
    if (headers["x-service-event"] === "webhook.test") continue;
    const { data, sequence } = JSON.parse(body.toString()) as Sent;
    const { key } = data.flag;
    assert.ok(sequence >= (last.get(key) ?? 0), `${whose}: the events of ${key} in order`);
    last.set(key, sequence);
    seen.add(sequence);
  }
  assert.equal(seen.size, events + 1, whose);
};

test("an outage: the page says what fails, since when and why, what waits and what to do, and shows the recovery live", async (t) => {
  const receivers = await startReceivers(t);
  const { keys, admin } = await server.environment();
  const ids = new Map<string, string>();
  for (const [name, { url }] of Object.entries(receivers)) {
    ids.set(name, (await register(admin, url)).id);
  }
  for (const key of flags) await createFlag(admin, key);
  for (let change = 1; change < changes; change += 1) {
    await Promise.all(flags.map((key) => patchFlag(admin, key, { description: `no. ${change}` })));
  }
  const logOf = (name: string, query: string) => readLog(admin, ids.get(name) ?? "", query);
  await until("each flag was attempted by each that is down, and the others have all", async () => {
    for (const name of ["busy", "locked", "gone"]) {
      if ((await logOf(name, "?state=retrying&limit=10")).length < flags.length) return false;
    }
    for (const name of ["good", "second", "flaky"]) {
      if ((await logOf(name, "?state=pending&limit=1")).length > 0) return false;
    }
    return true;
  });

  const { page } = await openAs(browser, t, server.url, [keys.admin], "/webhooks", audited);
  await page.evaluate("window.loadedOnce = true");
  await mark(page, "Webhooks 3 failing").waitFor();
  for (const [name, reason] of [
    ["busy", "answered 503"],
    ["locked", "answered 401"],
    ["gone", "the connection was closed before the answer was complete"],
  ] as const) {
    const one = row(page, receivers[name].url);
    await one.getByText("failing", { exact: true }).waitFor();
    await one.getByText(new RegExp(`^Failing since \\w.*\\(.+\\): ${reason}\\.$`)).waitFor();
    await one.getByText("No success on record.").waitFor();
    await one.getByText(`${count(events)} pending.`).waitFor();
    await one.getByText(`${count(flags.length)} retrying.`).waitFor();
    const held = `${count(events - flags.length)} held back by an earlier event of the same flag.`;
    await one.getByText(held).waitFor();
    await one.getByText(/^Next attempt (in |within about 15 seconds: )/).waitFor();
  }
  for (const [name, status] of [
    ["good", "healthy"],
    ["second", "healthy"],
    ["flaky", "unstable"],
  ] as const) {
    const one = row(page, receivers[name].url);
    await one.getByText(status, { exact: true }).waitFor();
    await one.getByText(/^Last success /).waitFor();
    assert.equal(await one.getByText(/pending/).count(), 0, name);
  }
  await row(page, receivers.flaky.url)
    .getByText(/^Last error .*: answered 500\.$/)
    .waitFor();

  await audit(page, "webhooks of which some fail");

  // One of them in full: what to do, what waits behind what, and the receiver's own words.
  await page.getByRole("link", { name: receivers.busy.url }).click();
  await page.getByText("The receiver has an error of its own: check its log.").waitFor();
  await page
    .getByText(/^0% of \d+$/)
    .first()
    .waitFor();
  const blocking = page.getByRole("list", { name: "Retrying" }).getByRole("listitem");
  for (const key of flags) {
    const held = `${count(changes - 1)} later events wait for it\\.$`;
    await blocking
      .filter({ hasText: new RegExp(`^${key}: answered 503 after \\d+ attempts?\\. .*${held}`) })
      .waitFor();
  }
  await audit(page, "a webhook that fails");
  await rows(page).first().getByText("behind an earlier event").waitFor();
  await rows(page).first().getByRole("link").click();
  await opened(page).getByRole("link", { name: "an earlier event of the same flag" }).click();
  await opened(page).getByText("out of memory").first().waitFor();
  await opened(page).getByText("answered 503").first().waitFor();
  const next = opened(page).locator(".fact").filter({ hasText: "Next attempt" });
  await next.getByText(/^in /).waitFor();
  assert.doesNotMatch((await next.textContent()) ?? "", /ago/);

  // Retried by hand: all are due, and until the receiver accepts one the page says why they wait.
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  receivers.busy.answer(async () => {
    await held;
    return { status: 204 };
  });
  await page.getByRole("button", { name: "Retry all failed" }).click();
  await page
    .getByText(
      "Due now: all that wait for a retry. A receiver that fails gets one request at a time; when it accepts one, the rest follows.",
    )
    .waitFor();
  await page
    .getByText(
      "Next attempt within about 15 seconds: the receiver fails, so it gets one request at a time until it accepts one; then the rest follows.",
    )
    .waitFor();
  const due = "Next attempt in its turn: the receiver fails, so it gets one request at a time.";
  await blocking.filter({ hasText: due }).first().waitFor();
  assert.equal(await page.getByText(/Next attempt now/).count(), 0);

  // The receivers are back. One was retried by hand, one gets a test, and the third the next event.
  for (const name of ["locked", "gone"] as const) receivers[name].answer(accept);
  release();
  await opened(page).getByText("delivered", { exact: true }).waitFor();
  await page.getByText("unstable", { exact: true }).waitFor();
  // What the page knows, its navigation does not deny.
  assert.equal(await mark(page, "Webhooks 3 failing").count(), 0);
  await page.getByText(/ pending\.$/).waitFor({ state: "detached" });
  await page.getByText("check its log").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "All webhooks" }).click();
  await row(page, receivers.locked.url)
    .getByRole("button", { name: /^Send test to/ })
    .click();
  await opened(page).getByText("answered 204").waitFor();
  await page.getByRole("link", { name: "All webhooks" }).click();
  await createFlag(admin, "later");
  for (const name of ["busy", "locked", "gone"] as const) {
    const one = row(page, receivers[name].url);
    await one.getByText("unstable", { exact: true }).waitFor();
    await one.getByText(/pending/).waitFor({ state: "detached" });
    await one.getByText(/^Last success /).waitFor();
    assertComplete(receivers[name].received, name);
  }
  await mark(page, "Webhooks").waitFor();

  // One is gone for good: Halyard deactivates it, and nobody takes that for a pause.
  receivers.locked.answer(() => ({ status: 410 }));
  await createFlag(admin, "last");
  const gone = row(page, receivers.locked.url);
  await gone.getByText("deactivated", { exact: true }).waitFor();
  await gone.getByText("Halyard deactivated it: it answered 410 Gone.").waitFor();
  await mark(page, "Webhooks 1 failing or deactivated").waitFor();
  await gone.getByRole("link", { name: receivers.locked.url }).click();
  await page.getByText(/^The receiver accepts no webhooks at this URL\. .*resume the/).waitFor();
  assert.equal(await page.evaluate("window.loadedOnce"), true, "without a reload");
});
