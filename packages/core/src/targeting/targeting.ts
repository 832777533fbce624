// What a flag of any type may say about who gets which variant.
import type { Condition } from "./conditions/condition.ts";
import type { Share } from "./split.ts";

/** A variant for all, or shares of people. Whom a split does not reach goes on to the next rule. */
export type Serve = string | readonly Share[];

export interface Rule {
  /** Like a flag key, unique in the flag. */
  readonly id: string;
  readonly description?: string;
  /** A disabled rule is skipped. */
  readonly disabled?: boolean;
  readonly when: Condition;
  readonly serve: Serve;
}

/** Another flag of the environment that must give this variant for the same context. */
export interface Requirement {
  readonly flag: string;
  readonly variant: string;
}

/** Each is absent unless it is set. */
export interface Targeting {
  readonly requires?: readonly Requirement[];
  readonly rules?: readonly Rule[];
  /** The attribute to split by instead of `targetingKey`. */
  readonly bucketBy?: string;
  /** Instead of the flag's key, so that flags can share their people. */
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
