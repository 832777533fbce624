// Prints history entries of a flag, a segment or an environment.
import type { Flag } from "@halyard/core/flags/registry";
import type { FlagHistoryEntry, HistoryEntry } from "@halyard/sdk/management";
import { actorInLine, actorWithId, changesBetween } from "../terminal/flag-text.ts";
import { colored, inOneLine, print } from "../terminal/output.ts";
import { segmentChanges } from "../terminal/segment-text.ts";

interface Shown
  extends Pick<HistoryEntry, "createdAt" | "actor" | "reason" | "changeRequest" | "bypass"> {
  /** Such as `v3`, or the name of the changed object. */
  readonly title: string;
  readonly actions: readonly string[];
  readonly changes: readonly string[];
}

const flagChanges = (before: Flag | null, after: Flag | null): readonly string[] =>
  changesBetween(before, after).map(({ member, text }) => `${member.padEnd(11)}  ${text}`);

/** How the change was approved, in a protected environment. */
const reviewLines = ({ changeRequest, bypass }: Pick<Shown, "changeRequest" | "bypass">) => [
  ...(bypass ? [`bypassing approval, by ${actorInLine(bypass.actor)}: ${bypass.reason}`] : []),
  ...(changeRequest && changeRequest.approvedBy.length > 0
    ? [`approved by ${changeRequest.approvedBy.join(", ")} (${changeRequest.id})`]
    : []),
];

const printEntry = ({ title, createdAt, actor, reason, actions, changes, ...review }: Shown) => {
  const what = actions.map((action) => action.replace(/^\w+\./, "")).join(", ");
  print(`${colored("bold", title)}  ${createdAt}  ${what} by ${actorWithId(actor)}`);
  if (reason !== undefined) print(`      because: ${inOneLine(reason)}`);
  for (const line of reviewLines(review)) print(`      ${inOneLine(line)}`);
  for (const line of changes) print(`      ${line}`);
};

/** Prints the history of one flag. */
export const printFlagEntry = ({ version, events, before, after, ...entry }: FlagHistoryEntry) =>
  printEntry({
    ...entry,
    title: `v${version}`,
    actions: events,
    changes: flagChanges(before, after),
  });

/** The changed fields of an environment. */
const settingChanges = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] =>
  Object.entries(after)
    .filter(([name, value]) => (before[name] || null) !== (value || null))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value ?? "none");
      return `${name.padEnd(11)}  ${inOneLine(text)}`;
    });

/** The permissions of a user in the environment. */
const accessText = (before: HistoryEntry["before"], after: HistoryEntry["after"]): string => {
  const [from, to] = [before, after] as (Readonly<Record<"name" | "role", string>> | null)[];
  return inOneLine(`${(to ?? from)?.name}: ${from?.role ?? "none"} → ${to?.role ?? "none"}`);
};

const changesOf = ({ subject, before, after }: HistoryEntry): readonly string[] => {
  switch (subject) {
    case "flag":
      return flagChanges(before as Flag | null, after as Flag | null);
    case "segment":
      return segmentChanges(before, after);
    case "environment":
      return settingChanges(before ?? {}, after ?? {});
    case "user":
      return [accessText(before, after)];
    case "change-request":
      return typeof after?.title === "string" ? [inOneLine(after.title)] : [];
    case "webhook":
    case "key":
      return [];
  }
};

/** Prints the history of one segment. */
export const printSegmentEntry = (entry: HistoryEntry) =>
  printEntry({ ...entry, title: `v${entry.version}`, changes: changesOf(entry) });

/** Prints the history of the environment, with the changed object of each entry. */
export const printAnyEntry = (entry: HistoryEntry) => {
  const { subject, id, version } = entry;
  const title = `${subject} ${inOneLine(id)}${version === null ? "" : ` v${version}`}`;
  return printEntry({ ...entry, title, changes: changesOf(entry) });
};
