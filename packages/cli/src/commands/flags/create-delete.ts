// halyard flags create and delete.
import { memberOf } from "@halyard/core/difference";
import { type FlagTypeName, flagTypeNames, membersOf, typeOf } from "@halyard/core/flags/registry";
import type { NewFlag } from "@halyard/sdk";
import { type Command, Option } from "commander";
import {
  answered,
  type ConnectionOptions,
  changeCommand,
  connect,
} from "../../server-connection/connection.ts";
import { changeFlag, deleteFlag, readFlag } from "../../server-connection/flag-change.ts";
import { beginChange, placeOf } from "../../server-connection/place.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { reachText } from "../../terminal/flag-text.ts";
import { percentage, type Settings, setting, wholeNumber } from "../../terminal/option-values.ts";
import { print, printJson } from "../../terminal/output.ts";

interface CreateOptions extends ConnectionOptions {
  readonly type?: FlagTypeName;
  readonly percentage?: number;
  readonly set?: Settings;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface DeleteOptions extends ConnectionOptions {
  readonly yes?: boolean;
  readonly ifVersion?: number;
  readonly json?: boolean;
}

const summaries = flagTypeNames.map((name) => `${name} ${typeOf(name).summary}`).join(", ");

/** The first type that has all of these members. */
const typeWith = (settings: Settings): FlagTypeName | undefined =>
  flagTypeNames.find((type) => {
    const members = new Set(membersOf(type).map(([name]) => name));
    return Object.keys(settings).every((name) => members.has(name));
  });

export const addCreateCommands = (group: Command): void => {
  const create = changeCommand(group.command("create"))
    .description("create a flag; it is off unless --enabled is given")
    .argument("<key>", "1 to 128 letters, digits and . _ -, starting with a letter or digit")
    .addOption(
      new Option(
        "--type <type>",
        `${summaries} (default: the first type with the settings you pass)`,
      ).choices(flagTypeNames),
    )
    .option(
      "--percentage <number>",
      "of a rollout: 0 to 100, with at most three decimals",
      percentage,
    )
    .option("--set <member=value>", "any other setting of its type; may be repeated", setting)
    .option("--description <text>", "what it is for")
    .option("--enabled", "turn it on immediately")
    .action(createFlag);
  withExamples(
    create,
    'halyard flags create new-checkout --percentage 5 --description "The new checkout"',
    "halyard flags create maintenance --enabled",
  );

  const remove = changeCommand(group.command("delete"))
    .description("delete a flag; its history stays")
    .argument("<flag>", "the flag's key")
    .option("--if-version <number>", "only if it is at this version", wholeNumber(1))
    .action(removeFlag);
  withExamples(remove, "halyard flags delete old-banner", "halyard flags delete old-banner --yes");
};

const createFlag = async (key: string, options: CreateOptions): Promise<void> => {
  const connection = connect(options);
  const settings: Settings = {
    ...options.set,
    ...(options.percentage !== undefined && { percentage: options.percentage }),
  };
  const place = await beginChange(connection, `Create ${key}`, options.yes);
  const made = await connection.management.flags.create({
    key,
    type: options.type ?? typeWith(settings) ?? flagTypeNames[0],
    ...settings,
    ...(options.description !== undefined && { description: options.description }),
  } as NewFlag);
  let flag = answered(connection, made);
  let version = made.ok ? made.version : undefined;
  if (options.enabled === true) {
    ({ flag, version } = await changeFlag(connection, key, { enabled: true }, version));
  }
  if (options.json) return printJson({ ...flag, version, ...place.json });
  if (flag.enabled) return print(`Created ${key} ${place.text}: on for ${reachText(flag)}.`);
  const { hint } = connection;
  print(
    `Created ${key} ${place.text}, off. Turn it on for ${reachText(flag)} with: ${hint(`flags enable ${key}`)}`,
  );
  if (memberOf(flag, "percentage") === 0) {
    print(`At 0 % it reaches nobody; raise it with: ${hint(`flags rollout ${key} 5`)}`);
  }
};

const removeFlag = async (key: string, options: DeleteOptions): Promise<void> => {
  const connection = connect(options);
  const [current, place] = await Promise.all([readFlag(connection, key), placeOf(connection)]);
  const { flag } = current;
  const state = flag.enabled ? `on for ${reachText(flag)}` : "off";
  await confirm(
    `Delete ${key} (${state}) ${place.text}? Programs that evaluate it get the default in their code.`,
    options.yes,
  );
  await deleteFlag(connection, current, options.ifVersion);
  if (options.json) return printJson({ key, deleted: true, ...place.json });
  print(
    `Deleted ${key} ${place.text}. Its history stays: ${connection.hint(`flags history ${key}`)}`,
  );
};
