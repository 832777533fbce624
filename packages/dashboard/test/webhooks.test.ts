// Webhooks in a real browser: create, health, pause, test, rotate, delete.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import type { Page } from "playwright-core";
import {
  createFlag,
  logWhen,
  register,
  wasAttempted,
} from "../../server/test/support/delivery-log.ts";
import {
  type Received,
  type Script,
  startReceiver,
} from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, until } from "./support/flags.ts";
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

const shownSecret = async (page: Page): Promise<string> => {
  const secret =
    (await dialog(page)
      .getByText(/^whsec_/)
      .textContent()) ?? "";
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  return secret;
};

const isGenuine = async ({ body, headers }: Received, secret: string): Promise<boolean> => {
  const event = await verifyWebhook(body, headers, secret).catch(() => null);
  return event !== null;
};

const more = async (page: Page, item: string): Promise<void> => {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

test("a webhook is created, its secret is shown once and valid, and a test arrives", async (t) => {
  const receiver = await receiverFor(t);
  const { keys, admin } = await server.environment();
  const visit = await openAs(browser, t, server.url, [keys.admin], "/webhooks", audited);
  const { page, context } = visit;
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  await page.getByRole("button", { name: "Create webhook" }).first().click();
  const submit = dialog(page).getByRole("button", { name: "Create webhook" });
  await dialog(page).getByLabel("URL").fill("example.com/hook");
  await dialog(page).getByText("Enter a full URL, such as").waitFor();
  assert.ok(await submit.isDisabled());
  await dialog(page).getByLabel("URL").fill(receiver.url);
  await dialog(page).getByLabel("flag.updated").uncheck();
  await dialog(page).getByLabel("flag.deleted").uncheck();
  assert.ok(
    !(await dialog(page)
      .getByLabel(/all events/)
      .isChecked()),
  );
  await dialog(page).getByLabel("CloudEvents headers").check();
  await audit(page, "registering");
  await submit.click();

  await dialog(page).getByText("Shown only once").waitFor();
  await audit(page, "a secret");
  await page.keyboard.press("Escape");
  const secret = await shownSecret(page);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await dialog(page).getByRole("button", { name: "Copy secret" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
  for (const [language, word] of [
    ["Python", "hmac.compare_digest"],
    ["Go", "hmac.Equal"],
    ["Node", "timingSafeEqual"],
  ] as const) {
    await dialog(page).getByLabel("Example receiver").selectOption(language);
    const code = (await dialog(page).locator("pre").textContent()) ?? "";
    assert.ok(code.includes(word) && code.includes("HALYARD_WEBHOOK_SECRET"), code);
  }
  await dialog(page)
    .getByRole("button", { name: /^I saved the secret/ })
    .click();
  await page.getByRole("heading", { name: receiver.url, level: 1 }).waitFor();
  assert.ok(!(await page.content()).includes(secret));
  const [made] = (await admin("GET", "/webhooks")).body as { id: string; events: string[] }[];
  assert.deepEqual(made?.events, ["flag.created", "flag.enabled", "flag.disabled"]);

  await page.getByRole("button", { name: "Send test" }).click();
  const opened = page.getByRole("region", { name: "Delivery", exact: true });
  await opened.getByRole("heading", { name: "webhook.test" }).waitFor();
  await opened.getByText("answered 204").waitFor();
  await opened.getByText("delivered", { exact: true }).waitFor();
  const [received] = receiver.received;
  assert.ok(received && (await isGenuine(received, secret)));
  assert.equal(received.headers["ce-type"], "webhook.test");
  await opened.getByText("ce-specversion").waitFor();
});

test("the list shows which receiver fails and since when; webhooks are paused and resumed", async (t) => {
  const good = await receiverFor(t);
  const bad = await receiverFor(t, () => ({ status: 503, body: "busy" }));
  const { keys, admin } = await server.environment();
  await register(admin, good.url);
  const { id } = await register(admin, bad.url, ["flag.created"]);
  await createFlag(admin);
  await logWhen(admin, id, 1, wasAttempted);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/webhooks");
  const row = (url: string) => page.getByRole("listitem").filter({ hasText: url });
  await row(good.url).getByText("healthy").waitFor();
  await row(good.url).getByText("Last success").waitFor();
  await row(bad.url).getByText("failing", { exact: true }).waitFor();
  await row(bad.url)
    .getByText(/^Failing since .*: answered 503\.$/)
    .waitFor();
  await row(bad.url).getByText("1 pending.").waitFor();

  const active = async () =>
    ((await admin("GET", `/webhooks/${id}`)).body as { active: boolean }).active;
  await row(bad.url)
    .getByRole("button", { name: `Pause ${bad.url}` })
    .click();
  await row(bad.url).getByText("paused").waitFor();
  assert.equal(await active(), false);
  await notice(page, new URL(bad.url).host).getByRole("button", { name: "Undo" }).click();
  await row(bad.url)
    .getByRole("button", { name: `Pause ${bad.url}` })
    .waitFor();
  assert.equal(await active(), true);
  await row(bad.url)
    .getByRole("button", { name: `Send test to ${bad.url}` })
    .click();
  await page.getByRole("region", { name: "Delivery", exact: true }).getByText("busy").waitFor();
});

test("a rotated secret is shown once, and the old one stays valid unless it is revoked immediately", async (t) => {
  if (isLeftOut(t)) return;
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
  if (isLeftOut(t)) return;
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
