// Plain flags beside the core of an earlier commit: what targeting costs those who do not use it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pairs } from "../support/in-turns.ts";
import { say } from "../support/report.ts";
import { Child } from "./child.ts";
import type { PlainAsk } from "./plain-engine.ts";

const root = resolve(import.meta.dirname, "../..");

/** The core as it was at the commit. */
const extract = (commit: string, folder: string): void => {
  const packed = spawnSync("git", ["archive", commit, "packages/core"], {
    cwd: root,
    maxBuffer: 2 ** 26,
  });
  const unpacked = spawnSync("tar", ["-x", "-C", folder], { input: packed.stdout });
  if (packed.status !== 0 || unpacked.status !== 0) {
    throw new Error(`git archive ${commit} failed: ${packed.stderr.toString()}`);
  }
};

export const comparePlain = async (rounds: number, milliseconds: number): Promise<void> => {
  const commit = process.env.BENCH_BEFORE;
  if (commit === undefined) {
    say("Plain flags are compared when BENCH_BEFORE names a commit from before targeting.");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const children: Child<PlainAsk>[] = [];
  try {
    extract(commit, folder);
    const [now, before] = [root, folder].map((each) => {
      const child = new Child<PlainAsk>(each, "plain-engine.ts", [each]);
      children.push(child);
      return child;
    }) as [Child<PlainAsk>, Child<PlainAsk>];
    await Promise.all(children.map((child) => child.reply()));
    const compare = pairs(rounds, "now", "before targeting");
    for (const type of ["boolean", "rollout"] as const) {
      const rate = async (child: Child<PlainAsk>) =>
        (await child.ask({ type, milliseconds })) as number;
      await compare(
        `\`evaluate\` of a plain ${type} flag`,
        `plain ${type} beside before`,
        () => rate(now),
        () => rate(before),
      );
    }
  } finally {
    for (const child of children) child.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
