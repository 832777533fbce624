// halyard diff: what differs between two environments, two files, or one of each.
import { Command } from "commander";
import { planChanges } from "../../flags-file/plan/plan.ts";
import { linesOf } from "../../flags-file/plan/show-plan.ts";
import { flagsOf } from "../../flags-file/plan/sides.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { print, printJson } from "../../terminal/output.ts";

interface DiffOptions {
  readonly exitCode?: boolean;
  readonly json?: boolean;
}

const side =
  "a profile, or a file that halyard export wrote (with a / or ending in .json, .yaml, .yml)";

export const diffCommand = (): Command =>
  withExamples(
    new Command("diff")
      .description("compare the flags of two environments or files")
      .argument("<a>", side)
      .argument("<b>", "the same; + is only in b, - only in a, ~ is different")
      .option("--exit-code", "exit with 7 if they differ")
      .option("--json", "print JSON, for scripts"),
    "halyard diff staging production",
    "halyard diff production flags.yaml --exit-code",
  ).action(diff);

const diff = async (a: string, b: string, options: DiffOptions): Promise<void> => {
  const [before, after] = await Promise.all([flagsOf(a), flagsOf(b)]);
  const { changes, unchanged } = planChanges(before, after, { prune: true });
  if (options.json) {
    const of = (flags: typeof before) => new Map(flags.map((flag) => [flag.key, flag]));
    const [inA, inB] = [of(before), of(after)];
    printJson({
      differences: changes.map(({ key }) => ({
        key,
        a: inA.get(key) ?? null,
        b: inB.get(key) ?? null,
      })),
      equal: unchanged,
    });
  } else if (changes.length === 0) {
    print(`No difference: ${unchanged} flags are the same in ${a} and ${b}.`);
  } else {
    print(linesOf(changes, true).join("\n"));
    print(`${changes.length} different, ${unchanged} the same.`);
  }
  if (changes.length > 0 && options.exitCode) process.exitCode = exitCodes.different;
};
