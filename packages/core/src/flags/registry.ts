// The flag types. A new type is a file in this folder and a line here. Code that depends on the type uses this registry.
import { decidedFlag, type PreparedFlag, unknownFlag } from "../evaluate.ts";
import { isKnownLevel, targetingLevel } from "../levels.ts";
import { type Choice, compileDecision, type Environment } from "../targeting/decision.ts";
import { type Rule, type Targeting, usesTargeting } from "../targeting/targeting.ts";
import { booleanType } from "./boolean.ts";
import type { FlagBase, FlagType, Member } from "./flag-type.ts";
import { onOrOff } from "./on-or-off.ts";
import { rolloutType } from "./rollout.ts";
import { targetingMembers } from "./targeting-members.ts";
import { variantType } from "./variant.ts";

export const flagTypes = {
  boolean: booleanType,
  rollout: rolloutType,
  variant: variantType,
} as const;

export type FlagTypeName = keyof typeof flagTypes;
export const flagTypeNames = Object.keys(flagTypes) as FlagTypeName[];

type FlagOf<T> = T extends FlagType<infer F> ? F : never;
export type Flag = FlagOf<(typeof flagTypes)[FlagTypeName]>;

type KeysOf<T> = T extends unknown ? keyof T : never;
type MemberNames = Exclude<KeysOf<Flag>, keyof FlagBase>;
type ValueOf<F, Name> = F extends unknown ? (Name extends keyof F ? F[Name] : never) : never;
/** The fields of all types, all optional. */
export type FlagMembers = { readonly [Name in MemberNames]?: ValueOf<Flag, Name> };

/** A rule in a request. It gets an id if it has none. */
export type NewRule = Omit<Rule, "id"> & { readonly id?: string };

/** The fields that a request can set, or remove with `null`. */
type TargetingRequest = {
  readonly [Name in Exclude<keyof Targeting, "rules">]?: Targeting[Name] | null;
} & { readonly rules?: readonly NewRule[] | null };

type MemberRequest = Omit<FlagMembers, "otherwise"> & {
  readonly otherwise?: FlagMembers["otherwise"] | null;
} & TargetingRequest;

export type CreateFlag = MemberRequest & {
  readonly key: string;
  readonly type: FlagTypeName;
  readonly description?: string | null;
};

export type PatchFlag = MemberRequest & {
  readonly enabled?: boolean;
  readonly description?: string | null;
};

/** A type for code that works with all of them. */
type AnyFlagType = Omit<FlagType<FlagBase>, "members"> & {
  readonly members: Readonly<Record<string, Member<unknown>>>;
};

/** A flag that a newer version wrote. It can be shown and turned on or off, but not evaluated. */
const unknownType: AnyFlagType = {
  name: "unknown",
  summary: "belongs to a newer version",
  members: {},
  refusal: "this version does not support the type of the flag",
  level: 1,
  choice: () => ({ ...onOrOff, otherwise: "off" }),
  prepare: () => unknownFlag,
  reach: () => 0,
};

export const isFlagTypeName = (name: unknown): name is FlagTypeName =>
  typeof name === "string" && Object.hasOwn(flagTypes, name);

export const typeOf = (name: string): AnyFlagType =>
  isFlagTypeName(name) ? (flagTypes[name] as unknown as AnyFlagType) : unknownType;

type MemberEntry = readonly [name: string, member: Member<unknown>];

const targetingEntries = Object.entries(targetingMembers) as unknown as readonly MemberEntry[];
// Computed once, because every change uses these lists.
const ownEntries: ReadonlyMap<string, readonly MemberEntry[]> = new Map(
  flagTypeNames.map((name) => [name, Object.entries(typeOf(name).members)]),
);
const allEntries: ReadonlyMap<string, readonly MemberEntry[]> = new Map(
  [...ownEntries].map(([name, own]) => [name, [...own, ...targetingEntries]]),
);

/** The fields specific to the flag's type, in the order in which a flag shows them. */
export const ownMembersOf = (type: string): readonly MemberEntry[] => ownEntries.get(type) ?? [];

/** The fields that flags of any type can have. */
export const targetingMembersOf = (type: string): readonly MemberEntry[] =>
  isFlagTypeName(type) ? targetingEntries : [];

/** All fields except those that every flag has. */
export const membersOf = (type: string): readonly MemberEntry[] => allEntries.get(type) ?? [];

/** The types that have a field of this name. */
export const typesWith = (member: string): readonly FlagTypeName[] =>
  flagTypeNames.filter((name) => Object.hasOwn(flagTypes[name].members, member));

/** The variants of the flag, and its default rule. */
export const choiceOf = (flag: Flag): Choice => typeOf(flag.type).choice(flag);

/** Undefined for the first level. `before` is the current level of the flag, which is kept if this version does not support it. */
export const levelOf = (flag: Flag, before?: number): number | undefined => {
  if (!isKnownLevel(before)) return before;
  const level = usesTargeting(flag) ? targetingLevel : typeOf(flag.type).level;
  return level > 1 ? level : undefined;
};

/** An environment without other flags and segments. */
const alone: Environment = { segment: () => undefined, flag: () => undefined };

/** `level` is the level that came with the flag. */
export const prepare = (
  flag: Flag,
  level?: number,
  environment: Environment = alone,
): PreparedFlag => {
  if (!isKnownLevel(level)) return unknownFlag;
  const { prepare: plain, choice } = typeOf(flag.type);
  if (plain !== undefined && !usesTargeting(flag)) return plain(flag);
  const { key, enabled } = flag;
  try {
    const decidable = { key, enabled, ...choice(flag), targeting: flag };
    return decidedFlag(compileDecision(decidable, environment));
  } catch {
    // The stored flag is not valid. The other flags are evaluated anyway.
    return unknownFlag;
  }
};

/** The number of users out of 100,000 that get the flag now, ignoring its rules. */
export const reachOf = (flag: Flag): number => (flag.enabled ? typeOf(flag.type).reach(flag) : 0);

/** Whether this version can use a value from outside as a flag. Ignores unknown fields. */
export const isFlag = (value: unknown): value is Flag => {
  if (typeof value !== "object" || value === null) return false;
  const flag = value as Readonly<Record<string, unknown>>;
  return (
    typeof flag.key === "string" &&
    typeof flag.enabled === "boolean" &&
    isFlagTypeName(flag.type) &&
    membersOf(flag.type).every(
      ([name, { isOptional, isValid }]) =>
        (isOptional === true && flag[name] === undefined) || isValid(flag[name]),
    )
  );
};
