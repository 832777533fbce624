// halyard diff: compares two environments, files or points in time.
import { type Change, planChanges } from "@halyard/core/plan/plan";
import { Command } from "commander";
import type { FileLists } from "../../flags-file/file-kinds.ts";
import { linesOf } from "../../flags-file/plan/show-plan.ts";
import { listsOf } from "../../flags-file/plan/sides.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { print, printJson } from "../../terminal/output.ts";

interface DiffOptions {
  readonly exitCode?: boolean;
  readonly json?: boolean;
}

const side =
  "a profile, a profile at a past time (production@2h, @2026-11-14T12:00:00Z, or @812 for a revision), or a file that halyard export wrote (with a / or ending in .json, .yaml, .yml)";

export const diffCommand = (): Command =>
  withExamples(
    new Command("diff")
      .description("compare the flags and segments of two environments, times or files")
      .argument("<a>", side)
      .argument("<b>", "the same as for a; + is only in b, - only in a, ~ is different")
      .option("--exit-code", "exit with 7 if they differ")
      .option("--json", "print JSON, for scripts"),
    "halyard diff staging production",
    "halyard diff production@2h production",
    "halyard diff production flags.yaml --exit-code",
  ).action(diff);

const diff = async (a: string, b: string, options: DiffOptions): Promise<void> => {
  const [before, after] = await Promise.all([listsOf(a), listsOf(b)]);
  const { changes, unchanged } = planChanges(before, after, { prune: true });
  const equal = unchanged.flags + unchanged.segments;
  if (options.json) {
    const find = (lists: FileLists, { of, key }: Change) =>
      (of === "segment" ? lists.segments : lists.flags)?.find((each) => each.key === key) ?? null;
    printJson({
      differences: changes.map((change) => ({
        ...(change.of === "segment" && { subject: "segment" }),
        key: change.key,
        a: find(before, change),
        b: find(after, change),
      })),
      equal,
    });
  } else if (changes.length === 0) {
    const { flags, segments } = unchanged;
    const same = `${flags} flags${segments > 0 ? ` and ${segments} segments` : ""}`;
    print(`No difference: ${same} are the same in ${a} and ${b}.`);
  } else {
    print(linesOf(changes, true).join("\n"));
    print(`${changes.length} different, ${equal} the same.`);
  }
  if (changes.length > 0 && options.exitCode) process.exitCode = exitCodes.different;
};
