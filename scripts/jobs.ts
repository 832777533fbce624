// npm run jobs: does what people come to the page for, in a real browser against a real server, and prints what each job takes.
// Name jobs to do only those: npm run jobs -- find replay. "keystrokes" is what a letter costs in a search.
// With --keyboard nobody touches the mouse; a job that cannot be done so fails.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { findBrowser } from "../packages/dashboard/test/support/find-browser.ts";
import { startJobServer } from "./jobs/data.ts";
import { environmentJobs, explainJobs } from "./jobs/environment-jobs.ts";
import { flagJobs } from "./jobs/flag-jobs.ts";
import type { Job } from "./jobs/job.ts";
import { measureKeystrokes } from "./jobs/keystrokes.ts";
import { type Effort, personAt } from "./jobs/person.ts";
import { webhookJobs } from "./jobs/webhook-jobs.ts";

const root = join(import.meta.dirname, "..");
const hasMouse = !process.argv.includes("--keyboard");
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const all: readonly Job[] = [...flagJobs, ...environmentJobs, ...webhookJobs, ...explainJobs];
const isWanted = (name: string): boolean =>
  chosen.length === 0 || chosen.some((word) => name.includes(word));
const jobs = all.filter(({ name }) => isWanted(name));

const say = (line: string): void => console.log(line);
/** A person waits no longer. */
const patience = 60_000;

const executablePath = findBrowser();
if (executablePath === undefined) {
  throw new Error("There is no Chromium or Chrome on this machine.");
}
spawnSync(process.execPath, [join(root, "scripts/build-dashboard.ts")], { stdio: "inherit" });

say("filling a server: 5,000 flags in two environments, an outage of 5,000 deliveries …");
const started = performance.now();
const at = await startJobServer();
say(`filled in ${Math.round((performance.now() - started) / 1_000)} s`);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

/** At the list of flags, signed in. */
const visit = async <T>(environment: string, use: (page: Page) => Promise<T>): Promise<T> => {
  const context = await browser.newContext({
    baseURL: at.server.url,
    viewport: { width: 1_280, height: 800 },
  });
  context.setDefaultTimeout(patience);
  try {
    for (const key of Object.values(at.keys)) {
      await context.request.post("/session", { data: { key } });
    }
    const page = await context.newPage();
    await page.goto(`/environments/${environment}/flags`);
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    await page.locator("#root:not([inert])").waitFor({ state: "attached" });
    return await use(page);
  } finally {
    await context.close();
  }
};

const doJob = ({ environment, work, check }: Job): Promise<Effort> =>
  visit(environment, async (page) => {
    const person = personAt(page, hasMouse);
    try {
      await work(person, at);
    } catch (error) {
      const shown = page.getByRole("dialog").or(page.getByRole("main")).last();
      say(`the page shows: ${await shown.textContent().catch(() => "nothing")}`);
      throw error;
    }
    await check?.(at);
    return person.effort();
  });

const seconds = (value: number): string => value.toFixed(1);
const rows: string[] = [];
let done = 0;
try {
  for (const job of jobs) {
    try {
      const { clicks, keys, typed, person, page } = await doJob(job);
      rows.push(
        `| ${[job.name, clicks, keys, typed, seconds(person), seconds(page), seconds(person + page)].join(" | ")} |`,
      );
      done += 1;
      say(`${job.name}: ${clicks} clicks, ${keys} keys, ${seconds(person + page)} s`);
    } catch (error) {
      process.exitCode = 1;
      rows.push(`| ${job.name} | failed | | | | | |`);
      say(`${job.name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (isWanted("keystrokes")) {
    say("");
    for (const line of await visit("production", measureKeystrokes)) say(line);
  }
} finally {
  await browser.close();
  await at.close();
}
say(
  "\n| job | clicks | keys | characters | person s | page s | seconds |\n| --- | --: | --: | --: | --: | --: | --: |",
);
say(rows.join("\n"));
if (!hasMouse) say(`\nWith the keyboard alone: ${done} of ${jobs.length} jobs done.`);
