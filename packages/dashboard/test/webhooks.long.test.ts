// Webhooks in detail: secrets that are rotated, events, production.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { register } from "../../server/test/support/delivery-log.ts";
import type { Received } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs, until } from "./support/flags.ts";
import { isGenuine, receiverFor, shownSecret } from "./support/webhooks.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const more = async (page: Page, item: string): Promise<void> => {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

test("a rotated secret is shown once, and the old one stays valid unless it is revoked immediately", async (t) => {
  const receiver = await receiverFor(t);
  const { keys, admin } = await server.environment();
  const { id, secret: old } = await register(admin, receiver.url);
  const path = `/webhooks/${id}`;
  const { page } = await openAs(browser, t, server.url, [keys.admin], path, audited);
  const rotate = async (immediately: boolean): Promise<string> => {
    await more(page, "Rotate secret");
    if (immediately) {
      await dialog(page)
        .getByLabel(/Revoke it immediately/)
        .check();
      await audit(page, "rotating");
    }
    await dialog(page).getByRole("button", { name: "Rotate secret" }).click();
    await dialog(page)
      .getByText(immediately ? "The old secret is no longer valid." : /valid until/)
      .waitFor();
    await page.keyboard.press("Escape");
    const secret = await shownSecret(page);
    await dialog(page).getByRole("button", { name: "I saved the secret" }).click();
    await dialog(page).waitFor({ state: "detached" });
    return secret;
  };
  const nextTest = async (count: number): Promise<Received> => {
    await page.getByRole("button", { name: "Send test" }).click();
    await until(async () => assert.equal(receiver.received.length, count));
    const received = receiver.received[count - 1];
    assert.ok(received);
    return received;
  };
  const second = await rotate(false);
  const first = await nextTest(1);
  assert.deepEqual([await isGenuine(first, old), await isGenuine(first, second)], [true, true]);
  const third = await rotate(true);
  const last = await nextTest(2);
  assert.deepEqual([await isGenuine(last, second), await isGenuine(last, third)], [false, true]);
});

test("events are edited; in production pausing and deleting are confirmed", async (t) => {
  const receiver = await receiverFor(t);
  const production = server.firstKeys.find(({ environment }) => environment === "production");
  assert.ok(production);
  const admin = server.api(production.text);
  const { id } = await register(admin, receiver.url);
  const path = `/webhooks/${id}`;
  const { page } = await openAs(browser, t, server.url, [production.text], path, audited);
  await more(page, "Edit events");
  await audit(page, "editing events");
  await dialog(page)
    .getByLabel(/all events/)
    .uncheck();
  for (const name of ["flag.created", "flag.updated", "flag.deleted"]) {
    await dialog(page).getByLabel(name).uncheck();
  }
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("flag.enabled, flag.disabled").first().waitFor();
  const shown = async () => (await admin("GET", path)).body;
  assert.partialDeepStrictEqual(await shown(), { events: ["flag.enabled", "flag.disabled"] });
  // Events that this page does not know stay when only the headers change.
  await admin("PATCH", path, { events: ["flag.enabled", "segment.updated"] });
  await page.getByText("flag.enabled, segment.updated").first().waitFor();
  await more(page, "Edit events");
  await dialog(page).getByLabel("CloudEvents headers").check();
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("with CloudEvents headers").waitFor();
  const events = ["flag.enabled", "segment.updated"];
  assert.partialDeepStrictEqual(await shown(), { events, cloudEvents: true });

  await page.getByRole("button", { name: "Pause" }).click();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await dialog(page).waitFor({ state: "detached" });
  assert.partialDeepStrictEqual(await shown(), { active: true });
  await page.getByRole("button", { name: "Pause" }).click();
  await dialog(page).getByRole("button", { name: "Pause webhook" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  assert.partialDeepStrictEqual(await shown(), { active: false });

  await more(page, "Delete");
  const sure = dialog(page).getByRole("button", { name: "Delete webhook" });
  assert.ok(await sure.isDisabled());
  await dialog(page).getByLabel(/^Type/).fill(new URL(receiver.url).host);
  await sure.click();
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  assert.equal((await admin("GET", path)).status, 404);
  await page.goto(path);
  await page.getByRole("heading", { name: "Webhook not found" }).waitFor();
  await audit(page, "a webhook that does not exist");
});
