// A plan in words: a line for each flag, and how many there are of each kind.
import type { Flag } from "@halyard/sdk";
import { coloured } from "../../terminal/output.ts";
import { type Change, changeableFields, type Plan } from "./plan.ts";

/** One line, whatever it holds, and not more of it than a line takes. */
const quoted = (text: string | null | undefined): string => {
  if (text === null || text === undefined) return "none";
  const letters = Array.from(text);
  return JSON.stringify(letters.length > 60 ? `${letters.slice(0, 57).join("")}…` : text);
};

const valueInWords = (field: string, value: unknown): string => {
  if (field === "enabled") return value === true ? "on" : "off";
  if (field === "percentage") return `${String(value)} %`;
  return quoted(value as string | null);
};

const flagInWords = (flag: Flag): string =>
  [
    flag.type,
    valueInWords("enabled", flag.enabled),
    ...(flag.type === "rollout" ? [valueInWords("percentage", flag.percentage)] : []),
    ...(flag.description === null ? [] : [quoted(flag.description)]),
  ].join(", ");

const changeInWords = (change: Change & { kind: "update" }): string =>
  changeableFields
    .filter((field) => change.patch[field] !== undefined)
    .map((field) => {
      const before = (change.before as unknown as Record<string, unknown>)[field];
      return `${field} ${valueInWords(field, before)} → ${valueInWords(field, change.patch[field])}`;
    })
    .join(", ");

const lineOf = (change: Change, width: number, isComparison: boolean): string => {
  const name = change.key.padEnd(width);
  switch (change.kind) {
    case "create":
      return coloured("green", `+ ${name}  ${flagInWords(change.flag)}`);
    case "update":
      return coloured("yellow", `~ ${name}  ${changeInWords(change)}`);
    case "delete":
      return coloured("red", `- ${name}  ${flagInWords(change.flag)}`);
    case "retype": {
      const types = `type ${change.before.type} → ${change.after.type}`;
      return isComparison
        ? coloured("yellow", `~ ${name}  ${types}`)
        : coloured("red", `! ${name}  ${types}: fixed at creation`);
    }
  }
};

const widestName = 48;

/** In a comparison nothing is to be done, so that nothing is impossible. */
export const linesOf = (changes: readonly Change[], isComparison = false): string[] => {
  const longest = changes.reduce((width, { key }) => Math.max(width, key.length), 0);
  return changes.map((change) => lineOf(change, Math.min(longest, widestName), isComparison));
};

export const countOf = (changes: readonly Change[], kind: Change["kind"]): number =>
  changes.filter((change) => change.kind === kind).length;

export const summaryOf = ({ changes, unchanged }: Plan): string => {
  const counts = [
    [countOf(changes, "create"), "to create"],
    [countOf(changes, "update"), "to change"],
    [countOf(changes, "delete"), "to delete"],
    [countOf(changes, "retype"), "impossible"],
  ] as const;
  return [...counts.filter(([count]) => count > 0), [unchanged, "as wanted already"] as const]
    .map(([count, what]) => `${count} ${what}`)
    .join(", ");
};

export const asJson = (change: Change): object => {
  switch (change.kind) {
    case "create":
      return { key: change.key, action: "create", flag: change.flag };
    case "delete":
      return { key: change.key, action: "delete", flag: change.flag };
    case "retype":
      return {
        key: change.key,
        action: "impossible",
        before: { type: change.before.type },
        after: { type: change.after.type },
      };
    case "update": {
      const before = change.before as unknown as Record<string, unknown>;
      const fields = Object.keys(change.patch);
      return {
        key: change.key,
        action: "change",
        before: Object.fromEntries(fields.map((field) => [field, before[field]])),
        after: change.patch,
      };
    }
  }
};
