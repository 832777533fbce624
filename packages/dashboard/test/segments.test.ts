// Segments and splits in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { recut } from "@halyard/core/targeting/split";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import {
  evenShares,
  movesBetween,
  sharesOf,
  sumOf,
  withShare,
} from "../src/targeting/split/shares.ts";
import { audit, audited, fitsOn } from "./support/audit-page.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, openAs, until } from "./support/flags.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a share is set at the cost of its neighbours, and the moves are those that recut makes", () => {
  const names = ["a", "b", "c"];
  const whole = { a: 40, b: 30, c: 30 };
  assert.deepEqual(withShare(whole, names, "a", 90, true), { a: 90, b: 0, c: 10 });
  assert.deepEqual(withShare(whole, names, "a", 10, true), { a: 10, b: 60, c: 30 });
  assert.deepEqual(withShare(whole, names, "c", 50, true), { a: 40, b: 10, c: 50 });
  const partial = { a: 20, b: 20 };
  assert.deepEqual(withShare(partial, ["a", "b"], "a", 70, false), { a: 70, b: 20 });
  assert.deepEqual(withShare(partial, ["a", "b"], "a", 90, false), { a: 90, b: 10 });
  assert.equal(sumOf(evenShares(names)), 100);
  const before = [
    { variant: "a", share: 50 },
    { variant: "b", share: 30 },
  ];
  const next = recut(before, { a: 45, b: 40 });
  assert.deepEqual(sharesOf(next), { a: 45, b: 40 });
  assert.deepEqual(movesBetween(before, next), [
    { from: "a", to: "b", share: 5 },
    { from: undefined, to: "b", share: 5 },
  ]);
  assert.deepEqual(movesBetween(before, before), []);
});

test("a segment is created, gets 20,000 keys at once, and says who uses it", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/segments", {
    ...audited,
    permissions: ["clipboard-read", "clipboard-write"],
    expected: [/409 \(Conflict\)/, /412 \(Precondition Failed\)/],
  });
  await page.getByRole("button", { name: "Create segment" }).first().click();
  await dialog(page).getByLabel("Key").fill("beta testers");
  await dialog(page).getByText("Use letters, digits").waitFor();
  await dialog(page).getByLabel("Key").fill("beta");
  await dialog(page).getByRole("button", { name: "Create segment" }).click();
  await page.getByRole("heading", { name: "beta", level: 1 }).waitFor();

  const pasted = Array.from({ length: 20_000 }, (_, index) => `user-${index}@acme.example`);
  const parts: number[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/beta/members")) parts.push(request.postData()?.length ?? 0);
  });
  const input = page.getByLabel("Add targeting keys");
  const text = `${pasted.join("\n")}\n user-1@acme.example , single\n${"x".repeat(300)}`;
  await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
  await input.press("ControlOrMeta+v");
  await page.getByText("20,001 to add, 1 longer than 256 bytes, left out").waitFor();
  // What is stopped on the way stays in the form, without what was saved.
  const { promise: isStopped, resolve: stopped } = Promise.withResolvers<void>();
  await page.route("**/beta/members**", async (route) => {
    await isStopped;
    await route.continue();
  });
  await page.getByRole("button", { name: "Add to the list" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  stopped();
  await page.getByText(/\d to add, \d,\d+ already in the list/).waitFor();
  await page.unroute("**/beta/members**");
  await page.getByRole("button", { name: "Add to the list" }).click();
  await page.getByText("Include (20,001)").waitFor();
  const list = page.getByRole("region", { name: "Keys of the include list" });
  await list.getByText("single", { exact: true }).waitFor();
  assert.ok(parts.length > 1, "in parts");
  assert.ok(Math.max(...parts) < 256 * 1_024, "each fits into a request");
  assert.ok((await list.getByRole("listitem").count()) < 60, "only what is in view");
  await page.getByLabel("Search in the list").fill("user-1999");
  await page.getByText("11 of 20,001").waitFor();
  await page.getByRole("button", { name: "Remove those found" }).click();
  await dialog(page).getByText("No flag names this segment").waitFor();
  await dialog(page).getByRole("button", { name: "Remove" }).press("Enter");
  await page.getByText("Include (19,990)").waitFor();
  await page.getByLabel("Search in the list").fill("single");
  await page.getByRole("button", { name: "Remove single" }).click();
  await page.getByText("Include (19,989)").waitFor();
  const isFocused = () => list.evaluate((region) => region === document.activeElement);
  await until(async () => assert.ok(await isFocused(), "the focus stays in the list"));

  // The description and the condition are saved with If-Match: somebody else may be first.
  const about = page.getByLabel("Description");
  await about.fill("mine");
  await page.getByRole("button", { name: "Add condition" }).click();
  await page.getByRole("combobox", { name: /^Attribute/ }).fill("plan");
  await page
    .getByLabel(/^Values/)
    .first()
    .fill("pro");
  await page.keyboard.press("Enter");
  await admin("PATCH", "/segments/beta", { description: "theirs" });
  await page.getByText("This segment changed").waitFor();
  await page.getByRole("button", { name: "Save segment" }).press("Enter");
  await dialog(page).getByRole("cell", { name: "theirs" }).waitFor();
  await dialog(page).getByRole("button", { name: "Apply my change" }).press("Enter");
  await until(async () =>
    assert.partialDeepStrictEqual((await admin("GET", "/segments/beta")).body, {
      description: "mine",
      when: { attribute: "plan", op: "in", values: ["pro"] },
    }),
  );

  const when = { segment: ["beta"] };
  await admin("POST", "/flags", {
    key: "uses-it",
    type: "boolean",
    otherwise: "off",
    rules: [{ id: "early", when, serve: "on" }],
  });
  const uses = page.getByRole("region", { name: "Where it is used" });
  await uses.getByRole("link", { name: "uses-it" }).waitFor();
  await uses.getByText("rule early").waitFor();
  const history = page.getByRole("region", { name: "History" });
  await history
    .getByText("10 added")
    .or(history.getByText(/removed: /))
    .first()
    .waitFor();
  // What an entry left is restored, as on the page of the whole history.
  await history
    .getByRole("listitem")
    .filter({ hasText: "theirs" })
    .filter({ hasNotText: "mine" })
    .getByRole("button", { name: /^Restore this version: beta/ })
    .click();
  await dialog(page).getByRole("button", { name: "Restore" }).press("Enter");
  await until(async () =>
    assert.partialDeepStrictEqual((await admin("GET", "/segments/beta")).body, {
      description: "theirs",
      when: null,
    }),
  );
  await until(async () => assert.equal(await about.inputValue(), "theirs"));
  await audit(page, "a segment");
  await fitsOn(page, 320);
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog(page).getByText("uses-it").waitFor();
  await dialog(page).getByRole("button", { name: "Close" }).last().click();

  await page.getByRole("link", { name: "All segments" }).click();
  await admin("POST", "/segments", { key: "other", include: ["a"] });
  const rows = page.getByRole("list", { name: "Segments" }).getByRole("listitem");
  await until(async () => assert.equal(await rows.count(), 2));
  await page.getByLabel("Search key or description").fill("theirs");
  await until(async () => assert.equal(await rows.count(), 1));
  await rows.getByText("19,989 included").waitFor();
  await rows.getByText("used by 1 flag").waitFor();
  await fitsOn(page, 320);

  // The flag that was in the way is gone: now it can be deleted.
  await admin("DELETE", "/flags/uses-it");
  await rows.getByRole("link", { name: "beta" }).click();
  await uses.getByText("No flag names this segment.").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog(page).getByRole("button", { name: "Delete segment" }).press("Enter");
  await until(async () => assert.equal((await admin("GET", "/segments/beta")).status, 404));
});
