// Deliveries with the keyboard alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { logWhen, register, wasAttempted } from "../../server/test/support/delivery-log.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { openAs, until } from "./support/flags.ts";
import { press } from "./support/keyboard.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("with the keyboard alone a failed delivery is found, explained and replayed", async (t) => {
  const receiver = await startReceiver(() => ({ status: 500, body: "disk full" }));
  t.after(() => receiver.close());
  const { keys, admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await admin("POST", "/flags", { key: "checkout", type: "boolean" });
  await logWhen(admin, id, 1, wasAttempted);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", {
    reducedMotion: "reduce",
  });
  await press(page, page.getByRole("link", { name: "Webhooks 1 failing" }));
  await press(page, page.getByRole("link", { name: receiver.url }));
  const retrying = page.getByRole("list", { name: "Retrying" });
  await press(page, retrying.getByRole("link", { name: "checkout" }));
  const opened = page.getByRole("region", { name: "Delivery", exact: true });
  await opened.getByText("answered 500").first().waitFor();
  await opened.getByText("disk full").first().waitFor();
  await until(async () => {
    const isInside = await opened.evaluate((section) => section.contains(document.activeElement));
    assert.ok(isInside, "the focus is in the delivery");
  });
  receiver.answer(() => ({ status: 200, body: "thanks" }));
  await press(page, opened.getByRole("button", { name: "Replay" }));
  await opened.getByText("replay", { exact: true }).waitFor();
  await opened.getByText("thanks").waitFor();
  await opened.getByText("delivered", { exact: true }).waitFor();
});
