// The focus moved by keyboard alone; it has to be visible wherever it is.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";

/** How the focused element and what is around it look with the focus and without; the focus is where it was afterwards. */
export const lookOfFocus = async () => {
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
export const mostSteps = 80;

/** With the tab key, through whatever comes before it. */
export const tabTo = async (page: Page, target: Locator): Promise<void> => {
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

export const press = async (page: Page, target: Locator, key = "Enter"): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press(key);
};
