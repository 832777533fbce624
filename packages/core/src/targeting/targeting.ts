// The targeting of a flag of any type.
import type { Condition } from "./conditions/condition.ts";
import type { Share } from "./split.ts";

/** A variant, or shares of users. Users outside the shares fall through to the next rule. */
export type Serve = string | readonly Share[];

export interface Rule {
  /** Same format as a flag key, unique in the flag. */
  readonly id: string;
  readonly description?: string;
  /** A disabled rule is skipped. */
  readonly disabled?: boolean;
  readonly when: Condition;
  readonly serve: Serve;
}

/** A prerequisite: another flag of the environment that must return this variant for the same context. */
export interface Requirement {
  readonly flag: string;
  readonly variant: string;
}

/** Fields are absent unless they are set. */
export interface Targeting {
  readonly requires?: readonly Requirement[];
  readonly rules?: readonly Rule[];
  /** The attribute for bucketing, instead of `targetingKey`. */
  readonly bucketBy?: string;
  /** Hashed instead of the flag's key, so that flags can share their users. */
  readonly bucketSeed?: string;
  readonly tags?: readonly string[];
  readonly owner?: string;
}

/** Whether evaluation needs more than the first level. */
export const usesTargeting = ({ requires, rules, bucketBy, bucketSeed }: Targeting): boolean =>
  requires !== undefined ||
  rules !== undefined ||
  bucketBy !== undefined ||
  bucketSeed !== undefined;
