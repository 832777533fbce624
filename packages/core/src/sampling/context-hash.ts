// The position of a context among all contexts. It depends on a secret, so that clients can't choose which contexts are sampled.
import { type BucketPrefix, bucketPrefix, hashFrom } from "../bucket.ts";
import { type Attributes, type EvaluationContext, isTargetingKey } from "../context.ts";
import { boundedValue, maxAttributes, maxTextLength } from "./bounded-context.ts";

/**
 * A whole number from 0 to 2^32 - 1: the hash of the targeting key, or of all attributes if there is none. Undefined for
 * a context that is too long to be sampled.
 */
export type ContextHash = (context: EvaluationContext) => number | undefined;

/** The prefix distinguishes strings from the JSON of other values. */
const textOf = (value: unknown): string =>
  typeof value === "string" && value.length <= maxTextLength
    ? `"${value}`
    : (JSON.stringify(boundedValue(value)) ?? "");

/** Independent of the order of attributes. */
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

/** The hash function of flags, with a secret instead of the flag's key. It costs a fraction of a cryptographic one. */
export const createContextHash = (secret: string): ContextHash => {
  const prefix = bucketPrefix(secret);
  return (context) => {
    const { targetingKey } = context;
    if (!isTargetingKey(targetingKey)) return hashAttributes(context, prefix);
    return targetingKey.length > maxTextLength ? undefined : hashFrom(prefix, targetingKey);
  };
};
