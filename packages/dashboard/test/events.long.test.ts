// The event feed in a real browser: live, with differences, filtered, paused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  register,
} from "../../server/test/support/delivery-log.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { addressOf, openAs, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const entries = (page: Page) => page.getByRole("list", { name: "Changes" }).getByRole("listitem");
const newest = (page: Page) => entries(page).first();

test("changes of flags, webhooks and keys appear without a reload, with who and what, unless paused", async (t) => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "tailed", type: "rollout", percentage: 5 });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/events");
  await newest(page).getByText("flag.created").waitFor();
  await patchFlag(admin, "tailed", { enabled: true, percentage: 7.5 });
  for (const text of ["admin", "flag.enabled", "flag.updated", "5%", "7.5%", "off", "on"]) {
    await newest(page).getByText(text, { exact: true }).waitFor();
  }
  await newest(page).getByText("version 2").waitFor();
  const hook = "https://127.0.0.1/hook";
  const made = await admin("POST", "/webhooks", { url: hook, events: ["flag.deleted"] });
  assert.equal(made.status, 201, made.text);
  await newest(page).getByText("webhook.created").waitFor();
  await newest(page).getByText("flag.deleted").waitFor();
  const { id } = made.body as { id: string };
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  await newest(page).getByText("webhook.updated").waitFor();
  for (const text of ["active", "yes", "no"]) {
    await newest(page).getByText(text, { exact: true }).waitFor();
  }
  await admin("POST", "/keys", { name: "new one", role: "client" });
  await newest(page).getByText("key.created").waitFor();
  await admin("DELETE", "/flags/tailed");
  await newest(page).getByText("flag.deleted").waitFor();

  // Paused, it stays as it is and counts.
  await createFlag(admin, "steady");
  await newest(page).getByText("flag.created").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("No new events.").waitFor();
  await patchFlag(admin, "steady", { enabled: true });
  await patchFlag(admin, "steady", { enabled: false });
  await page.getByText("2 new events.").waitFor();
  assert.match((await newest(page).textContent()) ?? "", /flag\.created/);
  await page.getByRole("button", { name: "Resume" }).click();
  await newest(page).getByText("flag.disabled").waitFor();
});

test("events are filtered by type and by flag", async (t) => {
  const { keys, admin } = await server.environment();
  await createFlag(admin, "one");
  await createFlag(admin, "two");
  await patchFlag(admin, "two", { enabled: true });
  await admin("POST", "/keys", { name: "filtered", role: "client" });
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/events");
  await entries(page).getByText("filtered", { exact: true }).first().waitFor();
  await page.getByText("flags", { exact: true }).click();
  await until(async () => assert.equal(await entries(page).count(), 3));
  await page.getByRole("combobox", { name: "Flag" }).fill("two");
  await until(async () => assert.equal(await entries(page).count(), 2));
  await newest(page).getByText("flag.enabled").waitFor();
  await patchFlag(admin, "two", { enabled: false });
  await newest(page).getByText("flag.disabled").waitFor();
  assert.equal((await addressOf(page)).searchParams.get("flag"), "two");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.getByRole("combobox", { name: "Flag" }).fill("twos");
  await until(async () => assert.equal(await entries(page).count(), 4));
  assert.deepEqual(
    asked.filter((url) => url.includes("twos")),
    [],
  );
  await page.getByText("Press Enter to see only this flag.").waitFor();
  await page.getByRole("combobox", { name: "Flag" }).press("Enter");
  await page.getByText("twos has never existed").waitFor();
  await page.getByText("keys", { exact: true }).click();
  await newest(page).getByText("key.created").waitFor();
});

test("a server key sees history, webhooks and deliveries without secrets, and nothing to change them with", async (t) => {
  const receiver = await startReceiver(() => ({ status: 200, body: "secret-answer" }));
  t.after(() => receiver.close());
  const { keys, admin } = await server.environment();
  const { origin } = new URL(receiver.url);
  const { id } = await register(admin, `${origin}/secret-path`);
  await createFlag(admin, "looked-at");
  await createFlag(admin, "gone");
  await admin("DELETE", "/flags/gone");
  const log = await logWhen(admin, id, 3, isDelivered);
  const { page } = await openAs(browser, t, server.url, [keys.server], "/flags/looked-at", audited);
  /** Beside those that only show something, and those of "Try it", which change nothing on the server. */
  const buttons = async () => {
    const names = await page
      .locator("main button:visible")
      .evaluateAll((all) =>
        all.map((each) => each.getAttribute("aria-label") ?? each.textContent ?? ""),
      );
    return names.filter(
      (name) =>
        !/^(Copy|Close|Pause$|Rename the context|New context|Add attribute|Evaluate)/.test(name),
    );
  };
  const look = async () => {
    assert.deepEqual(await buttons(), []);
    assert.doesNotMatch(await page.content(), /secret-(path|answer)/);
  };
  const main = page.getByRole("main");
  await main.getByText(/Last change: .*, by \S+/).waitFor();
  await main.getByRole("region", { name: "History" }).getByText("Created").waitFor();
  await main.getByRole("cell", { name: `${origin}/…` }).waitFor();
  await look();
  const open = (name: string) => page.getByRole("link", { name, exact: true }).first().click();
  await open("Events");
  await main.getByText("webhook.created").waitFor();
  await main.getByRole("link", { name: `${origin}/…` }).waitFor();
  await look();
  await open("Webhooks");
  await main.getByRole("link", { name: `${origin}/…` }).click();
  await main.getByRole("listitem").getByText("answered 200").first().waitFor();
  await look();
  await page.goto(`/webhooks/${id}?delivery=${log[0]?.id}`);
  await main.getByText("Only admins see the body of the response.").waitFor();
  await main.getByText(`POST ${origin}/…`).waitFor();
  await look();
  await open("Flags");
  await main.getByRole("link", { name: "Deleted flags" }).click();
  await main.getByRole("link", { name: "gone" }).click();
  await main.getByText("Deleted", { exact: true }).waitFor();
  await look();
  await open("Keys");
  await page.getByRole("heading", { name: "Admin key required" }).waitFor();
  await audit(page, "a page that needs an admin key");
});
