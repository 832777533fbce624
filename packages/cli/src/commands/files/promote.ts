// halyard promote: copies flags from one environment to another.
import type { Flag } from "@halyard/core/flags/registry";
import { copiedMembers, planPromotion } from "@halyard/core/plan/promotion";
import { Command, InvalidArgumentError, Option } from "commander";
import { fetchLists } from "../../flags-file/file-kinds.ts";
import { type ExecuteOptions, execute } from "../../flags-file/plan/execute.ts";
import {
  bypassOption,
  confirmFlipsOption,
  connectBy,
  previewOption,
  reasonOption,
} from "../../server-connection/connection.ts";
import { placeOf } from "../../server-connection/place.ts";
import { waitable } from "../../server-connection/wait.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, printAside } from "../../terminal/output.ts";

interface PromoteOptions extends ExecuteOptions {
  readonly all?: boolean;
  readonly prune?: boolean;
  readonly fields: readonly string[];
  readonly reason?: string;
  readonly bypass?: boolean;
  readonly confirmFlips?: number;
}

const readFields = (text: string): string[] => {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => copiedMembers.includes(name))) return names;
  throw new InvalidArgumentError(`Allowed are ${copiedMembers.join(", ")}.`);
};

export const promoteCommand = (): Command =>
  withExamples(
    waitable(new Command("promote"), ({ args: [, b = ""] }) => connectBy(b))
      .description("copy flags from one environment to another, after confirmation")
      .argument("<a>", "the profile to copy from")
      .argument("<b>", "the profile to copy to")
      .argument("[key...]", "the keys of the flags; or pass --all")
      .option("--all", "copy all flags and segments of a")
      .addOption(
        new Option("--fields <names>", `copy only these fields out of ${copiedMembers.join(",")}`)
          .argParser(readFields)
          .default(copiedMembers, "all of them"),
      )
      .option("--prune", "delete the selected flags in b that are not in a")
      .option("--dry-run", "show what would change without changing it")
      .option("--exit-code", "with --dry-run: exit with 7 if something would change")
      .option("-y, --yes", "skip confirmation")
      .addOption(previewOption())
      .addOption(reasonOption())
      .addOption(bypassOption())
      .addOption(confirmFlipsOption())
      .option("--json", "print JSON, for scripts"),
    "halyard promote staging production new-checkout",
    "halyard promote staging production --all --fields description --dry-run",
  ).action(promote);

const refuseBadChoice = (a: string, b: string, keys: readonly string[], all: boolean): void => {
  const complaint =
    all && keys.length > 0
      ? "Name the flags or use --all, not both."
      : !all && keys.length === 0
        ? "Name the flags to copy, or use --all."
        : a === b
          ? "The two profiles are the same."
          : undefined;
  if (complaint !== undefined) throw new CommandFailed(complaint, exitCodes.usage);
};

/** Every named flag must exist in a, or with --prune in a or b. */
const refuseUnknown = (
  keys: readonly string[],
  places: readonly (readonly Flag[])[],
  where: string,
): void => {
  const known = new Set(places.flatMap((flags) => flags.map(({ key }) => key)));
  const unknown = keys.filter((key) => !known.has(key));
  if (unknown.length === 0) return;
  throw new CommandFailed(
    `There is no flag ${unknown.map((key) => `"${key}"`).join(", ")} in ${where}; nothing was changed.`,
    exitCodes.notFound,
  );
};

const promote = async (
  a: string,
  b: string,
  keys: readonly string[],
  options: PromoteOptions,
): Promise<void> => {
  const { all = false, prune = false, fields } = options;
  refuseBadChoice(a, b, keys, all);
  const source = connectBy(a);
  const connection = connectBy(b, options);
  const [there, here, place] = await Promise.all([
    fetchLists(source),
    fetchLists(connection),
    placeOf(connection),
  ]);
  refuseUnknown(
    keys,
    prune ? [there.flags, here.flags] : [there.flags],
    prune ? `${a} or ${b}` : a,
  );
  const plan = planPromotion(there, here, {
    keys: all ? undefined : new Set(keys),
    members: fields,
    prune,
  });
  if (!options.json) noteOtherSegments(plan.otherSegments, b);
  await execute({ connection, place, plan, options, doing: "Promoting", confirms: true });
};

const noteOtherSegments = (keys: readonly string[], where: string): void => {
  if (keys.length === 0) return;
  const names = keys.join(", ");
  printAside(
    `${keys.length === 1 ? `The segment ${names} is` : `The segments ${names} are`} different in ${where} and not changed. Use --all to promote segments too.`,
  );
};
