// Segments: named groups of people of an environment, by list and by condition.
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import { type Condition, compileCondition, type Test } from "./condition.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth, truthOf } from "./truth.ts";

export interface Segment {
  readonly key: string;
  readonly description: string | null;
  /** Targeting keys. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly when: Condition | null;
}

/** Whether the context's targeting key is in a list: a list that is not empty needs one. */
const inList = (keys: ReadonlySet<string>, { targetingKey }: EvaluationContext): Truth => {
  if (keys.size === 0) return isFalse;
  return isTargetingKey(targetingKey) ? truthOf(keys.has(targetingKey)) : isUnknown;
};

/** In when not excluded and either included or matched. Made once for all flags that name it. */
export const compileSegment = ({ include, exclude, when }: Segment): Test => {
  const included = new Set(include);
  const excluded = new Set(exclude);
  // Checked when it was saved: a segment names no other.
  const test = when === null ? undefined : compileCondition(when, () => undefined);
  return (context) => {
    const allowed = opposite(inList(excluded, context));
    if (allowed === isFalse) return isFalse;
    let truth = inList(included, context);
    if (truth !== isTrue && test !== undefined) truth = Math.max(truth, test(context)) as Truth;
    return Math.min(allowed, truth) as Truth;
  };
};
