// Formats a plan as text and JSON: a line per flag and segment, and counts.
import { changeableMembers, difference, formatMember, memberOf } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import type { Change, FlagStep, Plan, SegmentStep } from "@halyard/core/plan/plan";
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import { membersBetween } from "@halyard/sdk/segment-members";
import { colored } from "../../terminal/output.ts";
import { listChangeText, restChanges, segmentText } from "../../terminal/segment-text.ts";
import { ruleChanges } from "../../terminal/targeting-text.ts";
import { textOf } from "../loose-values.ts";

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
    .filter((member) => (memberOf(flag, member) ?? null) !== null)
    .map((member) => valueText(flag.type, member, memberOf(flag, member)));
  return [flag.type, ...texts].join(", ");
};

const changeText = ({ before, after }: FlagStep & { kind: "update" }): string =>
  difference(before, after)
    .map(({ member, ...values }) => {
      const rules = member === "rules" ? ruleChanges(before.rules, after.rules).map(shorten) : [];
      if (rules.length > 0) return `rules ${rules.join(", ")}`;
      const [old, now] = [values.before, values.after].map((value) =>
        valueText(after.type, member, value),
      );
      return `${member} ${old} → ${now}`;
    })
    .join(", ");

/** Segments are marked, flags are not. */
const nameOf = ({ of, key }: Change): string => (of === "segment" ? `segment ${key}` : key);

const segmentChangeText = (before: Segment, after: Segment): string => {
  const members = membersBetween(before, after);
  const lists = memberLists.flatMap((list) => {
    const { add = [], remove = [] } = members[list] ?? {};
    return add.length + remove.length === 0
      ? []
      : [listChangeText(list, { added: add, removed: remove })];
  });
  return [...restChanges(before, after), ...lists].join(", ");
};

const bodyOf = (change: Change): string => {
  if (change.of === "segment") {
    return change.kind === "update"
      ? segmentChangeText(change.before, change.after)
      : segmentText(change.segment);
  }
  if (change.kind === "update") return changeText(change);
  if (change.kind !== "retype") return flagText(change.flag);
  const { member, before, after } = change;
  const [was, is] = [before, after].map((flag) => textOf(memberOf(flag, member)) ?? "none");
  return `${member} ${was} → ${is}`;
};

const lineOf = (change: Change, width: number, isComparison: boolean): string => {
  const text = `${nameOf(change).padEnd(width)}  ${bodyOf(change)}`;
  switch (change.kind) {
    case "create":
      return colored("green", `+ ${text}`);
    case "update":
      return colored("yellow", `~ ${text}`);
    case "delete":
      return colored("red", `- ${text}`);
    case "retype":
      return isComparison
        ? colored("yellow", `~ ${text}`)
        : colored("red", `! ${text}: fixed at creation`);
  }
};

const widestName = 48;

/** In a comparison, a different type is a difference like any other. */
export const linesOf = (changes: readonly Change[], isComparison = false): string[] => {
  const longest = changes.reduce((width, change) => Math.max(width, nameOf(change).length), 0);
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
  const same = unchanged.flags + unchanged.segments;
  return [...counts.filter(([count]) => count > 0), [same, "unchanged"] as const]
    .map(([count, what]) => `${count} ${what}`)
    .join(", ");
};

/** Such as `one flag`, `2 flags` or `2 flags and one segment`. */
export const countsInWords = (flags: number, segments: number): string => {
  const words = (count: number, name: string) =>
    count === 1 ? `one ${name}` : `${count} ${name}s`;
  const both = [
    ...(flags > 0 || segments === 0 ? [words(flags, "flag")] : []),
    ...(segments > 0 ? [words(segments, "segment")] : []),
  ];
  return both.join(" and ");
};

/** Changes of segments have a `subject`. */
const segmentJson = (change: SegmentStep): object => {
  const { key } = change;
  if (change.kind !== "update") {
    return { subject: "segment", key, action: change.kind, segment: change.segment };
  }
  const { before, after } = change;
  const rest = ({ description, when }: Segment) => ({ description, when });
  return {
    subject: "segment",
    key,
    action: "change",
    before: rest(before),
    after: rest(after),
    members: membersBetween(before, after),
  };
};

export const asJson = (change: Change): object => {
  if (change.of === "segment") return segmentJson(change);
  switch (change.kind) {
    case "create":
      return { key: change.key, action: "create", flag: change.flag };
    case "delete":
      return { key: change.key, action: "delete", flag: change.flag };
    case "retype": {
      const { key, member, before, after } = change;
      return {
        key,
        action: "impossible",
        before: { [member]: memberOf(before, member) },
        after: { [member]: memberOf(after, member) },
      };
    }
    case "update": {
      const { key, before, patch } = change;
      const members = Object.keys(patch).map((member) => [member, memberOf(before, member)]);
      return { key, action: "change", before: Object.fromEntries(members), after: patch };
    }
  }
};
