// halyard promote: copies flags from one environment to another.
import {
  type Flag,
  flagTypeNames,
  ownMembersOf,
  targetingMembersOf,
} from "@halyard/core/flags/registry";
import { namedSegments } from "@halyard/core/targeting/references";
import type { Segment } from "@halyard/core/targeting/segment";
import { Command, InvalidArgumentError, Option } from "commander";
import { type FileLists, fetchLists } from "../../flags-file/file-kinds.ts";
import { type ExecuteOptions, execute } from "../../flags-file/plan/execute.ts";
import { isSameSegment, planChanges } from "../../flags-file/plan/plan.ts";
import { connectBy, reasonOption } from "../../server-connection/connection.ts";
import { placeOf } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, printAside } from "../../terminal/output.ts";

interface PromoteOptions extends ExecuteOptions {
  readonly all?: boolean;
  readonly prune?: boolean;
  readonly fields: readonly string[];
  readonly reason?: string;
}

/** Of flags of all types, without what is fixed at creation. */
const allMembers = new Set([
  "enabled",
  ...flagTypeNames.flatMap(ownMembersOf).flatMap(([name, { isFixed }]) => (isFixed ? [] : [name])),
  "description",
  ...targetingMembersOf(flagTypeNames[0] ?? "").map(([name]) => name),
]);
const memberNames = [...allMembers];

const readFields = (text: string): string[] => {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => allMembers.has(name))) return names;
  throw new InvalidArgumentError(`Allowed are ${memberNames.join(", ")}.`);
};

export const promoteCommand = (): Command =>
  withExamples(
    new Command("promote")
      .description("copy flags from one environment to another; asks at a terminal")
      .argument("<a>", "the profile to copy from")
      .argument("<b>", "the profile to copy to")
      .argument("[key...]", "the flags; or --all")
      .option("--all", "all flags and segments of a")
      .addOption(
        new Option("--fields <names>", `only these of ${memberNames.join(",")}`)
          .argParser(readFields)
          .default(memberNames, "all of them"),
      )
      .option("--prune", "delete the chosen flags in b that are not in a")
      .option("--dry-run", "show what would change without changing it")
      .option("--exit-code", "with --dry-run: exit with 7 if something would change")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(reasonOption())
      .option("--json", "print JSON, for scripts"),
    "halyard promote staging production new-checkout",
    "halyard promote staging production --all --fields description --dry-run",
  ).action(promote);

const refuseBadChoice = (a: string, b: string, keys: readonly string[], all: boolean): void => {
  const complaint =
    all && keys.length > 0
      ? "Name the flags or use --all, not both."
      : !all && keys.length === 0
        ? "Name the flags by their keys, or use --all."
        : a === b
          ? "The two profiles are the same."
          : undefined;
  if (complaint !== undefined) throw new CommandFailed(complaint, exitCodes.usage);
};

/** Every named flag must exist in a; with --prune, in a or b. */
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
  const chosen = new Set(keys);
  const select = (flags: readonly Flag[]) =>
    all ? flags : flags.filter(({ key }) => chosen.has(key));
  const flags = select(there.flags);
  const [target, current] = segmentsFor(flags, all, fields, [there, here]);
  const plan = planChanges(
    { ...current, flags: select(here.flags) },
    { ...target, flags },
    { prune, members: fields, keepSegments: !all },
  );
  if (!options.json && !all) noteOtherSegments(target, current, b);
  await execute({ connection, place, plan, options, doing: "Promoting", asks: true });
};

/** The segments that come along: all with --all, else those that the chosen flags name. Without their rules none. */
const segmentsFor = (
  flags: readonly Flag[],
  all: boolean,
  fields: readonly string[],
  lists: readonly [FileLists, FileLists],
): readonly [FileLists, FileLists] => {
  const named = new Set(flags.flatMap(namedSegments).map(({ key }) => key));
  const isTaken = ({ key }: Segment) => fields.includes("rules") && (all || named.has(key));
  const taken = ({ segments = [] }: FileLists): FileLists => ({
    flags: [],
    segments: segments.filter(isTaken),
  });
  return [taken(lists[0]), taken(lists[1])];
};

/** A segment may be named by other flags there, so one that is there already stays as it is. */
const noteOtherSegments = (target: FileLists, current: FileLists, where: string): void => {
  const there = new Map(current.segments?.map((segment) => [segment.key, segment]));
  const other = (target.segments ?? []).filter((segment) => {
    const known = there.get(segment.key);
    return known !== undefined && !isSameSegment(known, segment);
  });
  if (other.length === 0) return;
  const names = other.map(({ key }) => key).join(", ");
  printAside(
    `${other.length === 1 ? `The segment ${names} is` : `The segments ${names} are`} different in ${where} and not changed: --all promotes segments too.`,
  );
};
