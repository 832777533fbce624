// npm run screenshots: takes the pictures of the dashboard in docs/images, on a server with believable data.
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser } from "../packages/dashboard/test/support/find-browser.ts";
import { startShownServer } from "./screenshot-data.ts";

const folder = join(import.meta.dirname, "../docs/images");
const largest = 200_000;
const viewport = { width: 1_280, height: 800 };

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Selects what is there when all has been loaded. */
  readonly ready: string;
  readonly scroll?: number;
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
const pages: readonly Shot[] = [
  { name: "flags", path: "/flags", ready: 'a[href$="/flags/new-checkout"]' },
  { name: "flag", path: "/flags/new-checkout", ready: 'svg[aria-label^="Evaluations"]' },
  {
    name: "deliveries",
    path: `/webhooks/${webhookId}?delivery=${deliveryId}`,
    ready: "text=Raw",
    scroll: 260,
  },
];
try {
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      baseURL: server.url,
      viewport,
      colorScheme,
      locale: "en-GB",
      reducedMotion: "reduce",
    });
    for (const key of keys) await context.request.post("/session", { data: { key } });
    await context.addInitScript('sessionStorage.setItem("halyard-environment", "production")');
    const page = await context.newPage();
    for (const { name, path, ready, scroll } of pages) {
      await page.goto(path);
      await page.locator(ready).first().waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      // What the page is about, rather than its head.
      if (scroll !== undefined) await page.evaluate(`window.scrollTo(0, ${scroll})`);
      const file = join(folder, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file });
      const { size } = statSync(file);
      console.log(`${file.slice(folder.length + 1)}: ${Math.round(size / 1_000)} kB`);
      if (size > largest) throw new Error(`${file} is larger than ${largest} bytes.`);
    }
    await context.close();
  }
} finally {
  await browser.close();
  await shown.close();
}
