// Finds the Chromium or Chrome of this machine, or brings one.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { chromium } from "playwright-core";

const commands = [
  // The same engine without the browser around it, which takes most of the time of a short visit.
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/snap/bin/chromium",
];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Its path; undefined when there is none. CHROME_PATH comes first. */
export const findBrowser = (): string | undefined => {
  const given = process.env.CHROME_PATH;
  if (given) return given;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const own = chromium.executablePath();
  return [
    ...commands.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...places,
    ...(own === "" ? [] : [own]),
  ].find(isProgram);
};

/** The last line of what a program said, for a sentence about its failure. */
const run = (command: string, ...args: string[]): string | undefined => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: 600_000,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status === 0) return undefined;
  const said = `${stdout}\n${stderr}`.trim().split("\n").at(-1) ?? "";
  return `${[command, ...args].join(" ")}: ${error?.message ?? said}`;
};

/** Debian's package as root, otherwise Playwright's own browser; gives why neither could be had. */
const install = (): string | undefined => {
  const isDebian = existsSync("/usr/bin/apt-get") && process.getuid?.() === 0;
  const problems: string[] = [];
  if (isDebian) {
    // When the lists cannot be fetched, those that are there may do.
    run("apt-get", "update");
    for (const name of ["chromium-headless-shell", "chromium"]) {
      const failed = run("apt-get", "install", "--yes", "--no-install-recommends", name);
      if (failed === undefined && findBrowser() !== undefined) return undefined;
      problems.push(failed ?? `the package ${name} brings no browser`);
    }
  }
  const manifest = createRequire(import.meta.url).resolve("playwright-core/package.json");
  const failed = run(process.execPath, join(dirname(manifest), "cli.js"), "install", "chromium");
  if (failed === undefined && findBrowser() !== undefined) return undefined;
  return [...problems, failed ?? "Playwright's browser is not where it should be"].join("; ");
};

export interface HadBrowser {
  readonly path: string | undefined;
  /** What there was to do, in one sentence. */
  readonly said: string;
}

/** To be called once, before the tests that need it. */
export const haveBrowser = (): HadBrowser => {
  const found = findBrowser();
  if (found !== undefined) return { path: found, said: `found ${found}` };
  const problem = install();
  const path = findBrowser();
  return path === undefined
    ? {
        path,
        said: `there is no Chromium or Chrome on this machine and none could be installed (${problem}): install one, or name it with CHROME_PATH`,
      }
    : { path, said: `installed ${path}` };
};
