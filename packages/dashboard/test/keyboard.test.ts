// The dashboard with the keyboard alone, in a real browser: everything is reached, and the focus is always visible.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, stateOf, until } from "./support/flags.ts";
import { press, tabTo } from "./support/keyboard.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("with the keyboard alone a flag is created, changed and found", async (t) => {
  const { keys, admin } = await server.environment();
  const { page } = await openAs(browser, t, server.url, [keys.admin], "/flags", {
    reducedMotion: "reduce",
  });
  await page.getByRole("heading", { name: "No flags yet" }).waitFor();
  await page.keyboard.press("c");
  await until(async () => {
    const isFocused = await dialog(page)
      .getByLabel("Key")
      .evaluate((element) => element === document.activeElement);
    assert.ok(isFocused, "the dialog begins with the key");
  });
  await page.keyboard.type("checkout");
  await tabTo(page, dialog(page).getByLabel(/^boolean/));
  await page.keyboard.press("ArrowDown");
  await tabTo(page, dialog(page).getByLabel("Percent of users"));
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("10");
  await press(page, dialog(page).getByRole("button", { name: "Create flag" }));
  await page.getByRole("heading", { name: "checkout", level: 1 }).waitFor();
  assert.partialDeepStrictEqual(await stateOf(admin, "checkout"), { percentage: 10 });

  await press(page, page.getByRole("switch"), "Space");
  await until(async () => assert.equal((await stateOf(admin, "checkout")).enabled, true));
  await tabTo(page, page.getByLabel("Percent of users"));
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("25");
  await press(page, page.getByRole("button", { name: "Save changes" }));
  await notice(page, "checkout").getByText("Now on for 25%.").waitFor();

  await admin("POST", "/flags", { key: "another", type: "boolean" });
  await page.keyboard.press("Alt+1");
  await page.getByRole("link", { name: "another" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("check");
  await page.getByText("1 of 2 flags").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "checkout", level: 1 }).waitFor();
  assert.equal(await page.getByLabel("Percent of users").inputValue(), "25%");
});
