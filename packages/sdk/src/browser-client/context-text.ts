// Contexts as text, to compare them as the server would read them.
import type { EvaluationContext } from "@halyard/core/context";

const sortMembers = (_name: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Canonical JSON: the order of members makes no difference. Undefined if the context cannot be JSON. */
export const contextText = (context: EvaluationContext): string | undefined => {
  try {
    return JSON.stringify(context, sortMembers);
  } catch {
    return undefined;
  }
};
