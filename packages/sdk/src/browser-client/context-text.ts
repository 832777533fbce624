// Serializes contexts, to compare them as the server would read them.
import type { EvaluationContext } from "@halyard/core/context";

const sortFields = (_name: string, value: unknown): unknown =>
  Object(value) === value && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** JSON with sorted fields. Undefined if the context cannot be JSON. */
export const contextText = (context: EvaluationContext): string | undefined => {
  try {
    return JSON.stringify(context, sortFields);
  } catch {
    return undefined;
  }
};
