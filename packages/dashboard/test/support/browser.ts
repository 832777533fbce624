// A real browser for the tests of a file, and for each visit a context that is watched for what must never happen.
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
  /** The browser has never seen the server, and forgets this visit: the test counts what is loaded, or sets the clock. */
  readonly isNew?: boolean;
}

export interface TestBrowser {
  /**
   * A new page for the server at this address; it is judged and closed when the test ends. Visits that follow one another
   * share a context: of an earlier one, only files that the browser has cached are left.
   */
  visit(t: TestContext, url: string, options?: VisitOptions): Promise<Visit>;
  /** A context that nobody watches; it is closed when the test ends. */
  newContext(t: TestContext, options?: BrowserContextOptions): Promise<BrowserContext>;
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
  // No page lives long enough to earn back what it costs to optimise its code, or to draw and clean up on other threads.
  "--js-flags=--no-opt --no-maglev --single-threaded-gc",
  "--num-raster-threads=1",
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

interface Kept {
  readonly context: BrowserContext;
  /** Keeps the process that has the application compiled. */
  readonly blank: Page;
}

/** What tests and their watch listen to. Playwright itself listens to the end of a context. */
const heard = ["console", "page", "request", "response", "weberror"] as const;

/** Back to what a new context is, but for cached files. */
const reset = async ({ context, blank }: Kept, url: string): Promise<void> => {
  for (const event of heard) context.removeAllListeners(event);
  await context.unrouteAll({ behavior: "ignoreErrors" });
  for (const page of context.pages()) if (page !== blank) await page.close();
  await context.clearCookies();
  await context.clearPermissions();
  const devtools = await context.newCDPSession(blank);
  const { origin } = new URL(url);
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await devtools.detach();
};

let launched: Browser | undefined;
let filesThatNeedIt = 0;

/** Call it once at the top of a test file. Files of one process share one browser; each visit has a context of its own. */
export const testBrowser = (): TestBrowser => {
  filesThatNeedIt += 1;
  const idle: (Kept & { readonly kind: string })[] = [];
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
    for (const { context } of idle) await context.close();
    filesThatNeedIt -= 1;
    if (filesThatNeedIt === 0) await launched?.close();
  });

  const newContext = async (how: BrowserContextOptions): Promise<BrowserContext> => {
    assert.ok(launched, "the browser has not been started");
    const context = await launched.newContext(how);
    context.setDefaultTimeout(patience);
    return context;
  };

  const open = async (how: BrowserContextOptions): Promise<Kept> => {
    const context = await newContext(how);
    return { context, blank: await context.newPage() };
  };

  return {
    async newContext(t, options = {}) {
      const context = await newContext(options);
      t.after(() => context.close());
      return context;
    },

    async visit(
      t,
      url,
      { keys = [], secrets = [], expected = [], isNew = false, ...options } = {},
    ) {
      // Nothing that is tested moves, and every frame costs.
      const how = { baseURL: url, reducedMotion: "reduce", ...options } as const;
      const kind = JSON.stringify(how);
      const at = isNew ? -1 : idle.findIndex((each) => each.kind === kind);
      const [{ context, blank } = await open(how)] = at < 0 ? [] : idle.splice(at, 1);
      let watched: Watched | undefined;
      t.after(async () => {
        try {
          await watched?.judge();
          if (isNew) return await context.close();
          await reset({ context, blank }, url);
          idle.push({ kind, context, blank });
        } catch (error) {
          await context.close();
          throw error;
        }
      });
      watched = await watchContext(context, { url, secrets: [...secrets, ...keys], expected });
      assert.deepEqual(await context.cookies(), [], "of an earlier visit");
      await signInWith(context, url, keys);
      return { context, page: await context.newPage(), problems: watched.problems };
    },
  };
};
