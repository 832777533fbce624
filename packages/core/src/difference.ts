// What differs between two versions of a flag, member by member. The type and the key of a flag never change.
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

/** The members that can change, in the order in which people read them. */
export const changeableMembers = (type: string): readonly string[] => [
  "enabled",
  ...ownMembersOf(type).map(([name]) => name),
  "description",
  ...targetingMembersOf(type).map(([name]) => name),
];

/** The flag as it is when it was created with its type and key alone. */
export const initialOf = ({ key, type }: Pick<Flag, "key" | "type">): Flag => {
  const members = membersOf(type).map(([name, { initial }]) => [name, initial]);
  return arrange({ ...Object.fromEntries(members), key, type, enabled: false, description: null });
};

export const memberOf = (flag: Flag, name: string): unknown =>
  (flag as unknown as Readonly<Record<string, unknown>>)[name];

/** Of JSON values; the order of members does not count. */
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

/** Of flags of the same type. */
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

/** The patch that makes the second out of the first. */
export const patchBetween = (before: Flag, after: Flag): PatchFlag =>
  Object.fromEntries(
    // Null takes away what is not there afterwards.
    difference(before, after).map(({ member, after: value }) => [member, value ?? null]),
  );

/** The value of a member for people: `on`, `25 %`, `"a text"`, `none`. */
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
