// A plan for people and for scripts: a line for each flag, and how many there are of each kind.
import { changeableMembers, difference, formatMember, memberOf } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { coloured } from "../../terminal/output.ts";
import type { Change, Plan } from "./plan.ts";

const longestText = 60;
const shorten = (text: string): string => {
  const letters = Array.from(text);
  return letters.length > longestText ? `${letters.slice(0, longestText - 3).join("")}…` : text;
};

const valueText = (type: string, member: string, value: unknown): string =>
  typeof value === "string"
    ? formatMember(type, member, shorten(value))
    : shorten(formatMember(type, member, value));

const flagText = (flag: Flag): string => {
  const texts = changeableMembers(flag.type)
    .filter((member) => memberOf(flag, member) !== null)
    .map((member) => valueText(flag.type, member, memberOf(flag, member)));
  return [flag.type, ...texts].join(", ");
};

const changeText = ({ before, after }: Change & { kind: "update" }): string =>
  difference(before, after)
    .map(({ member, ...values }) => {
      const [old, now] = [values.before, values.after].map((value) =>
        valueText(after.type, member, value),
      );
      return `${member} ${old} → ${now}`;
    })
    .join(", ");

const lineOf = (change: Change, width: number, isComparison: boolean): string => {
  const name = change.key.padEnd(width);
  switch (change.kind) {
    case "create":
      return coloured("green", `+ ${name}  ${flagText(change.flag)}`);
    case "update":
      return coloured("yellow", `~ ${name}  ${changeText(change)}`);
    case "delete":
      return coloured("red", `- ${name}  ${flagText(change.flag)}`);
    case "retype": {
      const types = `type ${change.before.type} → ${change.after.type}`;
      return isComparison
        ? coloured("yellow", `~ ${name}  ${types}`)
        : coloured("red", `! ${name}  ${types}: fixed at creation`);
    }
  }
};

const widestName = 48;

/** A comparison changes nothing, so a different type is only a difference there. */
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
  return [...counts.filter(([count]) => count > 0), [unchanged, "unchanged"] as const]
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
      const { key, before, patch } = change;
      const members = Object.keys(patch).map((member) => [member, memberOf(before, member)]);
      return { key, action: "change", before: Object.fromEntries(members), after: patch };
    }
  }
};
