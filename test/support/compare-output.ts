// Whether a program printed what a document shows: all but what differs from one run to the next.
import assert from "node:assert/strict";

const kinds: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/hal_[0-9a-f]{16}_[\w…-]+/g, "hal_KEY"],
  [/whsec_[\w+/=…]+/g, "whsec_SECRET"],
  [/(once|token)=[\w.…-]+/g, "$1=TOKEN"],
  [/\b(wh|dlv|evt|usr)_[0-9a-f]{16,32}\b/g, "$1_ID"],
  [/\b[0-9a-f]{16}\b/g, "ID"],
  [/\b[0-9a-f]{64}\b/g, "HASH"],
  [/\b\d+ ms\b/g, "N ms"],
  [/\b\d+\.\d MB\b/g, "N MB"],
  [/\bNode \d+\.\d+\.\d+/g, "Node VERSION"],
  [/\bschema version \d+/g, "schema version N"],
];

/** Columns are as wide as their widest cell, and that differs too. */
const steady = (text: string): string =>
  kinds
    .reduce((result, [pattern, kind]) => result.replace(pattern, kind), text)
    .replace(/(?<=\S) {2,}/g, "  ")
    .replace(/ +$/gm, "")
    .trim();

const asJson = (text: string): string => JSON.stringify(JSON.parse(text), null, 1);

/** `…` in a document stands for any text in a line, and alone for any lines. */
export const assertPrinted = (
  printed: string,
  { shown, isJson, what }: { shown: string; isJson: boolean; what: string },
): void => {
  const expected = steady(isJson ? asJson(shown) : shown);
  const actual = steady(isJson ? asJson(printed) : printed);
  const pattern = expected
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/^…\n/gm, "(?:.*\\n)*")
    .replaceAll("…", "[^\\n]*");
  if (new RegExp(`^${pattern}$`).test(actual)) return;
  assert.equal(actual, expected, what);
};

/** The ids that a document shows, each with the one of this run in the same place. */
export const pairIds = (shown: string, printed: string): readonly (readonly [string, string])[] => {
  const ids = (text: string) => text.match(/\b(?:wh_[0-9a-f]{24}|[0-9a-f]{16})\b/g) ?? [];
  const real = ids(printed);
  return ids(shown).flatMap((id, index) => {
    const found = real[index];
    return found === undefined ? [] : [[id, found] as const];
  });
};
