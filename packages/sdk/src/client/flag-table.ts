// The flags and segments of one environment, prepared for evaluation, with counts of the flags' results.
import {
  type EvaluatedFlag,
  type FlagValue,
  fixedFlag,
  type PreparedFlag,
  unknownFlag,
} from "@halyard/core/evaluate";
import { onOrOff } from "@halyard/core/flags/on-or-off";
import { choiceOf, type Flag, isFlag, prepare } from "@halyard/core/flags/registry";
import { ResultCounter } from "@halyard/core/result-counts";
import type { Test } from "@halyard/core/targeting/conditions/condition";
import { isUnknown } from "@halyard/core/targeting/conditions/truth";
import type { Choice, Environment } from "@halyard/core/targeting/decision";
import { rulesNaming } from "@halyard/core/targeting/references";
import {
  applyToState,
  compileSegment,
  type Segment,
  type SegmentChange,
  type SegmentState,
  segmentOf,
  stateOf,
} from "@halyard/core/targeting/segment";
import type { Requirement } from "@halyard/core/targeting/targeting";
import { frozenCopy } from "../frozen-copy.ts";

/** A flag with its level. From a newer server, it may have a type or fields that this version does not know. */
export type LeveledFlag = Flag & { readonly level?: number };

/** Kept when its flag changes, so that no counts are lost. */
export class FlagEntry {
  readonly key: string;
  flag: LeveledFlag;
  prepared: PreparedFlag;
  /** All variants except `off` count as on. */
  choice: Pick<Choice, "variants" | "off">;
  on = 0;
  off = 0;
  /** Counts by variant and by rule, for flags with variants or rules. */
  results: ResultCounter | undefined = undefined;

  constructor(flag: LeveledFlag, environment: Environment) {
    this.key = flag.key;
    this.flag = flag;
    this.prepared = prepareFlag(flag, environment);
    this.choice = choiceIn(flag);
  }

  count(result: EvaluatedFlag): void {
    if (result.variant === this.choice.off) this.off += 1;
    else this.on += 1;
    if (this.prepared.decide === undefined) return;
    this.results ??= new ResultCounter();
    this.results.count(result);
  }
}

export interface FlagTable {
  readonly entries: ReadonlyMap<string, FlagEntry>;
  /** Replaces everything. Returns the keys of the flags whose values may have changed. */
  replace(flags: readonly unknown[], segments: readonly unknown[]): string[];
  /** Adds, changes or removes one flag. Returns the keys of the flags whose values may have changed. */
  change(key: string, flag: LeveledFlag | null): string[];
  /** Adds, changes or removes one segment. Returns the keys of the flags whose values may have changed. */
  changeSegment(key: string, segment: SegmentChange | null): string[];
  /** Sets the value that applies instead of the flag's; `undefined` removes it. Returns keys as above. */
  override(key: string, value: FlagValue | undefined): string[];
  /** The result of the override; undefined when there is none. */
  readonly overridden: (key: string) => EvaluatedFlag | undefined;
  /** Of every flag and override. */
  readonly keys: () => readonly string[];
  /** Sorted by key. */
  readonly flags: () => LeveledFlag[];
  /** Sorted by key. */
  readonly segments: () => Segment[];
}

const prepareFlag = (flag: LeveledFlag, environment: Environment): PreparedFlag =>
  isFlag(flag) ? prepare(flag, flag.level, environment) : unknownFlag;

/** The prerequisites of any flag, including one that this version cannot evaluate. */
const requirementsOf = ({ requires }: LeveledFlag): readonly Partial<Requirement>[] =>
  Array.isArray(requires) ? requires.map((each: Requirement | null) => ({ ...each })) : [];

const choiceIn = (flag: LeveledFlag): FlagEntry["choice"] =>
  isFlag(flag) ? choiceOf(flag) : onOrOff;

/** Requires no more than a key, because flags that cannot be evaluated are kept too. */
const hasKey = (value: unknown): value is LeveledFlag =>
  typeof value === "object" && value !== null && "key" in value && typeof value.key === "string";

const compileOrUndetermined = (state: SegmentState): Test => {
  try {
    return compileSegment(state);
  } catch {
    return () => isUnknown;
  }
};

/** A cache or a bootstrap can contain anything. Membership of an invalid segment is undetermined. */
const isSegment = (value: unknown): value is Segment => {
  if (typeof value !== "object" || value === null) return false;
  const { key, include, exclude, when } = value as Partial<Segment>;
  const lists: readonly unknown[] = [include, exclude];
  return typeof key === "string" && lists.every(Array.isArray) && typeof when === "object";
};

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

interface SegmentEntry {
  readonly state: SegmentState;
  readonly test: Test;
}

export const createFlagTable = (): FlagTable => {
  const entries = new Map<string, FlagEntry>();
  const segments = new Map<string, SegmentEntry>();
  const overrides = new Map<string, FlagValue>();
  const overridden = (key: string): EvaluatedFlag | undefined => {
    // A fast path: nearly all clients have no overrides.
    const value = overrides.size === 0 ? undefined : overrides.get(key);
    if (value === undefined) return undefined;
    const { variants }: FlagEntry["choice"] = entries.get(key)?.choice ?? onOrOff;
    const variant = Object.keys(variants).find((name) => isSame(variants[name], value));
    const result = { value, ...(variant !== undefined && { variant }), reason: "STATIC" };
    return { ...result, overridden: true } as unknown as EvaluatedFlag;
  };
  const environment: Environment = {
    segment: (key) => segments.get(key)?.test,
    flag(key) {
      const override = overridden(key);
      return override === undefined ? entries.get(key)?.prepared : fixedFlag(override);
    },
  };

  /** These flags, and all flags that require one of them, directly or through others. */
  const withDependents = (keys: Iterable<string>): string[] => {
    const dependents = new Map<string, string[]>();
    for (const { flag } of entries.values()) {
      for (const { flag: required } of requirementsOf(flag)) {
        if (required === undefined) continue;
        dependents.set(required, [...(dependents.get(required) ?? []), flag.key]);
      }
    }
    const affected = new Set(keys);
    // Iterating a set includes the keys that are added meanwhile.
    for (const key of affected) for (const each of dependents.get(key) ?? []) affected.add(each);
    return [...affected];
  };

  const naming = (segment: string): string[] =>
    [...entries.values()]
      .filter(({ flag }) => isFlag(flag) && rulesNaming(flag, segment).length > 0)
      .map(({ key }) => key);

  const put = (flag: LeveledFlag): boolean => {
    const entry = entries.get(flag.key);
    if (entry === undefined) {
      entries.set(flag.key, new FlagEntry(frozenCopy(flag), environment));
      return true;
    }
    if (isSame(entry.flag, flag)) return false;
    entry.flag = frozenCopy(flag);
    entry.prepared = prepareFlag(entry.flag, environment);
    entry.choice = choiceIn(entry.flag);
    return true;
  };

  const putSegment = (state: SegmentState): void => {
    segments.set(state.key, { state, test: compileOrUndetermined(state) });
  };

  const shownSegments = (): Segment[] =>
    [...segments.values()]
      .map(({ state }) => segmentOf(state))
      .sort((one, other) => (one.key < other.key ? -1 : 1));

  return {
    entries,
    replace(values, newSegments) {
      const before = new Map(shownSegments().map((each) => [each.key, each]));
      segments.clear();
      for (const each of newSegments.filter(isSegment)) {
        if (isSame(before.get(each.key), each)) before.delete(each.key);
        else before.set(each.key, each);
        putSegment(stateOf(each));
      }
      const flags = values.filter(hasKey);
      const kept = new Set(flags.map(({ key }) => key));
      const removed = [...entries.keys()].filter((key) => !kept.has(key));
      for (const key of removed) entries.delete(key);
      const changed = flags.filter(put).map(({ key }) => key);
      // The segments that remain in `before` have changed or were removed.
      return withDependents([...removed, ...changed, ...[...before.keys()].flatMap(naming)]);
    },
    change(key, flag) {
      const isChanged = flag === null ? entries.delete(key) : put(flag);
      return isChanged ? withDependents([key]) : [];
    },
    changeSegment(key, segment) {
      if (segment === null) segments.delete(key);
      else putSegment(applyToState(segments.get(key)?.state, segment));
      return withDependents(naming(key));
    },
    override(key, value) {
      if (isSame(overrides.get(key), value)) return [];
      if (value === undefined) overrides.delete(key);
      else overrides.set(key, frozenCopy(value));
      return withDependents([key]);
    },
    overridden,
    keys: () => [...new Set([...entries.keys(), ...overrides.keys()])],
    flags: () =>
      [...entries.values()]
        .map(({ flag }) => flag)
        .sort((one, other) => (one.key < other.key ? -1 : 1)),
    segments: shownSegments,
  };
};
