// A real browser for the tests of a file, and for each test a context of its own that is watched for what must never happen.
import assert from "node:assert/strict";
import { after, before, type TestContext } from "node:test";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { findBrowser } from "./find-browser.ts";
import { type Watched, watchContext } from "./watch-context.ts";

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What was seen so far that must not happen; the end of the test looks at it too. */
  readonly problems: readonly string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Signs in with these keys before the first page. */
  readonly keys?: readonly string[];
  /** Texts that must never be in an address, in storage or in the console, beside API keys and webhook secrets. */
  readonly secrets?: readonly string[];
  /** Console errors and requests that this test is about. */
  readonly expected?: readonly RegExp[];
}

export interface TestBrowser {
  /** A fresh context with one page on the server at this address; it is closed and judged when the test ends. */
  visit(t: TestContext, url: string, options?: VisitOptions): Promise<Visit>;
  /** The browser itself, for contexts that nobody watches. */
  readonly browser: () => Browser;
}

const flags = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  // Visits follow one another: one renderer for all of them saves starting one for each.
  "--renderer-process-limit=1",
  "--no-proxy-server",
  // A name that is not localhost: over plain http its pages lack what browsers give to secure contexts only.
  "--host-resolver-rules=MAP flags.test 127.0.0.1",
];

/** Time for one step of a page; a busy machine is slow. */
const patience = 300_000;

/** As its page would do it. */
export const signInWith = async (
  context: BrowserContext,
  url: string,
  keys: readonly string[],
): Promise<void> => {
  for (const key of keys) {
    const answer = await context.request.post(`${url}/session`, { data: { key } });
    assert.equal(answer.status(), 200, await answer.text());
  }
};

let launched: Browser | undefined;
let filesThatNeedIt = 0;

/** Call it once at the top of a test file. Files of one process share one browser; each visit has a context of its own. */
export const testBrowser = (): TestBrowser => {
  filesThatNeedIt += 1;
  before(async () => {
    if (launched) return;
    const executablePath = findBrowser();
    assert.ok(
      executablePath,
      "there is no Chromium or Chrome on this machine: npm test installs one, or name it with CHROME_PATH",
    );
    launched = await chromium.launch({ executablePath, args: flags, timeout: patience });
  });
  after(async () => {
    filesThatNeedIt -= 1;
    if (filesThatNeedIt === 0) await launched?.close();
  });

  const browser = (): Browser => {
    assert.ok(launched, "the browser has not been started");
    return launched;
  };

  return {
    browser,
    async visit(t, url, { keys = [], secrets = [], expected = [], ...options } = {}) {
      const context = await browser().newContext({ baseURL: url, ...options });
      let watched: Watched | undefined;
      t.after(async () => {
        try {
          await watched?.judge();
        } finally {
          await context.close();
        }
      });
      context.setDefaultTimeout(patience);
      watched = await watchContext(context, { url, secrets: [...secrets, ...keys], expected });
      await signInWith(context, url, keys);
      return { context, page: await context.newPage(), problems: watched.problems };
    },
  };
};
