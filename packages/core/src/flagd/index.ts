// An environment as a flagd definition that decides the same, and what cannot be said in one.
import { choiceOf, type Flag, isFlag } from "../flags/registry.ts";
import { isKnownLevel } from "../levels.ts";
import type { Segment } from "../targeting/segment.ts";
import { usesTargeting } from "../targeting/targeting.ts";

export type FlagdClass = "exact" | "ascii" | "left-out";

/** What became of a flag. */
export interface FlagdFlag {
  readonly key: string;
  readonly class: FlagdClass;
  /** Sentences for people; empty when it is exact. */
  readonly reasons: readonly string[];
}

export interface FlagdSet {
  readonly flags: readonly FlagdFlag[];
  /** The definition as JSON, without the flags that are left out. */
  readonly text: string;
}

export interface FlagdContent {
  readonly flags: readonly (Flag & { readonly level?: number })[];
  readonly segments: readonly Segment[];
}

export interface FlagdOptions {
  /** The name of the environment. */
  readonly flagSetId: string;
  /** The revision of the environment. */
  readonly version?: number;
}

export const compileFlagd = (
  { flags }: FlagdContent,
  { flagSetId, version }: FlagdOptions,
): FlagdSet => {
  const definitions: Record<string, unknown> = {};
  const told: FlagdFlag[] = [];
  for (const flag of flags) {
    const isPlain = isKnownLevel(flag.level) && isFlag(flag) && flag.type === "boolean";
    if (!isPlain || (flag.enabled && usesTargeting(flag))) {
      told.push({ key: flag.key, class: "left-out", reasons: ["It is more than on or off."] });
      continue;
    }
    const { variants, off } = choiceOf(flag);
    definitions[flag.key] = {
      state: "ENABLED",
      variants,
      defaultVariant: flag.enabled ? "on" : off,
    };
    told.push({ key: flag.key, class: "exact", reasons: [] });
  }
  const metadata = { flagSetId, ...(version !== undefined && { version: String(version) }) };
  return { flags: told, text: JSON.stringify({ metadata, flags: definitions }) };
};
