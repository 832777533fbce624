// halyard flags enable, disable, rollout, describe and update: change an existing flag.
import { difference, memberOf } from "@halyard/core/difference";
import type { Flag, FlagPatch } from "@halyard/sdk/management";
import type { Command } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  connect,
  reasonedCommand,
} from "../../server-connection/connection.ts";
import { type ChangedFlag, changeFlag, type Patch } from "../../server-connection/flag-change.ts";
import { beginChange, type Place } from "../../server-connection/place.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { changesInOneLine, onText } from "../../terminal/flag-text.ts";
import { percentage, type Settings, setting, wholeNumber } from "../../terminal/option-values.ts";
import {
  CommandFailed,
  Proposed,
  print,
  printAside,
  printJson,
  withoutControls,
} from "../../terminal/output.ts";

export interface ChangeOptions extends ConnectionOptions {
  readonly ifVersion?: number;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const flagCommand = (group: Command, name: string): Command =>
  reasonedCommand(group.command(name)).option(
    "--if-version <number>",
    "only if the flag is at this version, which flags get shows",
    wholeNumber(1),
  );

export const shown = ({ flag, version, changed, before }: ChangedFlag, { json }: Place) => ({
  ...flag,
  version,
  changed,
  ...(changed && {
    before: Object.fromEntries(
      difference(before, flag).map(({ member }) => [member, memberOf(before, member)]),
    ),
  }),
  ...json,
});

export const addChangeCommands = (group: Command): void => {
  const enable = flagCommand(group, "enable")
    .description("turn flags on")
    .argument("<flag...>", "the keys of the flags")
    .action((keys: readonly string[], options: ChangeOptions) => turn(keys, true, options));
  withExamples(
    enable,
    "halyard flags enable new-checkout",
    "halyard flags enable new-checkout --if-version 7",
  );
  const disable = flagCommand(group, "disable")
    .description("turn flags off")
    .argument("<flag...>", "the keys of the flags")
    .action((keys: readonly string[], options: ChangeOptions) => turn(keys, false, options));
  withExamples(disable, "halyard flags disable new-checkout new-search");

  const rollout = flagCommand(group, "rollout")
    .description("set the percentage of a rollout flag, and explain the effect")
    .argument("<flag>", "the flag's key")
    .argument("<percentage>", "0 to 100, with at most three decimals", percentage)
    .action(setPercentage);
  withExamples(
    rollout,
    "halyard flags rollout new-checkout 25",
    "halyard flags rollout new-checkout 0.5",
  );

  const describe = flagCommand(group, "describe")
    .description("set or clear the description of a flag")
    .argument("<flag>", "the flag's key")
    .argument("[text]", "the new description")
    .option("--clear", "remove the description")
    .action(setDescription);
  withExamples(
    describe,
    'halyard flags describe new-checkout "The new checkout, for everyone by March"',
    "halyard flags describe new-checkout --clear",
  );

  const update = flagCommand(group, "update")
    .description("change any settings of a flag at once")
    .argument("<flag>", "the flag's key")
    .requiredOption(
      "--set <field=value>",
      "the field and its new value, as JSON or text; can be repeated",
      setting,
    )
    .action(updateFlag);
  withExamples(
    update,
    "halyard flags update new-checkout --set percentage=25 --set enabled=true",
    'halyard flags update new-checkout --set "description=The new checkout"',
  );
};

const turn = async (
  keys: readonly string[],
  enabled: boolean,
  options: ChangeOptions,
): Promise<void> => {
  const connection = connect(options);
  if (keys.length > 1 && options.ifVersion !== undefined) {
    throw new CommandFailed("--if-version is for one flag at a time.", exitCodes.usage);
  }
  const state = enabled ? "on" : "off";
  const place = await beginChange(connection, `Turn ${state} ${keys.join(", ")}`, options.yes);
  if (connection.isPreview && keys.length > 1) {
    const changes = keys.map((flag) => ({ flag, patch: { enabled } }));
    answered(connection, await connection.management.flags.changeTogether(changes));
  }
  const failures: CommandFailed[] = [];
  const outcomes: object[] = [];
  for (const key of keys) {
    try {
      const change = await changeFlag(connection, key, { enabled }, options.ifVersion);
      outcomes.push(shown(change, place));
      if (!options.json) print(turned(change, place));
    } catch (error) {
      if (error instanceof Proposed && keys.length > 1) {
        outcomes.push({ key, proposed: error.request });
        if (!options.json) print(withoutControls(error.message));
        continue;
      }
      const goesOn = error instanceof CommandFailed && error.exitCode === exitCodes.notFound;
      if (keys.length === 1 || !goesOn) throw error;
      failures.push(error);
      outcomes.push({ key, error: error.code, message: error.message });
      if (!options.json) printAside(`halyard: ${error.message}`);
    }
  }
  if (options.json) printJson(outcomes);
  const [first] = failures;
  if (first) {
    throw new CommandFailed(
      `${failures.length} of ${keys.length} flags could not be changed.`,
      first.exitCode,
    );
  }
};

const turned = ({ flag, version, changed }: ChangedFlag, { text: where }: Place): string => {
  const state = flag.enabled ? onText(flag) : "off";
  return `${flag.key} ${changed ? "is now" : "was already"} ${state} ${where} (version ${version}).`;
};

const setPercentage = async (
  key: string,
  wanted: number,
  options: ChangeOptions,
): Promise<void> => {
  const connection = connect(options);
  const patch = { percentage: wanted };
  const { change, place } = await changeConfirmed(connection, `Set ${key} to ${wanted}%`, {
    key,
    patch,
    options,
  });
  if (options.json) return printJson(shown(change, place));
  const { flag, before, version } = change;
  const old = Number(memberOf(before, "percentage") ?? 0);
  const where = `${place.text} (version ${version})`;
  if (!change.changed) print(`${key} was already at ${wanted}% ${where}.`);
  else print(`${key}: ${old}% → ${wanted}% ${where}. ${meaningOf(flag, old, wanted)}`);
  if (!flag.enabled) {
    print(`The flag is off. Turn it on with: ${connection.hint(`flags enable ${key}`)}`);
  }
};

/** Changes one flag, with confirmation in production. */
export const changeConfirmed = async (
  connection: Connection,
  what: string,
  {
    key,
    patch,
    options,
  }: { readonly key: string; readonly patch: Patch; readonly options: ChangeOptions },
): Promise<{ readonly change: ChangedFlag; readonly place: Place }> => {
  const place = await beginChange(connection, what, options.yes);
  return { change: await changeFlag(connection, key, patch, options.ifVersion), place };
};

const sample = 10_000;

/** The effect on users. Inclusion depends only on the flag's key and the user, so it can be computed. */
const meaningOf = (flag: Flag, old: number, wanted: number): string => {
  const count = Number(((Math.abs(wanted - old) * sample) / 100).toFixed(1));
  const many = `${count.toLocaleString("en-US")} ${wanted > old ? "more" : "fewer"}`;
  const rest = wanted > old ? "no user loses it" : "no user gains it";
  const whom = flag.rules === undefined ? "users" : "users that match no rule";
  return `Of ${sample.toLocaleString("en-US")} ${whom}, it reaches about ${many}; ${rest}.`;
};

const setDescription = async (
  key: string,
  text: string | undefined,
  options: ChangeOptions & { readonly clear?: boolean },
): Promise<void> => {
  if ((text === undefined) === (options.clear !== true)) {
    throw new CommandFailed("Pass either a description or --clear.", exitCodes.usage);
  }
  const connection = connect(options);
  const patch = { description: text ?? null };
  const { change, place } = await changeConfirmed(connection, `Change the description of ${key}`, {
    key,
    patch,
    options,
  });
  if (options.json) return printJson(shown(change, place));
  const where = `${place.text} (version ${change.version})`;
  if (!change.changed) print(`${key} already had that description ${where}.`);
  else if (text === undefined) print(`${key} now has no description ${where}.`);
  else print(`${key} has a new description ${where}.`);
};

const updateFlag = async (
  key: string,
  options: ChangeOptions & { readonly set: Settings },
): Promise<void> => {
  const connection = connect(options);
  const patch = options.set as FlagPatch;
  const { change, place } = await changeConfirmed(connection, `Change ${key}`, {
    key,
    patch,
    options,
  });
  if (options.json) return printJson(shown(change, place));
  const { flag, before, version, changed } = change;
  const where = `${place.text} (version ${version})`;
  if (changed) print(`${key}: ${changesInOneLine(before, flag)} ${where}.`);
  else print(`${key} is unchanged ${where}.`);
};
