// halyard segments create, update, add, remove and delete.
import { readFileSync } from "node:fs";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import { changeMembers, type MembersChange, partsOf } from "@halyard/sdk/segment-members";
import type { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  reasonedCommand,
} from "../../server-connection/connection.ts";
import { beginChange, type Place, placeOf } from "../../server-connection/place.ts";
import { confirm } from "../../terminal/ask.ts";
import { allOf, conditionHelp, conditions } from "../../terminal/condition.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printJson } from "../../terminal/output.ts";
import { countsText } from "../../terminal/segment-text.ts";

interface Options extends ConnectionOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface CreateOptions extends Options {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly when?: readonly Condition[];
  readonly description?: string;
}

interface UpdateOptions extends Options {
  /** False if --no-when is passed. */
  readonly when?: readonly Condition[] | false;
  readonly description?: string;
}

interface MemberOptions extends Options {
  readonly exclude?: boolean;
  readonly file?: string;
}

/** Targeting keys separated by commas. */
const keys = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== ""),
];

export const addSegmentChanges = (group: Command): void => {
  const create = reasonedCommand(group.command("create"))
    .description("create a segment from a list of users, a condition, or both")
    .argument("<key>", "1 to 128 letters, digits and . _ -, starting with a letter or digit")
    .option("--include <keys>", "targeting keys to include, separated by commas", keys)
    .option("--exclude <keys>", "targeting keys to always exclude", keys)
    .option("--when <condition>", "condition for unlisted users; can be repeated", conditions)
    .option("--description <text>", "what the segment is for")
    .addHelpText("after", conditionHelp)
    .action(createSegment);
  withExamples(
    create,
    "halyard segments create beta --include user-1,user-2",
    `halyard segments create staff --when "email endsWith @acme.com" --description "Everyone at Acme"`,
  );

  const update = reasonedCommand(group.command("update"))
    .description("change the condition or the description of a segment")
    .argument("<segment>", "the segment's key")
    .option("--when <condition>", "condition for unlisted users; can be repeated", conditionsOrNone)
    .option("--no-when", "remove the condition")
    .option("--description <text>", "what the segment is for; an empty string removes it")
    .addHelpText("after", conditionHelp)
    .action(updateSegment);
  withExamples(
    update,
    `halyard segments update beta --when "plan in pro,team"`,
    `halyard segments update beta --no-when --description "Invited people"`,
  );

  const members = (name: "add" | "remove", description: string) =>
    reasonedCommand(group.command(name))
      .description(description)
      .argument("<segment>", "the segment's key")
      .argument("[member...]", "targeting keys")
      .option("--exclude", "change the excluded keys instead of the included ones")
      .option("--file <file>", "targeting keys, one per line; - reads standard input")
      .action((key: string, listed: readonly string[], options: MemberOptions) =>
        moveMembers(name, key, listed, options),
      );
  withExamples(
    members("add", "add any number of targeting keys to a segment"),
    "halyard segments add beta user-3 user-4",
    "halyard segments add beta --file users.txt",
  );
  withExamples(
    members("remove", "remove targeting keys from a segment"),
    "halyard segments remove beta user-3",
    "halyard segments remove beta user-9 --exclude",
  );

  const remove = reasonedCommand(group.command("delete"))
    .description("delete a segment that no flag references; its history is kept")
    .argument("<segment>", "the segment's key")
    .action(deleteSegment);
  withExamples(remove, "halyard segments delete beta --yes");
};

/** The previous value is true because there is also a --no form. */
const conditionsOrNone = (text: string, before: unknown): Condition[] =>
  conditions(text, Array.isArray(before) ? (before as Condition[]) : []);

const createSegment = async (key: string, options: CreateOptions): Promise<void> => {
  const { include = [], exclude = [], when, description } = options;
  const connection = connect(options);
  const place = await beginChange(connection, `Create the segment ${key}`, options.yes);
  const [first = {}, ...rest] = partsOf({ include: { add: include }, exclude: { add: exclude } });
  refuseLongLists(place, rest.length + 1);
  const made = answered(
    connection,
    await connection.management.segments.create({
      key,
      ...(description !== undefined && { description }),
      include: first.include?.add ?? [],
      exclude: first.exclude?.add ?? [],
      ...(when !== undefined && { when: allOf(when) }),
    }),
  );
  let { counts } = made;
  for (const part of rest) {
    const moved = await changeMembers(connection.management, key, part);
    if (moved !== undefined) ({ counts } = answered(connection, moved));
  }
  if (options.json) return printJson({ ...made, counts, ...place.json });
  print(`Created the segment ${key} ${place.text}: ${countsText(counts)}.`);
  print(
    `Use it in a rule: ${connection.hint(`flags rules add FLAG --when "segment ${key}" --serve on`)}`,
  );
};

const updateSegment = async (key: string, options: UpdateOptions): Promise<void> => {
  const { when, description } = options;
  if (when === undefined && description === undefined) {
    throw new CommandFailed("Pass --when, --no-when or --description.", exitCodes.usage);
  }
  const connection = connect(options);
  const { segments } = connection.management;
  const place = await beginChange(connection, `Change the segment ${key}`, options.yes);
  const before = await segments.get(key);
  answered(connection, before);
  const changed = await segments.update(key, {
    ...(when !== undefined && { when: when === false ? null : allOf(when) }),
    ...(description !== undefined && { description: description === "" ? null : description }),
  });
  const segment = answered(connection, changed);
  const version = changed.ok ? changed.version : undefined;
  const isSame = before.ok && before.version === version;
  if (options.json) return printJson({ ...segment, version, changed: !isSame, ...place.json });
  const where = `${place.text} (version ${version})`;
  print(isSame ? `${key} is unchanged ${where}.` : `Changed the segment ${key} ${where}.`);
};

/** Several requests would become several change requests, each based on a version before the others. */
const refuseLongLists = ({ proposes, text }: Place, parts: number): void => {
  if (!proposes || parts <= 1) return;
  throw new CommandFailed(
    `This number of targeting keys doesn't fit into one change request or preview ${text}. Pass fewer at a time.`,
    exitCodes.usage,
  );
};

const readMembers = (file: string): string[] => {
  try {
    const text = readFileSync(file === "-" ? 0 : file, "utf8").replace(/^\uFEFF/, "");
    return text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const name = file === "-" ? "Standard input" : file;
    throw new CommandFailed(`${name} cannot be read (${message}).`, exitCodes.notFound);
  }
};

const moveMembers = async (
  verb: "add" | "remove",
  key: string,
  listed: readonly string[],
  options: MemberOptions,
): Promise<void> => {
  const fromFile = options.file === undefined ? [] : readMembers(options.file);
  const members = [...new Set([...listed, ...fromFile])];
  if (members.length === 0) {
    throw new CommandFailed("Pass targeting keys, or a file of them with --file.", exitCodes.usage);
  }
  const connection = connect(options);
  const { segments } = connection.management;
  const list = options.exclude === true ? "exclude" : "include";
  const what = `${verb === "add" ? "Add" : "Remove"} ${members.length} ${members.length === 1 ? "member" : "members"}`;
  const place = await beginChange(connection, `${what} of the segment ${key}`, options.yes);
  const before = answered(connection, await segments.get(key));
  const change: MembersChange = { [list]: { [verb]: members } };
  refuseLongLists(place, partsOf(change).length);
  const moved = await changeMembers(connection.management, key, change);
  if (moved === undefined) return;
  const { counts } = answered(connection, moved);
  const count = Math.abs(counts[list] - before[list].length);
  const version = moved.ok ? moved.version : undefined;
  if (options.json) {
    return printJson({ key, counts, version, changed: count, ...place.json });
  }
  const done = verb === "add" ? "Added" : "Removed";
  const already = members.length - count;
  const rest = already > 0 ? ` (${already} ${verb === "add" ? "were" : "were not"} there)` : "";
  const listName = list === "exclude" ? "the excluded of " : "";
  print(
    `${done} ${count} ${verb === "add" ? "to" : "from"} ${listName}${key}${rest} ${place.text}: ${countsText(counts)}.`,
  );
};

const deleteSegment = async (key: string, options: Options): Promise<void> => {
  const connection = connect(options);
  const { segments } = connection.management;
  const [found, place] = await Promise.all([segments.get(key), placeOf(connection)]);
  const { include, exclude } = answered(connection, found);
  const counts = countsText({ include: include.length, exclude: exclude.length });
  await confirm(`Delete the segment ${key} (${counts}) ${place.text}?`, options.yes);
  const version = found.ok ? found.version : undefined;
  const match = version === undefined ? {} : { ifMatch: version };
  answered(connection, await segments.delete(key, match));
  if (options.json) return printJson({ key, deleted: true, ...place.json });
  print(
    `Deleted the segment ${key} ${place.text}. Its history is kept: ${connection.hint(`segments history ${key}`)}`,
  );
};
