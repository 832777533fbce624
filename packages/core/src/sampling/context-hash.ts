// Where a context lies among all contexts, by a secret: nobody without it can tell which ones come first.
import { type BucketPrefix, bucketPrefix, hashFrom } from "../bucket.ts";
import { type Attributes, type EvaluationContext, isTargetingKey } from "../context.ts";
import { boundedValue, maxAttributes, maxTextLength } from "./bounded-context.ts";

/**
 * A whole number from 0 to 2^32 - 1: of the targeting key, or of all attributes when there is none. Undefined for a context
 * that is too long to be sampled.
 */
export type ContextHash = (context: EvaluationContext) => number | undefined;

/** A text begins unlike the JSON of anything else. */
const textOf = (value: unknown): string =>
  typeof value === "string" && value.length <= maxTextLength
    ? `"${value}`
    : (JSON.stringify(boundedValue(value)) ?? "");

/** The same in whatever order the attributes come. */
const hashAttributes = (context: EvaluationContext, prefix: BucketPrefix): number => {
  let sum = hashFrom(prefix, "");
  let left = maxAttributes;
  for (const name in context) {
    if (left === 0) break;
    left -= 1;
    if (name.length > maxTextLength) continue;
    const state = hashFrom(prefix, name) | 0;
    sum += hashFrom(
      { state, held: 0, heldBits: 0, length: 0 },
      textOf((context as Attributes)[name]),
    );
  }
  return sum % 2 ** 32;
};

/** The hash that flags use too, after a secret instead of a flag's key: it costs a fraction of a cryptographic one. */
export const createContextHash = (secret: string): ContextHash => {
  const prefix = bucketPrefix(secret);
  return (context) => {
    const { targetingKey } = context;
    if (!isTargetingKey(targetingKey)) return hashAttributes(context, prefix);
    return targetingKey.length > maxTextLength ? undefined : hashFrom(prefix, targetingKey);
  };
};
