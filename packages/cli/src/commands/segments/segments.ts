// halyard segments: shows and changes segments, the named groups of users that rules reference.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { HistoryEntry } from "@halyard/sdk/management";
import { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { type PastOptions, pastCommand, pastOf } from "../../server-connection/past-options.ts";
import { withExamples } from "../../terminal/examples.ts";
import { wholeNumber } from "../../terminal/option-values.ts";
import {
  colored,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
} from "../../terminal/output.ts";
import { conditionText } from "../../terminal/targeting-text.ts";
import { printSegmentEntry } from "../print-history.ts";
import { addSegmentChanges } from "./change.ts";

interface ReadOptions extends ConnectionOptions {
  readonly json?: boolean;
}

export const segmentCommands = (): Command => {
  const group = new Command("segments").description(
    "view and change segments: named groups of users",
  );
  const read = (name: string, description: string) =>
    serverCommand(group.command(name), "a server").description(description);
  withExamples(
    pastCommand(read("list", "list the segments with the number of their members")).action(
      listSegments,
    ),
    "halyard segments list",
    "halyard segments list --at 2026-11-14T12:00:00Z",
  );
  withExamples(
    pastCommand(
      read("show", "show a segment: its members, its condition and the flags that reference it"),
    )
      .argument("<segment>", "the segment's key")
      .action(showSegment),
    "halyard segments show beta",
    "halyard segments show beta --json",
    "halyard segments show beta --at 2h",
  );
  addSegmentChanges(group);
  withExamples(
    read("flags", "list the flags that reference a segment, and their rules")
      .argument("<segment>", "the segment's key")
      .action(listFlags),
    "halyard segments flags beta",
  );
  withExamples(
    read("history", "show who changed a segment, when and how, newest first")
      .argument("<segment>", "the segment's key")
      .option("--limit <count>", "the maximum number of changes", wholeNumber(1), 20)
      .action(showHistory),
    "halyard segments history beta --limit 5",
  );
  return group;
};

const whenText = (when: Condition | null): string => (when === null ? "" : conditionText(when));

const listSegments = async (options: ReadOptions & PastOptions): Promise<void> => {
  const connection = connect(options);
  const when = pastOf(options);
  const segments = answered(connection, await connection.management.segments.list(when));
  if (options.json) return printJson(segments);
  printTable(
    ["key", "included", "excluded", "when", "description"],
    segments.map(({ key, counts, when, description }) => [
      key,
      String(counts.include),
      String(counts.exclude),
      whenText(when),
      description ?? "",
    ]),
  );
  if (segments.length === 0) printAside("No segments.");
};

/** Longer lists are cut for readability. --json has all members. */
const maxShown = 20;

const membersText = (members: readonly string[]): string => {
  if (members.length === 0) return "none";
  const shown = members.slice(0, maxShown).join(", ");
  const more = members.length - maxShown;
  return more > 0 ? `${shown} and ${more} more (--json shows all)` : shown;
};

const showSegment = async (key: string, options: ReadOptions & PastOptions): Promise<void> => {
  const connection = connect(options);
  const { segments } = connection.management;
  const when = pastOf(options);
  const [found, used] = await Promise.all([
    segments.get(key, when),
    // References are known for current flags only.
    when === undefined ? segments.flags(key) : undefined,
  ]);
  const segment: Segment = answered(connection, found);
  const flags = used && answered(connection, used);
  const version = found.ok ? found.version : undefined;
  if (options.json) return printJson({ ...segment, version, flags });
  const rows: readonly (readonly [string, string])[] = [
    ["description", segment.description ?? "none"],
    ...memberLists.map(
      (list) =>
        [
          list === "include" ? "included" : "excluded",
          `${segment[list].length}: ${membersText(segment[list])}`.replace("0: none", "none"),
        ] as const,
    ),
    ["when", segment.when === null ? "no condition" : conditionText(segment.when)],
    ...(flags === undefined
      ? []
      : [
          [
            "flags",
            flags.length === 0 ? "none" : flags.map((flag) => flag.key).join(", "),
          ] as const,
        ]),
    ["version", String(version)],
  ];
  print(colored("bold", segment.key));
  for (const [name, text] of rows) print(`  ${name.padEnd(11)}  ${inOneLine(text)}`);
};

const listFlags = async (key: string, options: ReadOptions): Promise<void> => {
  const connection = connect(options);
  const flags = answered(connection, await connection.management.segments.flags(key));
  if (options.json) return printJson(flags);
  printTable(
    ["flag", "rules"],
    flags.map((flag) => [flag.key, flag.rules.join(", ")]),
  );
  if (flags.length === 0) printAside(`No flags reference ${key}.`);
};

const largestPage = 1_000;

const showHistory = async (
  key: string,
  options: ReadOptions & { readonly limit: number },
): Promise<void> => {
  const connection = connect(options);
  const entries: HistoryEntry[] = [];
  const limit = Math.min(options.limit, largestPage);
  const query = { subject: "segment", id: key, limit } as const;
  for await (const page of connection.management.historyPages(query)) {
    entries.push(...answered(connection, page));
    if (entries.length >= options.limit) break;
  }
  const shown = entries.slice(0, options.limit);
  if (shown.length === 0) {
    // Fails if there is no segment with this key.
    answered(connection, await connection.management.segments.flags(key));
  }
  if (options.json) return printJson(shown);
  shown.forEach(printSegmentEntry);
};
