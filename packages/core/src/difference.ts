// What differs between two versions of a flag, member by member. The type and the key of a flag never change.
import { type Flag, membersOf, type PatchFlag } from "./flags/registry.ts";

export interface MemberChange {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The members that can change, in the order in which people read them. */
export const changeableMembers = (type: string): readonly string[] => [
  "enabled",
  ...membersOf(type).map(([name]) => name),
  "description",
];

/** The flag as it is when it was created with its type and key alone. */
export const initialOf = ({ key, type }: Pick<Flag, "key" | "type">): Flag => {
  const members = membersOf(type).map(([name, { initial }]) => [name, initial]);
  return {
    key,
    type,
    enabled: false,
    ...(Object.fromEntries(members) as object),
    description: null,
  } as Flag;
};

export const memberOf = (flag: Flag, name: string): unknown =>
  (flag as unknown as Readonly<Record<string, unknown>>)[name];

const isSameValue = (one: unknown, other: unknown): boolean =>
  one === other ||
  (typeof one === "object" &&
    typeof other === "object" &&
    JSON.stringify(one) === JSON.stringify(other));

/** Of flags of the same type. */
export const difference = (before: Flag, after: Flag): readonly MemberChange[] =>
  changeableMembers(after.type)
    .map((member) => ({
      member,
      before: memberOf(before, member),
      after: memberOf(after, member),
    }))
    .filter((change) => !isSameValue(change.before, change.after));

export const isSameFlag = (one: Flag, other: Flag): boolean =>
  one.key === other.key && one.type === other.type && difference(one, other).length === 0;

/** The patch that makes the second out of the first. */
export const patchBetween = (before: Flag, after: Flag): PatchFlag =>
  Object.fromEntries(difference(before, after).map(({ member, after: value }) => [member, value]));

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
