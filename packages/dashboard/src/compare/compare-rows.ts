// What the comparison shows of each flag or segment in each environment, and which rows match.
import { isSameFlag } from "@halyard/core/difference";
import { type Flag, ownMembersOf } from "@halyard/core/flags/registry";
import { isSameSegment } from "@halyard/core/plan/same-segment";
import type { Segment } from "@halyard/core/targeting/segment";
import { memberText, rulesText } from "../flags/edit/flag-change.ts";
import { whoIsIn } from "../segments/segment-words.ts";
import type { EnvironmentState } from "./environment-snapshots.ts";

export type Compared = "flag" | "segment";

export type Value = Flag | Segment;

export interface Row {
  readonly key: string;
  /** By the name of the environment; absent where it is not. */
  readonly values: ReadonlyMap<string, Value>;
}

export const isFlagValue = (value: Value): value is Flag => "enabled" in value;

/** Of all environments, sorted by key. */
export const rowsOf = (
  kind: Compared,
  states: ReadonlyMap<string, EnvironmentState | undefined>,
): readonly Row[] => {
  const rows = new Map<string, Map<string, Value>>();
  for (const [name, state] of states) {
    for (const [key, { value }] of (kind === "flag" ? state?.flags : state?.segments) ?? []) {
      const values = rows.get(key) ?? new Map<string, Value>();
      values.set(name, value);
      rows.set(key, values);
    }
  }
  return [...rows]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, values]) => ({ key, values }));
};

const isSame = (one: Value, other: Value): boolean =>
  isFlagValue(one)
    ? isFlagValue(other) && isSameFlag(one, other)
    : !isFlagValue(other) && isSameSegment(one, other);

/** By the two values, which never change: thousands are compared again whenever one of them is another. */
const compared = new WeakMap<Value, WeakMap<Value, boolean>>();

export const differs = (one: Value | undefined, other: Value | undefined): boolean => {
  if (one === undefined || other === undefined) return one !== other;
  const known = compared.get(one) ?? new WeakMap<Value, boolean>();
  compared.set(one, known);
  let result = known.get(other);
  if (result === undefined) {
    result = !isSame(one, other);
    known.set(other, result);
  }
  return result;
};

/** Whether it differs from the base in one of these environments. */
export const rowDiffers = (row: Row, base: string, others: readonly string[]): boolean => {
  const value = row.values.get(base);
  return others.some((name) => name !== base && differs(value, row.values.get(name)));
};

/** Every word is in the key or in a description. */
export const matching = (rows: readonly Row[], text: string): readonly Row[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ key, values }) => {
    const texts = [
      key,
      ...new Set([...values.values()].map(({ description }) => description ?? "")),
    ];
    const all = texts.join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  });
};

export interface CellText {
  /** "On" or "Off"; empty for a segment. */
  readonly state: string;
  /** The percentage or the variant; for a segment who is in it. */
  readonly given: string;
  /** Rules and requirements in a few words. */
  readonly rules: string;
}

const givenBy = (flag: Flag): string => {
  if (flag.type === "rollout") return memberText(flag, "percentage") ?? "";
  if (flag.type === "variant") {
    return (flag.enabled ? memberText(flag, "otherwise") : flag.off) ?? "";
  }
  const own = ownMembersOf(flag.type).flatMap(([name]) => memberText(flag, name) ?? []);
  return own.length > 0 && flag.rules !== undefined ? `else ${own.join(", ")}` : own.join(", ");
};

export const cellOf = (value: Value): CellText => {
  if (isFlagValue(value)) {
    return {
      state: value.enabled ? "On" : "Off",
      given: givenBy(value),
      rules: rulesText(value) ?? "",
    };
  }
  const counts = { include: value.include.length, exclude: value.exclude.length };
  return { state: "", given: whoIsIn({ ...value, counts }), rules: "" };
};
