// What an application says about the one it evaluates a flag for.

import type { ObjectOfMembers } from "./evaluation.ts";

interface Identified {
  readonly targetingKey?: string | undefined;
  /** A context is read as JSON would carry it. */
  readonly toJSON?: unknown;
}

/** The attributes by name. */
export type Attributes = Identified & { readonly [attribute: string]: unknown };

/**
 * `targetingKey` identifies them: the same key always gets the same value. Everything else is the application's own. The second
 * form takes an interface, which has no index signature.
 */
export type EvaluationContext = Attributes | (ObjectOfMembers & Identified);

/** An empty key would put everyone without an identity into one bucket, so it counts as none. */
export const isTargetingKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "";
