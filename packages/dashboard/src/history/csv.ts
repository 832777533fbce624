// Changes as rows of a CSV file, safe to open in a spreadsheet.
import { actorText } from "@halyard/core/history/actor-text";
import type { HistoryEntry } from "@halyard/sdk/management";

const columns = [
  "time",
  "actor",
  "keyId",
  "kind",
  "key",
  "version",
  "actions",
  "reason",
  "before",
  "after",
  "changeRequest",
  "approvedBy",
  "bypass",
  "user",
  "userId",
] as const;

/** A spreadsheet runs what begins like a formula; an apostrophe makes it text. */
const isFormula = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/;

export const csvCell = (value: string | number | null | undefined): string => {
  const text = value === null || value === undefined ? "" : String(value);
  const plain = typeof value === "string" && isFormula.test(text) ? `'${text}` : text;
  return `"${plain.replaceAll('"', '""')}"`;
};

const json = (value: unknown): string => (value === null ? "" : JSON.stringify(value));

const rowOf = ({ actor, ...entry }: HistoryEntry): string =>
  [
    entry.createdAt,
    actor.name,
    actor.keyId,
    entry.subject,
    entry.id,
    entry.version,
    entry.actions.join(" "),
    entry.reason,
    json(entry.before),
    json(entry.after),
    entry.changeRequest?.id,
    entry.changeRequest?.approvedBy.join(", "),
    entry.bypass && `${actorText(entry.bypass.actor)}: ${entry.bypass.reason}`,
    actor.user?.name,
    actor.user?.id,
  ]
    .map(csvCell)
    .join(",");

/** Excel reads UTF-8 only with this mark. */
const byteOrderMark = "\ufeff";

export const csvHead = `${byteOrderMark}${columns.map(csvCell).join(",")}\r\n`;

export const csvRows = (entries: readonly HistoryEntry[]): string =>
  entries.map((entry) => `${rowOf(entry)}\r\n`).join("");
