// A person at the page: what they click, press and type is counted, and how long it takes is estimated from that.
//
// The seconds of a job are two sums. "page" is measured: from each click or key until the page shows what the person waits for.
// "person" is the keystroke-level model of Card, Moran and Newell (1980) with its published times, for somebody who knows the page:
// a thought before each click, shortcut or typed text, pointing and clicking, keys, and hands that move between mouse and keyboard.
import type { Locator, Page } from "playwright-core";
import { reach } from "./keyboard.ts";

/** In seconds. */
const thought = 1.35;
const pointing = 1.1;
const click = 0.2;
/** Of an average typist; a shortcut with a modifier is one key. */
const key = 0.28;
const homing = 0.4;

export interface Effort {
  readonly clicks: number;
  /** Shortcuts, Tab, Enter, arrows: what is not text. */
  readonly keys: number;
  /** Characters of text. */
  readonly typed: number;
  /** By the model. */
  readonly person: number;
  /** Measured. */
  readonly page: number;
}

export type Shown = Locator | (() => Promise<unknown>);

export interface Person {
  readonly page: Page;
  /** Each waits until the page shows this. Who has no mouse goes there with the keyboard. */
  click(target: Locator, shown: Shown): Promise<void>;
  /** Several with a space between them are one thought. */
  press(keys: string, shown: Shown): Promise<void>;
  type(text: string, shown?: Shown): Promise<void>;
  readonly effort: () => Effort;
}

export const personAt = (page: Page, hasMouse: boolean): Person => {
  const sum = { clicks: 0, keys: 0, typed: 0, person: 0, page: 0 };
  let hand: "mouse" | "keyboard" = hasMouse ? "mouse" : "keyboard";

  const moveTo = (next: typeof hand): void => {
    if (hand !== next) sum.person += homing;
    hand = next;
  };
  const timed = async (act: () => Promise<unknown>, shown?: Shown): Promise<void> => {
    const started = performance.now();
    await act();
    if (typeof shown === "function") await shown();
    else await shown?.waitFor();
    sum.page += (performance.now() - started) / 1_000;
  };
  const press = async (keys: readonly string[], shown: Shown): Promise<void> => {
    await timed(async () => {
      for (const each of keys) await page.keyboard.press(each);
    }, shown);
  };

  return {
    page,
    effort: () => ({ ...sum }),
    async click(target, shown) {
      if (!hasMouse) {
        const { pressed, use } = await reach(page, target);
        const keys = use === undefined ? [] : [use];
        sum.keys += pressed + keys.length;
        sum.person += thought + key * (pressed + keys.length);
        return press(keys, shown);
      }
      // What a person scrolls to and aims at is not the page's time. In the middle: at the edge a notice may lie over it.
      await target.evaluate((element) => element.scrollIntoView({ block: "center" }));
      await target.hover();
      moveTo("mouse");
      sum.clicks += 1;
      sum.person += thought + pointing + click;
      await timed(async () => {
        await page.mouse.down();
        await page.mouse.up();
      }, shown);
    },
    async press(keys, shown) {
      const all = keys.split(" ");
      moveTo("keyboard");
      sum.keys += all.length;
      sum.person += thought + key * all.length;
      await press(all, shown);
    },
    async type(text, shown) {
      moveTo("keyboard");
      sum.typed += text.length;
      sum.person += thought + key * text.length;
      // Not as one text that was pasted: the page works at each letter.
      await timed(() => page.keyboard.type(text), shown);
    },
  };
};
