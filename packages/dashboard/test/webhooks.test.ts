// Webhooks in a real browser: create, health, pause, test, rotate, delete.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  createFlag,
  logWhen,
  register,
  wasAttempted,
} from "../../server/test/support/delivery-log.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs } from "./support/flags.ts";
import { isGenuine, receiverFor, shownSecret } from "./support/webhooks.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

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
