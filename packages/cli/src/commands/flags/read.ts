// halyard flags list, get and history: show flags and their changes.
import { type Flag, type FlagTypeName, flagTypeNames } from "@halyard/core/flags/registry";
import type { FlagHistoryEntry, UsageSummary } from "@halyard/sdk/management";
import { type Command, Option } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { type PastOptions, pastCommand, pastOf } from "../../server-connection/past-options.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import {
  actorInLine,
  agoOf,
  reachText,
  settingTexts,
  stateCell,
  targetingLines,
} from "../../terminal/flag-text.ts";
import { trueOrFalse, wholeNumber } from "../../terminal/option-values.ts";
import {
  type Cell,
  CommandFailed,
  colored,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
  shownCell,
} from "../../terminal/output.ts";
import { printFlagEntry } from "../print-history.ts";

interface ListOptions extends ConnectionOptions, PastOptions {
  readonly type?: FlagTypeName;
  readonly enabled?: boolean;
  readonly search?: string;
  readonly tag?: string;
  readonly owner?: string;
  readonly stale?: number;
  readonly json?: boolean;
}

interface GetOptions extends ConnectionOptions, PastOptions {
  readonly json?: boolean;
}

interface HistoryOptions extends ConnectionOptions {
  readonly limit: number;
  readonly json?: boolean;
}

const day = 86_400_000;
const largestPage = 1_000;

export const addReadCommands = (group: Command): void => {
  const list = pastCommand(serverCommand(group.command("list"), "a server"))
    .description("list the flags, sorted by key")
    .addOption(new Option("--type <type>", "only flags of this type").choices(flagTypeNames))
    .option("--enabled <state>", "only flags that are on (true) or off (false)", trueOrFalse)
    .option("--search <text>", "only flags with this text in their key or description")
    .option("--tag <text>", "only flags with this tag")
    .option("--owner <text>", "only flags of this owner")
    .option(
      "--stale <days>",
      "only flags that were not evaluated for this many days, or never",
      wholeNumber(1, 10_000),
    )
    .action(listFlags);
  withExamples(
    list,
    "halyard flags list --type rollout --enabled true",
    "halyard flags list --tag payments --owner team-shop",
    "halyard flags list --stale 90",
    "halyard flags list --at 2026-11-14T12:00:00Z",
  );

  const get = pastCommand(serverCommand(group.command("get"), "a server"))
    .description("show a flag: state, settings, version and last evaluation")
    .argument("<flag>", "the flag's key")
    .action(getFlag);
  withExamples(
    get,
    "halyard flags get new-checkout",
    "halyard flags get new-checkout --json",
    "halyard flags get new-checkout --at 2h",
  );

  const history = serverCommand(group.command("history"), "a server")
    .description(
      "show who changed a flag, when and how, newest first; also works for deleted flags",
    )
    .argument("<flag>", "the flag's key")
    .option("--limit <count>", "the maximum number of changes", wholeNumber(1), 20)
    .action(showHistory);
  withExamples(history, "halyard flags history new-checkout --limit 5");
};

const listFlags = async (options: ListOptions): Promise<void> => {
  const connection = connect(options);
  const { type, enabled, search, tag, owner, stale } = options;
  const when = pastOf(options);
  if (when !== undefined && stale !== undefined) {
    throw new CommandFailed("--stale applies to current flags only.", exitCodes.usage);
  }
  const flags = answered(
    connection,
    await connection.management.flags.list({
      ...(type !== undefined && { type }),
      ...(enabled !== undefined && { enabled }),
      ...(search !== undefined && { q: search }),
      ...(tag !== undefined && { tag }),
      ...(owner !== undefined && { owner }),
      ...when,
    }),
  );
  const idle = stale === undefined ? undefined : await idleFor(connection, stale);
  const shown = idle ? flags.filter(({ key }) => idle.has(key)) : flags;
  if (options.json) {
    return printJson(
      idle
        ? shown.map((flag) => ({ ...flag, lastEvaluatedAt: idle.get(flag.key) ?? null }))
        : shown,
    );
  }
  const settings = shown.map(settingsText);
  const hasSettings = settings.some((text) => text !== "");
  printTable(
    [
      ...["key", "state", "reach"],
      ...(hasSettings ? ["settings"] : []),
      ...(idle ? ["last evaluated"] : []),
      "description",
    ],
    shown.map((flag, index) => [
      flag.key,
      stateCell(flag),
      reachText(flag),
      ...(hasSettings ? [settings[index] ?? ""] : []),
      ...(idle ? [timeText(idle.get(flag.key))] : []),
      beginningOf(flag.description),
    ]),
  );
  if (shown.length === 0) printAside("No flags.");
};

const settingsText = (flag: Flag): string =>
  beginningOf(
    settingTexts(flag)
      .map(([name, text]) => `${name} ${text}`)
      .join(", "),
  );

/** The flags without an individual or bulk evaluation in this number of days, with their last evaluation. */
const idleFor = async (
  connection: Connection,
  days: number,
): Promise<ReadonlyMap<string, string | null>> => {
  const usage = answered(connection, await connection.management.usage());
  const since = Date.now() - days * day;
  const isIdle = ({ lastEvaluatedAt, lastAskedTogetherAt }: UsageSummary) =>
    [lastEvaluatedAt, lastAskedTogetherAt].every(
      // Undefined from servers that don't count bulk evaluations.
      (time) => time == null || Date.parse(time) < since,
    );
  return new Map(usage.filter(isIdle).map(({ key, lastEvaluatedAt }) => [key, lastEvaluatedAt]));
};

const timeText = (time: string | null | undefined): string =>
  time === null || time === undefined ? "never" : `${time} (${agoOf(time)})`;

const longestCell = 60;
const beginningOf = (text: string | null): string => {
  const line = inOneLine(text ?? "").replaceAll(/\s+/g, " ");
  return line.length > longestCell ? `${line.slice(0, longestCell - 1)}…` : line;
};

const getFlag = async (key: string, options: GetOptions): Promise<void> => {
  const connection = connect(options);
  const { flags } = connection.management;
  const when = pastOf(options);
  if (when !== undefined) {
    const found = await flags.get(key, when);
    const flag = answered(connection, found);
    const version = found.ok ? found.version : undefined;
    return options.json ? printJson({ ...flag, version }) : printFlag(flag, version, []);
  }
  const [found, used] = await Promise.all([flags.get(key), flags.usage(key, { hours: 24 })]);
  const flag = answered(connection, found);
  const { lastEvaluatedAt, lastChange, hours } = answered(connection, used);
  const version = found.ok ? found.version : undefined;
  const sum = (side: "on" | "off") => hours.reduce((total, hour) => total + hour[side], 0);
  const lastDay = { on: sum("on"), off: sum("off") };
  if (options.json) return printJson({ ...flag, version, lastEvaluatedAt, lastChange, lastDay });
  printFlag(flag, version, [
    // Undefined from servers that don't report it.
    ...(lastChange == null
      ? []
      : [
          [
            "last changed",
            `${timeText(lastChange.at)} by ${actorInLine(lastChange.actor)}`,
          ] as const,
        ]),
    ["last evaluated", timeText(lastEvaluatedAt)],
    ["last 24 hours", `${lastDay.on} times on, ${lastDay.off} times off`],
  ]);
};

type FlagRow = readonly [string, Cell];

const printFlag = (flag: Flag, version: number | undefined, more: readonly FlagRow[]): void => {
  const rows: readonly FlagRow[] = [
    ["type", flag.type === "variant" ? `variant (${flag.valueType})` : flag.type],
    ["state", stateCell(flag)],
    ["reach", reachText(flag)],
    ...targetingLines(flag),
    ...settingTexts(flag),
    ["description", flag.description ?? "none"],
    ["version", String(version)],
    ...more,
  ];
  print(colored("bold", flag.key));
  for (const [name, value] of rows) print(`  ${name.padEnd(14)}  ${shownCell(value)}`);
};

const showHistory = async (key: string, options: HistoryOptions): Promise<void> => {
  const connection = connect(options);
  const entries: FlagHistoryEntry[] = [];
  const limit = Math.min(options.limit, largestPage);
  for await (const page of connection.management.flags.historyPages(key, { limit })) {
    entries.push(...answered(connection, page));
    if (entries.length >= options.limit) break;
  }
  const shown = entries.slice(0, options.limit);
  if (options.json) return printJson(shown);
  shown.forEach(printFlagEntry);
};
