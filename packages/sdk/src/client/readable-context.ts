// Reads contexts as programs pass them: at run time they can have any shape.
import { type EvaluationContext, isTargetingKey } from "@halyard/core/context";
import { asJson } from "@halyard/core/targeting/conditions/attribute";

export const noContext: EvaluationContext = Object.freeze({});

/**
 * At run time a context may be anything. It is read as its JSON would be, so that a server would return the same value. Nearly
 * all contexts stay unchanged.
 */
export const readable = (context: EvaluationContext): EvaluationContext => {
  if (typeof context.targetingKey !== "object" && typeof context.toJSON !== "function")
    return context;
  const given = (asJson(context) ?? noContext) as EvaluationContext;
  const targetingKey = asJson(given.targetingKey, "targetingKey") as string | undefined;
  return { ...given, targetingKey };
};

/** A context whose fields cannot be read counts as empty. */
export const copyOf = (context: EvaluationContext): EvaluationContext => {
  try {
    return { ...context };
  } catch {
    return noContext;
  }
};

/** Undefined when there is none, or the context throws when it is read. */
export const targetingKeyOf = (context: EvaluationContext | undefined): string | undefined => {
  try {
    const { targetingKey } = readable(context ?? noContext);
    return isTargetingKey(targetingKey) ? targetingKey : undefined;
  } catch {
    return undefined;
  }
};
