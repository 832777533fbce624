// A flag and its changes in words, for people.
import type { Actor, Flag } from "@halyard/sdk";
import { type Cell, inOneLine } from "./output.ts";

export const switchOf = ({ enabled }: Flag): Cell =>
  enabled ? { style: "green", text: "on" } : { style: "dim", text: "off" };

/** Whom it reaches when it is on. */
export const reachOf = (flag: Flag): string =>
  flag.type === "rollout" ? `${flag.percentage} %` : "everyone";

const shownFields = ["enabled", "percentage", "description"] as const;
type ShownField = (typeof shownFields)[number];
type Value = string | number | boolean | null | undefined;

const textOf = (field: ShownField, value: Value): string => {
  if (value === undefined || value === null) return "none";
  if (field === "enabled") return value === true ? "on" : "off";
  return field === "percentage" ? `${value} %` : inOneLine(JSON.stringify(value));
};

export interface FieldChange {
  readonly field: ShownField;
  /** Such as `10 % → 25 %`. */
  readonly text: string;
}

/** Field by field; of a new flag what is not as every flag begins. */
export const changesBetween = (
  before: Partial<Flag> | null,
  after: Flag | null,
): readonly FieldChange[] => {
  if (after === null) return [];
  const old: Readonly<Record<string, Value>> = before ?? {
    enabled: false,
    percentage: after.type === "rollout" ? 0 : undefined,
    description: null,
  };
  const now: Readonly<Record<string, Value>> = { ...after };
  return shownFields
    .filter((field) => field in old && old[field] !== now[field])
    .map((field) => ({
      field,
      text: `${textOf(field, old[field])} → ${textOf(field, now[field])}`,
    }));
};

export const changesInOneLine = (before: Partial<Flag> | null, after: Flag | null): string =>
  changesBetween(before, after)
    .map(({ field, text }) => `${field} ${text}`)
    .join(", ");

export const actorText = ({ keyId, name }: Actor): string =>
  inOneLine(keyId === null ? name : `${name} (${keyId})`);

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Such as `3 hours ago`. */
export const agoOf = (time: string): string => {
  const passed = Date.now() - Date.parse(time);
  const [unit, length] = units.find(([, each]) => passed >= each) ?? [];
  if (unit === undefined) return "less than a minute ago";
  const count = Math.floor(passed / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
};
