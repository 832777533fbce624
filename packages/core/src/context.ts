// What an application says about the one it evaluates a flag for.

/** `targetingKey` identifies them: the same key always gets the same value. Everything else is the application's own. */
export interface EvaluationContext {
  readonly targetingKey?: string | undefined;
  readonly [attribute: string]: unknown;
}

/** An empty key would put everyone without an identity into one bucket, so it counts as none. */
export const isTargetingKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "";
