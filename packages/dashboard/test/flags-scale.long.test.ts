// The list with 10,000 flags, which is as many as an environment holds: there, scrolled and searched, and what it costs on the line.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { writeRows } from "../../server/test/support/database.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const count = 10_000;
const keyOf = (index: number): string => `flag-${String(index).padStart(5, "0")}`;

/** Straight into the store, as another instance would: the API takes its time for so many changes, each with its event. */
const fill = async (environment: string, count: number): Promise<void> => {
  await writeRows(
    server,
    `with recursive numbers (number) as (
       select 0 union all select number + 1 from numbers where number < ? - 1
     )
     insert into flags (environment_id, key, type, enabled, thousandths, description, version)
     select (select id from environments where name = ?), printf('flag-%05d', number),
       case number % 2 when 0 then 'boolean' else 'rollout' end, number % 3 = 0,
       case number % 2 when 0 then null else number * 10 end, 'Number ' || number || ' ' || hex(randomblob(6)), 1
     from numbers`,
    count,
    environment,
  );
  await writeRows(
    server,
    "update environments set revision = revision + ?, flag_count = ? where name = ?",
    count,
    count,
    environment,
  );
};

/** From the beginning of the navigation until the first flag is there. */
const timeToList = async (page: Page): Promise<number> => {
  await page.goto("about:blank");
  await page.goto("/flags", { waitUntil: "commit" });
  await page.getByRole("link", { name: keyOf(0) }).waitFor();
  return page.evaluate(() => performance.now());
};

test("10,000 flags are listed, scrolled and searched", async (t) => {
  const { keys, name } = await server.environment();
  await fill(name, count);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags");
  const rows = page.getByRole("list", { name: "Flags" }).getByRole("listitem");
  await page.getByRole("link", { name: keyOf(0) }).waitFor();

  t.diagnostic(`listed after ${Math.round(await timeToList(page))} ms`);
  await page.getByText(`${count.toLocaleString("en-US")} in`).waitFor();

  const inPage = await rows.count();
  assert.ok(inPage > 5 && inPage < 100, `${inPage} rows are in the page`);
  await page.mouse.move(600, 500);
  await page.mouse.wheel(0, 64 * 4_000);
  await page.getByRole("link", { name: keyOf(4_000) }).waitFor();
  await page.keyboard.press("End");
  await page.getByRole("link", { name: keyOf(count - 1) }).waitFor();
  assert.ok((await rows.count()) < 100);
  assert.equal(await rows.last().getAttribute("aria-posinset"), String(count));

  await page.keyboard.press("/");
  await page.keyboard.type("number -0777");
  await page.getByText("10 of 10,000 flags").waitFor();
  await until(async () => assert.equal(await rows.count(), 10));
});

/** 50 KB/s and 300 ms. */
const slowLine = async (context: BrowserContext, page: Page): Promise<CDPSession> => {
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 300,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  });
  return network;
};

/** Of three seconds at 50 KB/s and 300 ms, what the round trips for the page and its flags leave. */
const toTheList = 90_000;

test("on a slow line 5,000 flags are on the screen after few bytes", async (t) => {
  const { keys, name, admin } = await server.environment();
  await fill(name, 5_000);
  const { page, context } = await openAs(browser, t, server.url, [keys.admin], "/flags");
  await page.getByRole("link", { name: keyOf(0) }).waitFor();
  await page.goto("about:blank");
  // What the browser has kept of the flags is outdated.
  await admin("PATCH", `/flags/${keyOf(1)}`, { enabled: true });
  // The files of the page are kept by the browser; all else comes over the line.
  const network = await slowLine(context, page);
  let bytes = 0;
  const steps: string[] = [];
  const step = (what: string, url: string) => {
    const { pathname } = new URL(url);
    if (/^\/(session|api\/v1\/snapshot)$/.test(pathname)) steps.push(`${what} ${pathname}`);
  };
  network.on("Network.requestWillBeSent", ({ request }) => step("asked for", request.url));
  network.on("Network.responseReceived", ({ response }) => step("got", response.url));
  network.on("Network.dataReceived", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto("/flags", { waitUntil: "commit" });
  await page.getByRole("link", { name: keyOf(0) }).waitFor();
  const soFar = bytes;
  const milliseconds = Math.round(await page.evaluate(() => performance.now()));
  t.diagnostic(`${soFar} bytes, ${milliseconds} ms to the list`);
  assert.deepEqual(
    steps.slice(0, 2).sort(),
    ["asked for /api/v1/snapshot", "asked for /session"],
    "the flags are asked for without waiting for the session",
  );
  assert.equal(steps.length, 4, steps.join(", "));
  assert.ok(soFar > 1_000 && soFar < toTheList, `${soFar} bytes`);
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  assert.ok(bytes < 2 * toTheList, `${bytes} bytes until it is live`);
});
