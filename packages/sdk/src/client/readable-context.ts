// Contexts as they come from programs: of any shape, and sometimes none.
import { type EvaluationContext, isTargetingKey } from "@halyard/core/context";
import { asJson } from "@halyard/core/targeting/conditions/attribute";

export const noContext: EvaluationContext = Object.freeze({});

/**
 * At run time a context may be anything. It is read as JSON would carry it, so that the server would answer the same. Nearly
 * every context stays as it is.
 */
export const readable = (context: EvaluationContext): EvaluationContext => {
  if (typeof context.targetingKey !== "object" && typeof context.toJSON !== "function")
    return context;
  const given = (asJson(context) ?? noContext) as EvaluationContext;
  const targetingKey = asJson(given.targetingKey, "targetingKey") as string | undefined;
  return { ...given, targetingKey };
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
