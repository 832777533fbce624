// Watches all pages of a browser context for what must never happen in the dashboard.
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";

export interface Watching {
  /** Where the dashboard is served: nothing else may be asked for. */
  readonly url: string;
  readonly secrets: readonly string[];
  readonly expected: readonly RegExp[];
}

export interface Watched {
  readonly problems: readonly string[];
  /** Looks at what the pages have stored, and fails when anything was wrong since the beginning. */
  judge(): Promise<void>;
}

/** API keys and webhook secrets, whichever they are. */
const secretShapes = [/hal_[0-9a-f]{8,}_[\w-]{20,}/, /whsec_[\w+/=]{8,}/];

/** The browser's own words about an answer that the page deals with. */
const answeredRefusal = /^Failed to load resource: the server responded with a status of 4\d\d/;

const inPage = () => {
  document.addEventListener("securitypolicyviolation", (event) => {
    console.error(
      `Content-Security-Policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
    );
  });
};

/** Contexts whose pages do; it cannot be undone. */
const reporting = new WeakSet<BrowserContext>();

const storedIn = (page: Page): Promise<string> =>
  page.evaluate(() =>
    // The browser's own page about an address that does not answer has no storage.
    location.protocol.startsWith("http")
      ? JSON.stringify({
          local: Object.entries(localStorage),
          session: Object.entries(sessionStorage),
          cookie: document.cookie,
        })
      : "",
  );

export const watchContext = async (
  context: BrowserContext,
  { url, secrets, expected }: Watching,
): Promise<Watched> => {
  const problems: string[] = [];
  const report = (problem: string): void => {
    if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem);
  };
  const holdsSecret = (text: string): boolean =>
    secrets.some((secret) => text.includes(secret) || text.includes(encodeURIComponent(secret))) ||
    secretShapes.some((shape) => shape.test(text));

  if (!reporting.has(context)) await context.addInitScript(inPage);
  reporting.add(context);
  context.on("weberror", (error) => report(`an error in the page: ${error.error().message}`));
  context.on("console", (message) => {
    const text = message.text();
    if (holdsSecret(text)) report(`a secret in the console: ${text}`);
    const isBad = message.type() === "error" || /Content-?Security-?Policy/i.test(text);
    if (isBad && !answeredRefusal.test(text)) report(`in the console: ${text}`);
  });
  context.on("request", (request) => {
    const asked = request.url();
    if (holdsSecret(asked)) report(`a secret in an address: ${asked}`);
    if (/^(data|blob|about):/.test(asked)) return;
    if (new URL(asked).origin !== new URL(url).origin) report(`a request elsewhere: ${asked}`);
  });
  context.on("response", (response) => {
    const { pathname } = new URL(response.url());
    const isFile = !/^\/(api|session)(\/|$)/.test(pathname);
    if (response.status() >= 400 && isFile) report(`${response.status()} for ${response.url()}`);
    if (response.status() >= 500) report(`${response.status()} for ${response.url()}`);
  });
  context.on("page", (page) => {
    page.on("framenavigated", (frame) => {
      if (holdsSecret(frame.url())) report(`a secret in the page's address: ${frame.url()}`);
    });
  });

  return {
    problems,
    async judge() {
      const answer = await context.request.get(`${url}/session`);
      const token = answer.ok() ? ((await answer.json()) as { csrf: string }).csrf : undefined;
      for (const page of context.pages()) {
        if (new URL(page.url(), url).origin !== new URL(url).origin) continue;
        const stored = await storedIn(page);
        if (holdsSecret(stored)) report(`a secret in storage: ${stored}`);
        if (token !== undefined && stored.includes(token))
          report(`the token in storage: ${stored}`);
        if (/halyard_session/.test(stored)) report(`the session is open to scripts: ${stored}`);
      }
      assert.deepEqual(problems, [], "what must never happen in a page");
    },
  };
};
