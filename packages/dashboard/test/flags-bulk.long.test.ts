// Actions on several flags of the list: selected, previewed, carried out and undone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import type { Locator, Request } from "playwright-core";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { audit, audited } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, lineOf, notice, openAs, seedFlags, stateOf } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("several flags are tagged, turned on and deleted by keyboard, each with a preview and undone", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [
    { key: "one", type: "boolean", enabled: true },
    { key: "three", type: "rollout", percentage: 40, enabled: true, description: "Kept" },
    { key: "two", type: "boolean" },
  ]);
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", audited);
  await page.getByRole("link", { name: "one" }).waitFor();
  const bar = page.getByRole("region", { name: "Selected flags" });
  const press = async (...each: readonly string[]) => {
    for (const key of each) await page.keyboard.press(key);
  };
  const tagsOf = async (key: string) => (await stateOf(admin, key)).tags;

  await press("j", "x", "j", "j", "Shift+X");
  await bar.getByText("3 selected").waitFor();
  await audit(page, "selected flags");
  await press("x");
  await bar.getByText("2 selected").waitFor();
  await bar.getByRole("button", { name: "Select all 3" }).click();
  await bar.getByText("3 selected").waitFor();

  const isFocused = (place: Locator) => place.and(page.locator(":focus")).waitFor();
  const addTag = bar.getByRole("button", { name: "Add tag" });
  await addTag.press("Enter");
  await isFocused(dialog(page).getByLabel("Tag"));
  await dialog(page).getByRole("button", { name: "Cancel" }).press("Enter");
  await isFocused(addTag);
  await press("Enter");
  await dialog(page).getByLabel("Tag").fill("payments");
  await dialog(page).getByText("3 to change").waitFor();
  await audit(page, "tagging several flags");
  await page.keyboard.press("Enter");
  const tagged = notice(page, /^Tag added in/);
  await tagged.getByText("3 changed.").waitFor();
  assert.deepEqual(await tagsOf("two"), ["payments"]);
  await bar.waitFor({ state: "detached" });
  await isFocused(page.getByRole("main"));
  // Somebody else changes one of them: the undo leaves it alone, and says so.
  await admin("PATCH", "/flags/one", { tags: ["payments", "mine"] });
  await tagged.getByRole("button", { name: "Undo" }).click();
  const ended = page.getByRole("dialog", { name: /^Undoing in .* not everything was done/ });
  await ended.getByText(/was changed meanwhile by admin/).waitFor();
  await ended.getByRole("button", { name: "Close", exact: true }).last().click();
  await ended.waitFor({ state: "detached" });
  assert.deepEqual(
    [await tagsOf("one"), await tagsOf("two"), await tagsOf("three")],
    [["payments", "mine"], undefined, undefined],
  );

  await page.getByLabel("Select three").check();
  await page.getByLabel("Select two").check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await lineOf(page, "three").getByText("deleted").waitFor();
  await dialog(page).getByRole("button", { name: "Delete 2 flags" }).press("Enter");
  const gone = notice(page, /^Deleted in/);
  await gone.getByText("2 deleted.").waitFor();
  await page.getByRole("link", { name: "three" }).waitFor({ state: "detached" });
  assert.equal((await admin("GET", "/flags/three")).status, 404);
  await gone.getByRole("button", { name: "Undo" }).click();
  await notice(page, /^Undone in/)
    .getByText("2 created.")
    .waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "three"), {
    enabled: true,
    percentage: 40,
    description: "Kept",
  });
  assert.partialDeepStrictEqual(await stateOf(admin, "two"), { enabled: false });

  // One meets the rate limit, the other comes through later; then it is stopped.
  const held = Promise.withResolvers<void>();
  const isDelete = (request: Request) => request.method() === "DELETE";
  await page.route("**/api/v1/flags/*", async (route) => {
    const request = route.request();
    if (isDelete(request) && request.url().includes("/two")) {
      const headers = { "retry-after": "55" };
      const json = { error: "RATE_LIMITED", message: "Too many requests." };
      return route.fulfill({ status: 429, headers, json });
    }
    if (isDelete(request)) await held.promise;
    return route.continue();
  });
  await page.getByLabel("Select three").check();
  await page.getByLabel("Select two").check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await dialog(page).getByRole("button", { name: "Delete 2 flags" }).press("Enter");
  const running = page.getByRole("dialog", { name: /^Deleting in/ });
  await running.getByText(/^0 of 2\. .* Continues in 55 seconds\.$/).waitFor();
  held.resolve();
  await running.getByText(/^1 of 2$/).waitFor();
  await running.getByRole("button", { name: "Stop" }).click();
  await running.getByText("Done: 1 deleted. Not done: 1.").waitFor();
  await running.getByText("two was stopped before all of it was done.").waitFor();
  assert.equal((await admin("GET", "/flags/two")).status, 200);
});

test("an action whose parts cannot be loaded says so, and works once they can be", async (t) => {
  const { keys, admin } = await server.environment();
  await seedFlags(admin, [{ key: "one", type: "boolean" }]);
  const parts = /assets\/(bulk-dialog|apply)-/;
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", {
    expected: [parts, /Failed to load resource/],
  });
  const failed = notice(page, "Nothing was changed");
  const dismiss = async () => {
    await failed.getByText("A part of the dashboard could not be loaded.").waitFor();
    assert.equal(await dialog(page).count(), 0);
    await failed.getByRole("button", { name: "Close notification" }).click();
    await failed.waitFor({ state: "detached" });
  };
  await page.getByLabel("Select one").check();
  const turnOn = page.getByRole("button", { name: "Turn on", exact: true });
  await page.route(parts, (route) => route.abort());
  await turnOn.click();
  await dismiss();
  await page.unroute(parts);
  await turnOn.click();
  await page.route(parts, (route) => route.abort());
  await dialog(page).getByRole("button", { name: "Turn on 1 flag" }).press("Enter");
  await dismiss();
  await page.unroute(parts);
  await page.getByLabel("Select one").check();
  await turnOn.click();
  await dialog(page).getByRole("button", { name: "Turn on 1 flag" }).press("Enter");
  await notice(page, /^Turned on in/).waitFor();
  assert.equal((await stateOf(admin, "one")).enabled, true);
});

test("120 flags are turned on in two requests, all or none each, and off again", async (t) => {
  const { keys, admin } = await server.environment();
  const count = 120;
  const names = Array.from(
    { length: count },
    (_, index) => `flag-${String(index).padStart(3, "0")}`,
  );
  await Promise.all(names.map((key) => admin("POST", "/flags", { key, type: "boolean" })));
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags");
  let requests = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && /\/changes$/.test(request.url())) requests += 1;
  });
  const areOn = async () =>
    ((await admin("GET", "/flags")).body as Flag[]).filter(({ enabled }) => enabled).length;
  await page.getByLabel("Select flag-000").click();
  await page.getByLabel("Select flag-003").click({ modifiers: ["Shift"] });
  const bar = page.getByRole("region", { name: "Selected flags" });
  await bar.getByText("4 selected").waitFor();
  await bar.getByRole("button", { name: "Select all 120" }).click();
  await bar.getByRole("button", { name: "Turn on" }).click();
  await dialog(page).getByText("120 to change").waitFor();
  await dialog(page).getByRole("button", { name: "Show more (70 are not shown)" }).click();
  await lineOf(page, "flag-090").waitFor();
  await dialog(page).getByRole("button", { name: "Turn on 120 flags" }).press("Enter");
  const done = notice(page, /^Turned on in/);
  await done.getByText("120 changed.").waitFor();
  assert.equal(requests, 2);
  assert.equal(await areOn(), count);
  await done.getByRole("button", { name: "Undo" }).click();
  await notice(page, /^Undone in/)
    .getByText("120 changed.")
    .waitFor();
  assert.equal(await areOn(), 0);
});
