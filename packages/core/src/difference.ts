// The differences between two versions of a flag, by field. A flag's type and key never change.
import { arrange } from "./flags/arrange.ts";
import {
  type Flag,
  membersOf,
  ownMembersOf,
  type PatchFlag,
  targetingMembersOf,
} from "./flags/registry.ts";

type Named = Readonly<Record<string, unknown>>;

export interface MemberChange {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields that can change, in the order in which they are shown. */
export const changeableMembers = (type: string): readonly string[] => [
  "enabled",
  ...ownMembersOf(type).map(([name]) => name),
  "description",
  ...targetingMembersOf(type).map(([name]) => name),
];

/** The flag as created with only its type and key. */
export const initialOf = ({ key, type }: Pick<Flag, "key" | "type">): Flag => {
  const members = membersOf(type).map(([name, { initial }]) => [name, initial]);
  return arrange({ ...Object.fromEntries(members), key, type, enabled: false, description: null });
};

export const memberOf = (flag: Flag, name: string): unknown =>
  (flag as unknown as Readonly<Record<string, unknown>>)[name];

/** Compares JSON values. The order of fields doesn't matter. */
export const isSameValue = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) && isSameValue((one as Named)[name], (other as Named)[name]),
    )
  );
};

/** Both flags must have the same type. */
export const difference = (before: Flag, after: Flag): readonly MemberChange[] =>
  changeableMembers(after.type)
    .filter((member) => !isSameValue(memberOf(before, member), memberOf(after, member)))
    .map((member) => ({
      member,
      before: memberOf(before, member),
      after: memberOf(after, member),
    }));

export const isSameFlag = (one: Flag, other: Flag): boolean =>
  one.key === other.key && one.type === other.type && difference(one, other).length === 0;

/** The patch that turns the first flag into the second. */
export const patchBetween = (before: Flag, after: Flag): PatchFlag =>
  Object.fromEntries(
    // Null removes a field.
    difference(before, after).map(({ member, after: value }) => [member, value ?? null]),
  );

/** The value of a field for display, such as `on`, `25%`, `"a text"` or `none`. */
export const formatMember = (
  type: string,
  member: string,
  value: unknown,
  formatNumber: (value: number) => string = String,
): string => {
  if (value === undefined || value === null) return "none";
  if (member === "enabled") return value === true ? "on" : "off";
  const known = membersOf(type).find(([name]) => name === member)?.[1];
  return known ? known.format(value, formatNumber) : JSON.stringify(value);
};
