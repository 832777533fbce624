// The dashboard with the keyboard alone, in a real browser: everything is reached, and the focus is always visible.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { logWhen, register, wasAttempted } from "../../server/test/support/delivery-log.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { testBrowser } from "./support/browser.ts";
import { dialog, notice, openAs, stateOf, until } from "./support/flags.ts";
import { isLeftOut } from "./support/in-depth.ts";

const browser = testBrowser();
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** How the focused element and what is around it look with the focus and without; the focus is where it was afterwards. */
const lookOfFocus = async () => {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement)) return undefined;
  const around = [focused, focused.parentElement, ...(focused.parentElement?.children ?? [])];
  const look = async () => {
    await new Promise(requestAnimationFrame);
    // Those without an end are the marks of what is loading.
    const moving = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(moving.map(({ finished }) => finished));
    return around
      .map((element) => {
        if (element === null) return "";
        const style = getComputedStyle(element);
        const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = style;
        return [outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor].join(" ");
      })
      .join("\n");
  };
  const withFocus = await look();
  const box = focused.getBoundingClientRect();
  const isInView =
    box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  focused.blur();
  const without = await look();
  focused.focus({ preventScroll: true });
  return { isSeen: withFocus !== without && isInView, html: focused.outerHTML.slice(0, 200) };
};

/** Only what hangs takes more. */
const mostSteps = 80;

/** With the tab key, through whatever comes before it. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  // A switch is drawn by its label.
  await target.waitFor({ state: "attached" });
  const isFocused = () => target.evaluate((element) => element === document.activeElement);
  for (let steps = 0; !(await isFocused()); steps += 1) {
    assert.ok(
      steps < mostSteps,
      `not reached with the tab key: ${await target.evaluate(({ outerHTML }) => outerHTML)}`,
    );
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(lookOfFocus);
    assert.ok(focus?.isSeen, `the focus is not visible on ${focus?.html}`);
  }
};

const press = async (page: Page, target: Locator, key = "Enter"): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press(key);
};

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
  await notice(page, "checkout").getByText("Now on for 25 %.").waitFor();

  await admin("POST", "/flags", { key: "another", type: "boolean" });
  await page.keyboard.press("Alt+1");
  await page.getByRole("link", { name: "another" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("check");
  await page.getByText("1 of 2 flags").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "checkout", level: 1 }).waitFor();
  assert.equal(await page.getByLabel("Percent of users").inputValue(), "25 %");
});

test("with the keyboard alone a failed delivery is found, explained and replayed", async (t) => {
  if (isLeftOut(t)) return;
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
