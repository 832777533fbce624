// The flag types. A new type is a file in this folder and a line here; whatever depends on the type asks this registry.
import { type PreparedFlag, unknownFlag } from "../evaluate.ts";
import { isKnownLevel } from "../levels.ts";
import { booleanType } from "./boolean.ts";
import type { FlagBase, FlagType, Member } from "./flag-type.ts";
import { rolloutType } from "./rollout.ts";

export const flagTypes = {
  boolean: booleanType,
  rollout: rolloutType,
} as const;

export type FlagTypeName = keyof typeof flagTypes;
export const flagTypeNames = Object.keys(flagTypes) as FlagTypeName[];

type FlagOf<T> = T extends FlagType<infer F> ? F : never;
export type Flag = FlagOf<(typeof flagTypes)[FlagTypeName]>;

type KeysOf<T> = T extends unknown ? keyof T : never;
type MemberNames = Exclude<KeysOf<Flag>, keyof FlagBase>;
/** The members of all types, none of them required. */
export type FlagMembers = {
  readonly [Name in MemberNames]?: Extract<Flag, Readonly<Record<Name, unknown>>>[Name];
};

export interface CreateFlag extends FlagMembers {
  readonly key: string;
  readonly type: FlagTypeName;
  readonly description?: string | null;
}

export interface PatchFlag extends FlagMembers {
  readonly enabled?: boolean;
  readonly description?: string | null;
}

/** A type as seen by code that works with any of them. */
type AnyFlagType = Omit<FlagType<FlagBase>, "members"> & {
  readonly members: Readonly<Record<string, Member<unknown>>>;
};

/** A flag that a newer version wrote: it is shown and turned on or off, but not evaluated. */
const unknownType: AnyFlagType = {
  name: "unknown",
  summary: "belongs to a newer version",
  members: {},
  refusal: "this version does not know the type of the flag",
  level: () => 1,
  prepare: () => unknownFlag,
  reach: () => 0,
};

export const isFlagTypeName = (name: unknown): name is FlagTypeName =>
  typeof name === "string" && Object.hasOwn(flagTypes, name);

export const typeOf = (name: string): AnyFlagType =>
  isFlagTypeName(name) ? (flagTypes[name] as unknown as AnyFlagType) : unknownType;

/** The members of the flag's type, in the order in which a flag shows them. */
export const membersOf = (type: string): readonly (readonly [string, Member<unknown>])[] =>
  Object.entries(typeOf(type).members);

/** The types that have a member of this name. */
export const typesWith = (member: string): readonly FlagTypeName[] =>
  flagTypeNames.filter((name) => Object.hasOwn(flagTypes[name].members, member));

/** Undefined for the first level. `before` is the level of the flag so far: one that this version does not know stays. */
export const levelOf = (flag: Flag, before?: number): number | undefined => {
  if (!isKnownLevel(before)) return before;
  const level = typeOf(flag.type).level(flag);
  return level > 1 ? level : undefined;
};

/** `level` is the one that came along with the flag. */
export const prepare = (flag: Flag, level?: number): PreparedFlag =>
  isKnownLevel(level) ? typeOf(flag.type).prepare(flag) : unknownFlag;

/** How many of 100,000 users get the flag now. */
export const reachOf = (flag: Flag): number => (flag.enabled ? typeOf(flag.type).reach(flag) : 0);

/** Whether a value from outside is a flag that this version can use; members that it does not know are ignored. */
export const isFlag = (value: unknown): value is Flag => {
  if (typeof value !== "object" || value === null) return false;
  const flag = value as Readonly<Record<string, unknown>>;
  return (
    typeof flag.key === "string" &&
    typeof flag.enabled === "boolean" &&
    isFlagTypeName(flag.type) &&
    membersOf(flag.type).every(([name, { isValid }]) => isValid(flag[name]))
  );
};
