// halyard flags create and delete.
import type { Flag } from "@halyard/sdk";
import { type Command, Option } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { changeFlag, deleteFlag, readFlag } from "../../server-connection/flag-change.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { reachOf } from "../../terminal/flag-text.ts";
import { percentage, wholeNumber } from "../../terminal/option-values.ts";
import { print, printJson } from "../../terminal/output.ts";

interface CreateOptions extends ConnectionOptions {
  readonly type?: Flag["type"];
  readonly percentage?: number;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly json?: boolean;
}

interface DeleteOptions extends ConnectionOptions {
  readonly yes?: boolean;
  readonly ifVersion?: number;
  readonly json?: boolean;
}

export const addMakeCommands = (group: Command): void => {
  const create = serverCommand(group.command("create"))
    .description("create a flag; it is off unless --enabled is given")
    .argument("<key>", "letters, digits and . _ -, at most 128, a letter or digit first")
    .addOption(
      new Option(
        "--type <type>",
        "on or off for everyone, or for a percentage (boolean unless --percentage is given)",
      ).choices(["boolean", "rollout"]),
    )
    .option("--percentage <number>", "of a rollout: 0 to 100, three decimals at most", percentage)
    .option("--description <text>", "what it is for")
    .option("--enabled", "turn it on at once")
    .action(createFlag);
  withExamples(
    create,
    'halyard flags create new-checkout --percentage 5 --description "The new checkout"',
    "halyard flags create maintenance --enabled",
  );

  const remove = serverCommand(group.command("delete"))
    .description("delete a flag; its history stays")
    .argument("<flag>", "the flag's key")
    .option("-y, --yes", "do not ask")
    .option("--if-version <number>", "only when it is at this version", wholeNumber(1))
    .action(removeFlag);
  withExamples(remove, "halyard flags delete old-banner", "halyard flags delete old-banner --yes");
};

const createFlag = async (key: string, options: CreateOptions): Promise<void> => {
  const connection = connect(options);
  const type = options.type ?? (options.percentage === undefined ? "boolean" : "rollout");
  const made = await connection.management.flags.create({
    key,
    type,
    ...(options.percentage !== undefined && { percentage: options.percentage }),
    ...(options.description !== undefined && { description: options.description }),
  });
  let flag = answered(connection, made);
  let version = made.ok ? made.version : undefined;
  if (options.enabled === true) {
    ({ flag, version } = await changeFlag(connection, key, { enabled: true }, version));
  }
  if (options.json) return printJson({ ...flag, version });
  if (flag.enabled) return print(`Created ${key}: on for ${reachOf(flag)}.`);
  print(`Created ${key}, off. Turn it on for ${reachOf(flag)} with: halyard flags enable ${key}`);
  if (flag.type === "rollout" && flag.percentage === 0) {
    print(`Nobody is reached at 0 %; raise it with: halyard flags rollout ${key} 5`);
  }
};

const removeFlag = async (key: string, options: DeleteOptions): Promise<void> => {
  const connection = connect(options);
  const current = await readFlag(connection, key);
  const { flag } = current;
  const state = flag.enabled ? `on for ${reachOf(flag)}` : "off";
  await confirm(
    `Delete ${key} (${state})? Programs that ask for it get their own default.`,
    options.yes,
  );
  await deleteFlag(connection, current, options.ifVersion);
  if (options.json) return printJson({ key, deleted: true });
  print(`Deleted ${key}. Its history stays: halyard flags history ${key}`);
};
