// What the tests of the flag pages have in common: flags to begin with, and the places of a page.
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Flag } from "@halyard/sdk/management";
import type { Locator, Page } from "playwright-core";
import type { Api } from "../../../server/test/support/api.ts";
import { nextPause } from "../../../server/test/support/until.ts";
import type { TestBrowser, Visit, VisitOptions } from "./browser.ts";

interface Seed {
  readonly key: string;
  readonly type: Flag["type"];
  readonly percentage?: number;
  readonly description?: string;
  readonly enabled?: boolean;
}

export const seedFlags = async (admin: Api, seeds: readonly Seed[]): Promise<void> => {
  for (const { enabled = false, ...flag } of seeds) {
    await admin("POST", "/flags", flag);
    if (enabled) await admin("PATCH", `/flags/${flag.key}`, { enabled });
  }
};

export const stateOf = async (admin: Api, key: string): Promise<Flag> =>
  (await admin("GET", `/flags/${key}`)).body as Flag;

/** Only what hangs takes more. */
const longestWait = 300_000;

/** Until it no longer throws; the last complaint is the error. */
export const until = async (holds: () => Promise<void>): Promise<void> => {
  const started = performance.now();
  for (;;) {
    try {
      return await holds();
    } catch (error) {
      if (performance.now() - started > longestWait) throw error;
    }
    await pause(nextPause(performance.now() - started));
  }
};

/** Signed in, with the flags of the environment on the page. */
export const openAs = async (
  browser: TestBrowser,
  t: TestContext,
  url: string,
  keys: readonly string[],
  path: string,
  options: VisitOptions = {},
): Promise<Visit> => {
  const visit = await browser.visit(t, url, { ...options, keys });
  await visit.page.goto(path);
  await visit.page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  return visit;
};

/** As the page has it: the browser tells its own a moment later. */
export const addressOf = async (page: Page): Promise<URL> =>
  new URL(await page.evaluate(() => location.href));

export const dialog = (page: Page): Locator => page.getByRole("dialog");

export const notice = (page: Page, title: string | RegExp): Locator =>
  page.getByRole("alert").filter({ has: page.getByText(title, { exact: true }) });

/** What the preview of a plan says about a flag or segment. */
export const lineOf = (page: Page, key: string): Locator =>
  dialog(page)
    .getByRole("list", { name: "Changes" })
    .getByRole("listitem")
    .filter({ has: page.getByText(key, { exact: true }) });
