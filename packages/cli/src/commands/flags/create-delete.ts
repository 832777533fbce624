// halyard flags create and delete.
import { memberOf } from "@halyard/core/difference";
import { type FlagTypeName, flagTypeNames, membersOf, typeOf } from "@halyard/core/flags/registry";
import { type ValueType, valueTypes } from "@halyard/core/flags/variant";
import type { Share } from "@halyard/core/targeting/split";
import type { NewFlag } from "@halyard/sdk/management";
import { type Command, Option } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  connect,
  proposedText,
  reasonedCommand,
} from "../../server-connection/connection.ts";
import { changeFlag, deleteFlag, readFlag } from "../../server-connection/flag-change.ts";
import { beginChange, placeOf } from "../../server-connection/place.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { onText } from "../../terminal/flag-text.ts";
import {
  type NamedValue,
  namedValue,
  percentage,
  type Settings,
  setting,
  texts,
  wholeNumber,
} from "../../terminal/option-values.ts";
import { CommandFailed, Proposed, print, printJson } from "../../terminal/output.ts";
import { shares } from "../../terminal/shares.ts";

interface CreateOptions extends ConnectionOptions {
  readonly type?: FlagTypeName;
  readonly percentage?: number;
  readonly valueType?: ValueType;
  readonly variant?: readonly NamedValue[];
  readonly off?: string;
  readonly otherwise?: string;
  readonly split?: readonly Share[];
  readonly set?: Settings;
  readonly tag?: readonly string[];
  readonly owner?: string;
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

/** The first type that has all of these fields. */
const typeWith = (settings: Settings): FlagTypeName | undefined =>
  flagTypeNames.find((type) => {
    const members = new Set(membersOf(type).map(([name]) => name));
    return Object.keys(settings).every((name) => members.has(name));
  });

export const addCreateCommands = (group: Command): void => {
  const create = reasonedCommand(group.command("create"))
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
      "for a rollout: 0 to 100, with at most three decimals",
      percentage,
    )
    .addOption(
      new Option("--value-type <type>", "for a variant flag: the type of its values").choices(
        valueTypes,
      ),
    )
    .option("--variant <name=value>", "for a variant flag: a value; can be repeated", namedValue)
    .option("--off <variant>", "the variant while the flag is off (default: the first variant)")
    .option("--otherwise <variant>", "the variant if no rule matches (default: same as --off)")
    .option(
      "--split <shares>",
      "shares of users if no rule matches, such as red=25,blue=75",
      shares,
    )
    .option("--set <field=value>", "any other field of its type; can be repeated", setting)
    .option("--description <text>", "what the flag is for")
    .option("--tag <text>", "a tag; can be repeated", texts)
    .option("--owner <text>", "the person or team responsible")
    .option("--enabled", "turn it on immediately")
    .action(createFlag);
  withExamples(
    create,
    'halyard flags create new-checkout --percentage 5 --description "The new checkout"',
    "halyard flags create maintenance --enabled",
    "halyard flags create button-color --type variant --value-type string --variant red=#f00 --variant blue=#00f --split red=50,blue=50",
  );

  const remove = reasonedCommand(group.command("delete"))
    .description("delete a flag; its history is kept")
    .argument("<flag>", "the flag's key")
    .option("--if-version <number>", "only if the flag is at this version", wholeNumber(1))
    .action(removeFlag);
  withExamples(remove, "halyard flags delete old-banner", "halyard flags delete old-banner --yes");
};

const usage = (message: string): CommandFailed => new CommandFailed(message, exitCodes.usage);

const readValue = ({ name, text }: NamedValue, type: ValueType): unknown => {
  if (type === "string") return text;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (type === "number" ? typeof value === "number" : isObject) return value;
  } catch {}
  const mustBe = type === "number" ? "a number" : `a JSON object, such as '{"columns":2}'`;
  throw usage(`The variant "${name}" must be ${mustBe}, not ${text}.`);
};

/** The fields of a variant flag; none if no option applies to one. */
const variantMembers = (options: CreateOptions): Settings => {
  const { valueType, variant = [], off, otherwise, split } = options;
  const given = [valueType, options.variant, off, otherwise, split];
  if (given.every((each) => each === undefined)) return {};
  const [first] = variant;
  if (valueType === undefined || first === undefined) {
    throw usage("A variant flag needs --value-type and at least one --variant name=value.");
  }
  if (otherwise !== undefined && split !== undefined) {
    throw usage("Pass --otherwise or --split, not both.");
  }
  const initial = off ?? first.name;
  return {
    valueType,
    variants: Object.fromEntries(variant.map((each) => [each.name, readValue(each, valueType)])),
    off: initial,
    otherwise: split ?? otherwise ?? initial,
  };
};

const createFlag = async (key: string, options: CreateOptions): Promise<void> => {
  const { tag, owner } = options;
  const settings: Settings = {
    ...options.set,
    ...variantMembers(options),
    ...(options.percentage !== undefined && { percentage: options.percentage }),
  };
  const connection = connect(options);
  const place = await beginChange(connection, `Create ${key}`, options.yes);
  const wanted = {
    key,
    type: options.type ?? typeWith(settings) ?? flagTypeNames[0],
    ...settings,
    ...(options.description !== undefined && { description: options.description }),
    ...(tag !== undefined && { tags: tag }),
    ...(owner !== undefined && { owner }),
  } as NewFlag;
  if (place.proposes && options.enabled === true) return proposeEnabled(connection, wanted);
  const made = await connection.management.flags.create(wanted);
  let flag = answered(connection, made);
  let version = made.ok ? made.version : undefined;
  if (options.enabled === true) {
    ({ flag, version } = await changeFlag(connection, key, { enabled: true }, version));
  }
  if (options.json) return printJson({ ...flag, version, ...place.json });
  if (flag.enabled) return print(`Created ${key} ${place.text}: ${onText(flag)}.`);
  const { hint } = connection;
  print(
    `Created ${key} ${place.text}, off. Turn it ${onText(flag)} with: ${hint(`flags enable ${key}`)}`,
  );
  if (memberOf(flag, "percentage") === 0) {
    print(`At 0%, the flag reaches no users. Raise it with: ${hint(`flags rollout ${key} 5`)}`);
  }
};

/** In one change request, because a flag that does not exist yet can't be turned on by a second one. */
const proposeEnabled = async (
  connection: Connection,
  { key, ...body }: NewFlag,
): Promise<never> => {
  const { reason, management } = connection;
  const of = { kind: "flag", key } as const;
  const result = await management.changeRequests.create({
    operations: [
      { ...of, action: "create", body },
      { ...of, action: "patch", body: { enabled: true } },
    ],
    ...(reason !== undefined && { reason }),
  });
  const request = answered(connection, result);
  throw new Proposed(proposedText(connection, request), request, connection.url);
};

const removeFlag = async (key: string, options: DeleteOptions): Promise<void> => {
  const connection = connect(options);
  const [current, place] = await Promise.all([readFlag(connection, key), placeOf(connection)]);
  const { flag } = current;
  const state = flag.enabled ? onText(flag) : "off";
  await confirm(
    `Delete ${key} (${state}) ${place.text}? Applications that evaluate it will use the default in their code.`,
    options.yes,
  );
  await deleteFlag(connection, current, options.ifVersion);
  if (options.json) return printJson({ key, deleted: true, ...place.json });
  print(
    `Deleted ${key} ${place.text}. Its history is kept: ${connection.hint(`flags history ${key}`)}`,
  );
};
