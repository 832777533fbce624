// One side of a preview: the flags and segments of an environment before or after a change.
import type { PreparedFlag } from "../evaluate.ts";
import { type Flag, prepare } from "../flags/registry.ts";
import type { Condition, Test } from "../targeting/conditions/condition.ts";
import type { Environment } from "../targeting/decision.ts";
import { namedSegments } from "../targeting/references.ts";
import { compileSegment, type SegmentTestable } from "../targeting/segment.ts";

export interface SideFlag {
  readonly flag: Flag;
  readonly level?: number | undefined;
}

export interface Side {
  /** Undefined if it does not exist. */
  flag(key: string): SideFlag | undefined;
  segment(key: string): SegmentTestable | undefined;
}

/** Returns a replacement for a condition. */
export type Rewrite = (condition: Condition) => Condition;

const rewriteFlag = (flag: Flag, rewrite: Rewrite): Flag =>
  flag.rules === undefined
    ? flag
    : { ...flag, rules: flag.rules.map((rule) => ({ ...rule, when: rewrite(rule.when) })) };

/** Compiled on demand. */
export const compileSide = (
  side: Side,
  rewrite?: Rewrite,
): ((key: string) => PreparedFlag | undefined) => {
  const flags = new Map<string, PreparedFlag | undefined>();
  const segments = new Map<string, Test | undefined>();
  const environment: Environment = {
    segment(key) {
      if (!segments.has(key)) {
        const found = side.segment(key);
        const when = found && found.when !== null && rewrite ? rewrite(found.when) : found?.when;
        segments.set(key, found && compileSegment({ ...found, when: when ?? null }));
      }
      return segments.get(key);
    },
    flag(key) {
      if (!flags.has(key)) {
        const found = side.flag(key);
        const flag = found && rewrite ? rewriteFlag(found.flag, rewrite) : found?.flag;
        flags.set(key, flag && prepare(flag, found?.level, environment));
      }
      return flags.get(key);
    },
  };
  return environment.flag;
};

/** The flag and its prerequisites, direct and indirect. */
export const flagsBelow = (side: Side, key: string): readonly Flag[] => {
  const keys = new Set([key]);
  const found: Flag[] = [];
  // Iteration includes elements that are added meanwhile.
  for (const each of keys) {
    const flag = side.flag(each)?.flag;
    if (flag === undefined) continue;
    found.push(flag);
    for (const requirement of flag.requires ?? []) keys.add(requirement.flag);
  }
  return found;
};

/** The conditions of a flag, including those of the segments it references. */
export const conditionsOf = (side: Side, flag: Flag): readonly Condition[] => {
  const segments = new Set(namedSegments(flag).map(({ key }) => key));
  return [
    ...(flag.rules ?? []).filter(({ disabled }) => disabled !== true).map(({ when }) => when),
    ...[...segments].flatMap((key) => side.segment(key)?.when ?? []),
  ];
};
