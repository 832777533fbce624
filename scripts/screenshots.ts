// npm run screenshots: takes the pictures of the dashboard in docs/images, on a server with believable data.
// npm run screenshots -- FOLDER takes every page on screens from 320 to 1920 pixels, light and dark, to look at.
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { findBrowser } from "../packages/dashboard/test/support/find-browser.ts";
import { startShownServer } from "./screenshot-data.ts";
import { addShownPeople } from "./screenshot-people.ts";
import { startShownPrograms } from "./screenshot-programs.ts";

const [looked] = process.argv.slice(2);
const folder = looked ?? join(import.meta.dirname, "../docs/images");
const largest = 200_000;
const schemes = ["light", "dark"] as const;
type Scheme = (typeof schemes)[number];

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Selects what is there when all has been loaded. */
  readonly ready: string;
  /** What a person does before. */
  readonly act?: (page: Page) => Promise<unknown>;
  /** What the page is about, rather than its head. */
  readonly top?: string;
  /** Those that the documentation has. */
  readonly shown?: readonly Scheme[];
}

const executablePath = findBrowser();
if (executablePath === undefined)
  throw new Error("There is no Chromium or Chrome on this machine.");
spawnSync(process.execPath, [join(import.meta.dirname, "build-dashboard.ts")], {
  stdio: "inherit",
});
mkdirSync(folder, { recursive: true });

const shown = await startShownServer();
const { server, keys, webhookId, deliveryId } = shown;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

const targeted = "/flags/new-invoices";
const tryIt = async (page: Page) => {
  const section = page.getByRole("region", { name: "Try it" });
  await section.getByLabel("targetingKey").fill("user-4711");
  for (const [index, value] of ["NL", "ada@example.com", "pro"].entries()) {
    await section.getByLabel(`Value of row ${index + 1}`, { exact: true }).fill(value);
  }
  await section.getByRole("button", { name: "Evaluate" }).click();
  await section.getByText("Gives").waitFor();
};
const shots: readonly Shot[] = [
  { name: "flags", path: "/flags", ready: ".flag-row-key", shown: schemes },
  {
    name: "flag",
    path: "/flags/new-checkout",
    ready: 'svg[aria-label^="Evaluations"]',
    shown: schemes,
  },
  {
    name: "targeting",
    path: targeted,
    ready: ".rule-toggle",
    act: (page) => page.locator(".rule-toggle").nth(1).click(),
    top: ".section:has(.rules)",
    shown: schemes,
  },
  {
    name: "try-it",
    path: targeted,
    ready: ".try-row",
    act: tryIt,
    top: ".section:has(.try-context)",
    shown: ["light"],
  },
  { name: "compare", path: "/compare?differs=any", ready: ".compare-cell", shown: ["light"] },
  { name: "history", path: "/history", ready: "ol.history > li", shown: ["light"] },
  { name: "segments", path: "/segments", ready: 'a[href$="/segments/beta-testers"]' },
  { name: "segment", path: "/segments/embargoed", ready: "text=new-invoices" },
  {
    name: "palette",
    path: "/flags",
    ready: ".flag-row-key",
    act: async (page) => {
      await page.getByRole("button", { name: "Go to…" }).click();
      await page.getByRole("combobox", { name: "Flag, page, environment" }).fill("chekcout");
      await page.getByRole("listbox", { name: "Results" }).getByRole("option").first().waitFor();
    },
  },
  {
    name: "deliveries",
    path: `/webhooks/${webhookId}?delivery=${deliveryId}`,
    ready: "text=Raw",
    act: (page) => page.evaluate("window.scrollTo(0, 260)"),
    shown: schemes,
  },
];

/** Taken while they run: one that lags would be told of with every change. */
const shotsOfPrograms: readonly Shot[] = [
  {
    name: "programs",
    path: "/programs",
    ready: ".program-row:has-text('behind')",
    shown: ["light"],
  },
];

/** Once there are people, and production is protected. */
const shotsOfPeople = (requestId: string): readonly Shot[] => [
  { name: "people", path: "/people", ready: ".people-table tbody tr", shown: ["light"] },
  {
    name: "change-request",
    path: `/change-requests/${requestId}`,
    ready: "text=Approve",
    shown: ["light"],
  },
];

const take = async (page: Page, shot: Shot, file: string): Promise<void> => {
  const { path, ready, act, top } = shot;
  await page.goto(path);
  await page.locator(ready).first().waitFor();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await act?.(page);
  if (top !== undefined) {
    await page
      .locator(top)
      .first()
      .evaluate((element) => {
        element.scrollIntoView({ block: "start" });
      });
    await page.evaluate("window.scrollBy(0, -64)");
  }
  await page.screenshot({ path: file });
};

const visit = async (
  colorScheme: Scheme,
  width: number,
  signIn: (context: BrowserContext) => Promise<unknown>,
  use: (page: Page) => Promise<void>,
): Promise<void> => {
  const context: BrowserContext = await browser.newContext({
    baseURL: server.url,
    viewport: { width, height: 800 },
    colorScheme,
    locale: "en-GB",
    reducedMotion: "reduce",
  });
  await signIn(context);
  await context.addInitScript('sessionStorage.setItem("halyard-environment", "production")');
  await use(await context.newPage());
  await context.close();
};

const withKeys = async (context: BrowserContext) => {
  for (const key of keys) await context.request.post("/session", { data: { key } });
};

const takeAll = async (
  wanted: readonly Shot[],
  signIn: (context: BrowserContext) => Promise<unknown>,
): Promise<void> => {
  for (const width of looked === undefined ? [1_280] : [320, 390, 768, 1_280, 1_920]) {
    for (const scheme of schemes) {
      await visit(scheme, width, signIn, async (page) => {
        for (const shot of wanted) {
          if (looked === undefined && shot.shown?.includes(scheme) !== true) continue;
          const name = `${shot.name}-${scheme}${looked === undefined ? "" : `-${width}`}.png`;
          const file = join(folder, name);
          await take(page, shot, file);
          const { size } = statSync(file);
          console.log(`${name}: ${Math.round(size / 1_000)} kB`);
          if (looked === undefined && size > largest)
            throw new Error(`${file} is larger than ${largest} bytes.`);
        }
      });
    }
  }
};

try {
  await takeAll(shots, withKeys);
  const programs = await startShownPrograms(server, keys[0] ?? "");
  await takeAll(shotsOfPrograms, withKeys);
  await Promise.all(programs.map((program) => program.close()));
  const { requestId, cookie } = await addShownPeople(server);
  const [name = "", value = ""] = cookie.split("=");
  await takeAll(shotsOfPeople(requestId), (context) =>
    context.addCookies([{ name, value, url: server.url }]),
  );
} finally {
  await browser.close();
  await shown.close();
}
