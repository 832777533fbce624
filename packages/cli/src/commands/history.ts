// halyard history: lists the changes of an environment, filtered by author, object and time.
import type { HistoryEntry } from "@halyard/sdk/management";
import { Command, Option } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../server-connection/connection.ts";
import { withExamples } from "../terminal/examples.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { moment, wholeNumber } from "../terminal/option-values.ts";
import { CommandFailed, inOneLine, printAside, printJson } from "../terminal/output.ts";
import { exportHistoryCommand } from "./history/export.ts";
import { redactCommand } from "./history/redact.ts";
import { verifyCommand } from "./history/verify.ts";
import { printAnyEntry } from "./print-history.ts";

interface HistoryOptions extends ConnectionOptions {
  readonly kind?: HistoryEntry["subject"];
  readonly id?: string;
  readonly deleted?: true;
  readonly actor?: string;
  readonly search?: string;
  readonly who?: string;
  readonly tag?: string;
  readonly owner?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

const largestPage = 1_000;

const filterNames = [
  ...(["kind", "id", "deleted", "search", "who", "tag", "owner"] as const),
  ...(["actor", "since", "until"] as const),
] as const;

const valueText = (value: string | true | Date): string => {
  if (value === true) return "";
  return ` ${value instanceof Date ? value.toISOString() : inOneLine(value)}`;
};

/** Repeats the filters, because an empty result doesn't prove that nothing happened. */
const nothingFound = (options: HistoryOptions): string => {
  const filters = filterNames.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}${valueText(value)}`];
  });
  return filters.length === 0 ? "No changes." : `No changes match ${filters.join(" ")}.`;
};

export const historyCommand = (): Command =>
  withExamples(
    serverCommand(new Command("history"), "a server")
      .description("show who changed what in the environment, when and why, newest first")
      .addOption(
        new Option("--kind <kind>", "only changes of this kind").choices([
          "flag",
          "segment",
          "webhook",
          "key",
          "user",
          "environment",
          "change-request",
        ]),
      )
      .option("--id <key>", "only changes of the object with this key or id; with --kind")
      .option("--deleted", "only deletions")
      .option(
        "--search <text>",
        "only changes with this text in a key, name, description or reason",
      )
      .option("--who <text>", "only changes by a user or an API key with this text in the name")
      .option("--tag <text>", "only changes of flags with this text in a tag, now or at the change")
      .option("--owner <text>", "only changes of flags with this text in the owner")
      .option("--actor <name>", "only changes by the API key or user with exactly this name or id")
      .option("--since <time>", "only changes from this time on, or this long ago", moment)
      .option("--until <time>", "only changes up to this time, or this long ago", moment)
      .option("--limit <count>", "the maximum number of changes", wholeNumber(1), 20),
    "halyard history --since 2h",
    "halyard history --search checkout --who ada",
    "halyard history --kind flag --actor ci --since 2026-11-01 --until 2026-11-14",
    "halyard history --deleted",
  )
    .action(showHistory)
    .addCommand(verifyCommand())
    .addCommand(exportHistoryCommand())
    .addCommand(redactCommand());

const showHistory = async (options: HistoryOptions): Promise<void> => {
  const { kind, id, deleted, search, since, until, who, tag, owner, actor } = options;
  if (id !== undefined && kind === undefined) {
    throw new CommandFailed("--id needs --kind: keys are unique within a kind.", exitCodes.usage);
  }
  const connection = connect(options);
  const query = {
    limit: Math.min(options.limit, largestPage),
    ...(kind !== undefined && { subject: kind }),
    ...(id !== undefined && { id }),
    ...(deleted === true && { deleted }),
    ...(search !== undefined && { q: search }),
    ...(who !== undefined && { who }),
    ...(tag !== undefined && { tag }),
    ...(owner !== undefined && { owner }),
    ...(actor !== undefined && { actor }),
    ...(since !== undefined && { since: since.toISOString() }),
    ...(until !== undefined && { until: until.toISOString() }),
  };
  const entries: HistoryEntry[] = [];
  for await (const page of connection.management.historyPages(query)) {
    entries.push(...answered(connection, page));
    if (entries.length >= options.limit) break;
  }
  const shown = entries.slice(0, options.limit);
  if (options.json) return printJson(shown);
  shown.forEach(printAnyEntry);
  if (shown.length === 0) printAside(nothingFound(options));
};
