// halyard rollout: counts the targeting keys of a list that a rollout includes, now and at another percentage.
import { readFileSync } from "node:fs";
import { isInRollout } from "@halyard/core/bucket";
import { memberOf } from "@halyard/core/difference";
import { typesWith } from "@halyard/core/flags/registry";
import { isPercentage, thousandthsOf } from "@halyard/core/percentage";
import { Command, Option } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { percentage as toPercentage } from "../../terminal/option-values.ts";
import { CommandFailed, print, printJson } from "../../terminal/output.ts";

const lists = ["in", "out", "gain", "lose"] as const;

interface RolloutOptions extends ConnectionOptions {
  readonly sample: string;
  readonly to?: number;
  readonly list?: (typeof lists)[number];
  readonly json?: boolean;
}

export const rolloutCommand = (): Command => {
  const command = serverCommand(new Command("rollout"), "a server")
    .description("count the users of a list that a rollout includes, now and at another percentage")
    .argument("<flag>", "the flag's key")
    .requiredOption("--sample <file>", "targeting keys, one per line; - reads standard input")
    .option(
      "--to <percentage>",
      "compare with this percentage, without changing the flag",
      toPercentage,
    )
    .addOption(
      new Option("--list <which>", "print only these targeting keys, one per line").choices(lists),
    )
    .addHelpText(
      "after",
      `
Whether a user is included depends only on the flag's key, or its bucketSeed, and the targeting key, or the attribute of its
bucketBy: raising the percentage removes no users, and lowering it adds none. This command changes nothing; halyard flags
rollout does.`,
    )
    .action(rollout);
  return withExamples(
    command,
    "halyard rollout new-checkout --sample users.txt",
    "halyard rollout new-checkout --sample users.txt --to 50 --list gain",
  );
};

const rollout = async (key: string, options: RolloutOptions): Promise<void> => {
  const { to } = options;
  if (to === undefined && (options.list === "gain" || options.list === "lose")) {
    throw new CommandFailed(
      `--list ${options.list} needs --to: the percentage to compare with.`,
      exitCodes.usage,
    );
  }
  const sample = readSample(options.sample);
  const connection = connect(options);
  const flag = answered(connection, await connection.management.flags.get(key));
  const percentage = memberOf(flag, "percentage");
  if (!isPercentage(percentage)) {
    throw new CommandFailed(
      `"${key}" is a ${flag.type} flag, which has no percentage. Only flags of type ${typesWith("percentage").join(", ")} have one.`,
    );
  }
  const { bucketSeed = key, rules, requires } = flag;
  const reached = (targetingKey: string, at: number) =>
    isInRollout(bucketSeed, targetingKey, thousandthsOf(at));
  const before = sample.map((who) => ({ who, is: reached(who, percentage) }));
  const groups: Record<(typeof lists)[number], string[]> = { in: [], out: [], gain: [], lose: [] };
  for (const { who, is } of before) {
    groups[is ? "in" : "out"].push(who);
    const will = to === undefined ? is : reached(who, to);
    if (will !== is) groups[will ? "gain" : "lose"].push(who);
  }
  if (options.list) {
    const chosen = groups[options.list];
    if (options.json) printJson(chosen);
    else if (chosen.length > 0) print(chosen.join("\n"));
    return;
  }
  if (options.json) {
    const { in: isIn, out, gain, lose } = groups;
    printJson({
      key,
      enabled: flag.enabled,
      percentage,
      sample: sample.length,
      in: isIn.length,
      out: out.length,
      ...(to !== undefined && { to, gain: gain.length, lose: lose.length }),
    });
    return;
  }
  const share = (count: number) =>
    `${count} of ${sample.length} (${((100 * count) / sample.length).toFixed(1)}%)`;
  print(
    `${key} is at ${percentage}%${flag.enabled ? "" : ", and disabled: no users get it until it is enabled"}.`,
  );
  if (rules !== undefined || requires !== undefined) {
    print("Its rules and prerequisites decide first. This command ignores them.");
  }
  print(`  in   ${share(groups.in.length)}`);
  print(`  out  ${share(groups.out.length)}`);
  if (to === undefined) return;
  const lost = groups.lose.length;
  print(`At ${to}%:`);
  print(`  ${share(groups.gain.length)} would be added`);
  print(`  ${lost === 0 ? "none" : share(lost)} would be removed`);
};

/** The distinct lines, without empty ones. */
const readSample = (file: string): string[] => {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandFailed(
      `The sample ${file === "-" ? "on standard input" : file} cannot be read (${error instanceof Error ? error.message : String(error)}).`,
    );
  }
  const keys = new Set(text.split(/\r?\n/).filter((line) => line !== ""));
  if (keys.size === 0)
    throw new CommandFailed("The sample is empty: put one targeting key on each line.");
  return [...keys];
};
