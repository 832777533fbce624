// Where a context lies among all contexts, by a secret: HalfSipHash-1-3 of its targeting key, whose order nobody without the secret can foretell.
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import { boundedValue, maxAttributes, maxTextLength } from "./bounded-context.ts";

/** A whole number from 0 to 2^52 - 1; undefined for a context that is too long to be sampled. */
export type ContextHash = (context: EvaluationContext) => number | undefined;

const hashes = 2 ** 52;

/** The two words of the last hash: an object for each would cost more than the hash. */
let high = 0;
let low = 0;

/** Two UTF-16 code units make a word. The second word of the result is of the same state, and only tells equal ones apart. */
export const hashText = (text: string, key0: number, key1: number): number => {
  let v0 = key0;
  let v1 = key1;
  let v2 = 0x6c796765 ^ key0;
  let v3 = 0x74656462 ^ key1;
  const end = text.length;
  // After the words come the last word with the length, one without a word, and two that finish.
  const lastWord = end >> 1;
  for (let index = 0; index <= lastWord + 3; index += 1) {
    let word = 0;
    if (index < lastWord) {
      word = text.charCodeAt(2 * index) | (text.charCodeAt(2 * index + 1) << 16);
    } else if (index === lastWord) {
      word = (end << 25) | (end % 2 === 1 ? text.charCodeAt(end - 1) : 0);
    } else if (index === lastWord + 1) {
      v2 ^= 0xff;
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  high = v1 ^ v3;
  low = v0 ^ v2;
  return (high >>> 0) * 2 ** 20 + (low >>> 12);
};

/** The text of a value that tells it from others; a text begins unlike the form that JSON gives to others. */
const textOf = (value: unknown): string =>
  typeof value === "string" && value.length <= maxTextLength
    ? `"${value}`
    : (JSON.stringify(boundedValue(value)) ?? "");

/** Of all attributes, in whatever order they come. */
const hashAttributes = (context: EvaluationContext, key0: number, key1: number): number => {
  let sum = 0;
  let left = maxAttributes;
  for (const name in context) {
    if (left === 0) break;
    left -= 1;
    if (name.length > maxTextLength) continue;
    hashText(name, key0, key1);
    sum = (sum + hashText(textOf(context[name]), high, low)) % hashes;
  }
  return sum;
};

/** `secret`: 8 bytes. */
export const createContextHash = (secret: Uint8Array): ContextHash => {
  const view = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
  const key0 = view.getInt32(0, true);
  const key1 = view.getInt32(4, true);
  return (context) => {
    const { targetingKey } = context;
    if (!isTargetingKey(targetingKey)) return hashAttributes(context, key0, key1);
    return targetingKey.length > maxTextLength ? undefined : hashText(targetingKey, key0, key1);
  };
};
