// halyard environments: manages environments, on a server with an owner's key or in its database. Each has its own flags, webhooks and keys.
import { environmentNameRule } from "@halyard/server/environments";

import { Command, Option } from "commander";
import { dataOption } from "../../operator.ts";
import { changeCommand, serverCommand } from "../../server-connection/connection.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { actorInLine } from "../../terminal/flag-text.ts";
import { futureMoment, percentage } from "../../terminal/option-values.ts";
import {
  CommandFailed,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
} from "../../terminal/output.ts";
import {
  type Environment,
  type PlaceOptions,
  type Removed,
  type Settings,
  withEnvironments,
} from "./environment-place.ts";

interface ListOptions extends PlaceOptions {
  readonly deleted?: boolean;
}

interface SettingOptions extends PlaceOptions {
  readonly label?: string;
  readonly protect?: boolean;
  readonly unprotect?: boolean;
  /** `never` means no expiry. */
  readonly expires?: Date | "never";
  /** `none` means no limit. */
  readonly maxFlips?: number | "none";
}

interface CreateOptions extends SettingOptions {
  readonly copyOf?: string;
}

interface DeleteOptions extends PlaceOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

const environmentCommand = (group: Command, name: string, command = serverCommand): Command =>
  command(group.command(name), "an owner")
    .option(...dataOption)
    .addHelpText(
      "after",
      `
With an address (--url, HALYARD_URL or a profile), it calls that server. The key needs the role owner. To create one
on the server's machine: halyard keys create --environment NAME --role owner --name automation --data ./data
With --data or without an address, it works on the database of this machine (DATABASE_URL, HALYARD_DATA or ./data)
and needs no key.`,
    );

const withSettings = (command: Command): Command =>
  command
    .option("--label <text>", "display name; an empty string resets it to the name")
    .option("--protect", "require approval for changes of flags and segments")
    .option(
      "--expires <when>",
      "when to delete it with everything in it: a time, or an age such as 12h or 7d",
      (text) => (text === "never" ? text : futureMoment(text)),
    )
    .option(
      "--max-flips <percentage>",
      "impact limit: reject changes that affect more than this percentage of users; or none",
      (text) => (text === "none" ? text : percentage(text)),
    );

export const environmentCommands = (): Command => {
  const group = new Command("environments").description(
    "list, create, change and delete environments, on a server or in its database",
  );

  const list = environmentCommand(group, "list")
    .description("list the environments and how many flags each has")
    .option("--deleted", "list deleted environments, with time and author; only in the database")
    .action(listEnvironments);
  withExamples(
    list,
    "halyard environments list",
    "halyard environments list --data /var/lib/halyard",
    "halyard environments list --deleted",
  );

  const create = withSettings(environmentCommand(group, "create"))
    .description("create an environment, and print its admin key, only once")
    .argument("<name>", environmentNameRule)
    .option("--copy-of <environment>", "start with the flags and segments of another environment")
    .action(createEnvironment);
  withExamples(
    create,
    "halyard environments create staging",
    'halyard environments create staging --label "Staging (Europe)"',
    "halyard environments create pr-123 --copy-of production --expires 7d --json",
  );

  const update = withSettings(environmentCommand(group, "update"))
    .description("change the label, protection, impact limit or expiration of an environment")
    .argument("<name>", "the environment")
    .addOption(new Option("--unprotect", "no longer require approval").conflicts("protect"))
    .action(updateEnvironment);
  withExamples(
    update,
    'halyard environments update staging --label "Staging (Europe)"',
    "halyard environments update production --protect",
    "halyard environments update production --max-flips 20",
    "halyard environments update pr-123 --expires never",
  );

  const remove = environmentCommand(group, "delete", changeCommand)
    .description("delete an environment with its flags, webhooks, keys and history")
    .argument("<name>", "the environment")
    .option("--force", "even if it still has flags")
    .action(removeEnvironment);
  withExamples(
    remove,
    "halyard environments delete staging",
    "halyard environments delete pr-123 --force --yes",
  );

  return group;
};

const listEnvironments = (options: ListOptions): Promise<void> =>
  withEnvironments(options, async (place) => {
    if (options.deleted) {
      if (place.removed) return showDeleted(await place.removed(), options);
      throw new CommandFailed(
        "Deleted environments are listed only in the database. Run this on the server's machine, with --data FOLDER.",
        exitCodes.usage,
      );
    }
    const rows = await place.list();
    if (options.json) return printJson(rows);
    printTable(
      ["name", "flags", "created", "expires", "protected", "max flips", "label"],
      rows.map((row) => [
        row.name,
        String(row.flags),
        row.createdAt,
        row.expiresAt ?? "never",
        row.protected ? "yes" : "no",
        row.maxFlips === null ? "none" : `${row.maxFlips}%`,
        inOneLine(row.label ?? ""),
      ]),
    );
  });

const settingsOf = ({
  label,
  protect,
  unprotect,
  expires,
  maxFlips,
}: SettingOptions): Settings => ({
  ...(maxFlips !== undefined && { maxFlips: maxFlips === "none" ? null : maxFlips }),
  ...(label !== undefined && { label: label === "" ? null : label }),
  ...((protect || unprotect) && { protected: protect === true }),
  ...(expires !== undefined && { expiresAt: expires === "never" ? null : expires.toISOString() }),
});

const expiryText = ({ expiresAt }: Environment): string =>
  expiresAt === null ? "" : ` It is deleted at ${expiresAt}.`;

const createEnvironment = (name: string, options: CreateOptions): Promise<void> =>
  withEnvironments(options, async (place) => {
    const { copyOf } = options;
    const made = await place.create(name, copyOf, settingsOf(options));
    if (options.json) return printJson({ ...made, ...place.json });
    print(made.key.key);
    const copied = copyOf === undefined ? "" : ` as a copy of "${copyOf}"`;
    printAside(
      `Created the environment "${name}"${copied}${place.text}.${expiryText(made)} This is its admin key (${made.key.id}). It won't be shown again.`,
    );
  });

const updateEnvironment = (name: string, options: SettingOptions): Promise<void> =>
  withEnvironments(options, async (place) => {
    const settings = settingsOf(options);
    if (Object.keys(settings).length === 0) {
      throw new CommandFailed(
        "Nothing to change: pass --label, --protect, --unprotect, --expires or --max-flips.",
        exitCodes.usage,
      );
    }
    const changed = await place.update(name, settings);
    if (options.json) return printJson({ ...changed, ...place.json });
    print(`Changed the environment "${name}"${place.text}.${expiryText(changed)}`);
  });

const showDeleted = (removed: Removed, { json }: ListOptions): void => {
  const rows = removed.map(({ beganAt, endedAt, actor, ...row }) => ({
    ...row,
    beganAt: beganAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    actor,
  }));
  if (json) {
    printJson(rows);
    return;
  }
  printTable(
    ["name", "flags", "webhooks", "keys", "deleted", "by"],
    rows.map(({ name, flags, webhooks, keys, endedAt, actor }) => [
      name,
      ...[flags, webhooks, keys].map(String),
      endedAt ?? "not finished; a running server continues",
      actorInLine(actor),
    ]),
  );
  if (rows.length === 0) printAside("No environment was deleted.");
};

const removeEnvironment = (name: string, options: DeleteOptions): Promise<void> =>
  withEnvironments(options, async (place) => {
    const { flags, text } = await place.contents(name);
    const withFlags = options.force === true;
    // Checked before the confirmation, which would be pointless otherwise.
    if (flags > 0 && !withFlags) {
      throw new CommandFailed(
        `The environment "${name}"${place.text} has ${flags} flag${flags === 1 ? "" : "s"}. Deleting it also deletes its flags, webhooks, keys and history: add --force to do so.`,
        exitCodes.conflict,
      );
    }
    await confirm(
      `Delete the environment "${name}"${place.text} with ${text} and all history? You can restore them only from a backup.`,
      options.yes,
    );
    const isGone = await place.remove(name, withFlags);
    if (options.json) return printJson({ name, flags, deleted: true, ...place.json });
    print(
      isGone
        ? `Deleted the environment "${name}"${place.text} and everything in it.`
        : `Closed the environment "${name}"${place.text}: its keys no longer work. The server deletes the rest in the background.`,
    );
  });
