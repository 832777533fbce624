// Runs halyard doctor, and returns its results, one line each.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { commandFile, spawnHalyard } from "../../../server/test/support/halyard-process.ts";
import { newPath } from "./backup-store.ts";
import { runInThread } from "./command-thread.ts";

interface Report {
  readonly healthy: boolean;
  readonly checks: readonly {
    readonly level: string;
    readonly about: string;
    readonly message: string;
    readonly remedy: string | null;
  }[];
}

/** All problems, one line each. */
export const examine = async (args: readonly string[], settings = {}) => {
  const ended = await runInThread(["doctor", "--json", ...args], {
    HALYARD_CONFIG: "/nowhere",
    ...settings,
  });
  assert.equal(ended.stderr, "");
  const report = JSON.parse(ended.stdout) as Report;
  assert.equal(ended.code, report.healthy ? 0 : 1);
  const problems = report.checks.filter(({ level }) => level !== "ok");
  for (const { remedy } of problems) assert.ok(remedy);
  return {
    ...report,
    code: ended.code,
    lines: problems.map(
      ({ level, about, message, remedy }) => `${level} ${about}: ${message} | ${remedy}`,
    ),
  };
};
export const found = (lines: readonly string[], pattern: RegExp) =>
  assert.ok(
    lines.some((line) => pattern.test(line)),
    `${pattern} is not among\n${lines.join("\n")}`,
  );
/** In a folder without a database, so that only the server is checked. */
export const examineAlone = async (args: readonly string[], variables = {}) => {
  const here = newPath();
  mkdirSync(here);
  const ended = await spawnHalyard(
    ["doctor", "--json", ...args],
    { HALYARD_CONFIG: join(here, "none"), ...variables },
    ["/bin/sh", "-c", 'cd "$0" && exec "$@"', here, process.execPath, commandFile],
  ).ended;
  assert.equal(ended.stderr, "");
  const report = JSON.parse(ended.stdout) as Report;
  return report.checks.map(
    ({ level, about, message, remedy }) =>
      `${level} ${about}: ${message}${remedy === null ? "" : ` | ${remedy}`}`,
  );
};
