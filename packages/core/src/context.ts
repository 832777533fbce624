// The evaluation context: what an application says about the user or object that it evaluates a flag for.

import type { ObjectOfMembers } from "./evaluation.ts";

interface Identified {
  readonly targetingKey?: string | undefined;
  /** Contexts are read as JSON would contain them. */
  readonly toJSON?: unknown;
}

export type Attributes = Identified & { readonly [attribute: string]: unknown };

/**
 * `targetingKey` identifies the user: the same key always gets the same value. All other attributes are up to the application.
 * The second form accepts interfaces, which have no index signature.
 */
export type EvaluationContext = Attributes | (ObjectOfMembers & Identified);

/** An empty key would put all users without an identity into one bucket, so it counts as missing. */
export const isTargetingKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "";
