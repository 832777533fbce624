// The position of a targeting key among all keys of a flag: MurmurHash3 (x86, 32 bits, seed 0) of `<flag key>:<targetingKey>` in UTF-8.
import { allThousandths } from "./percentage.ts";

/** The state of the hash after `<flag key>:`, to which any targeting key can be added. */
export interface BucketPrefix {
  /** The state after the last complete group of four bytes. */
  readonly state: number;
  /** The bytes after that group, the first one lowest. */
  readonly held: number;
  readonly heldBits: number;
  /** The number of bytes hashed so far. */
  readonly length: number;
}

/** For flags that are not split. The length of every real prefix is greater than 0. */
export const noPrefix: BucketPrefix = Object.freeze({ state: 0, held: 0, heldBits: 0, length: 0 });

const hashes = 2 ** 32;

const mix = (state: number, group: number): number => {
  let mixed = Math.imul(group, 0xcc9e2d51);
  mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
  const next = state ^ mixed;
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
};

const finish = (state: number, held: number, length: number): number => {
  let last = Math.imul(held, 0xcc9e2d51);
  last = Math.imul((last << 15) | (last >>> 17), 0x1b873593);
  let hash = state ^ last ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The bytes of a group that remain after its first ones completed the held group. Two shifts, because a shift by 32 would do nothing. */
const rest = (group: number, heldBits: number): number => (group >>> (24 - heldBits)) >>> 8;

/** Adds any text, one code point at a time. A lone surrogate becomes U+FFFD, as in a TextEncoder. */
const extend = (prefix: BucketPrefix, text: string): BucketPrefix => {
  let { state, held, heldBits, length } = prefix;
  for (let index = 0; index < text.length; index += 1) {
    let point = text.charCodeAt(index);
    if (point >= 0xd800 && point < 0xe000) {
      const second = point < 0xdc00 ? text.charCodeAt(index + 1) : Number.NaN;
      if (second >= 0xdc00 && second < 0xe000) {
        point = 0x10000 + ((point - 0xd800) << 10) + (second - 0xdc00);
        index += 1;
      } else {
        point = 0xfffd;
      }
    }
    let bytes = point;
    let bits = 8;
    if (point >= 0x10000) {
      bytes = 0x808080f0 | (point >>> 18) | ((point >>> 4) & 0x3f00);
      bytes |= ((point << 10) & 0x3f0000) | ((point << 24) & 0x3f000000);
      bits = 32;
    } else if (point >= 0x800) {
      bytes = 0x8080e0 | (point >>> 12) | ((point << 2) & 0x3f00) | ((point << 16) & 0x3f0000);
      bits = 24;
    } else if (point >= 0x80) {
      bytes = 0x80c0 | (point >>> 6) | ((point << 8) & 0x3f00);
      bits = 16;
    }
    held |= bytes << heldBits;
    length += bits >>> 3;
    if (heldBits + bits < 32) {
      heldBits += bits;
    } else {
      state = mix(state, held);
      held = rest(bytes, heldBits);
      heldBits += bits - 32;
    }
  }
  return { state, held, heldBits, length };
};

const nothing: BucketPrefix = { state: 0, held: 0, heldBits: 0, length: 0 };

export const bucketPrefix = (flagKey: string): BucketPrefix => extend(nothing, `${flagKey}:`);

/** The hash that decides, from 0 to 2^32 - 1. Reads ASCII four characters at a time and allocates nothing for it. */
export const hashFrom = (prefix: BucketPrefix, targetingKey: string): number => {
  let { state, held } = prefix;
  const { heldBits } = prefix;
  const end = targetingKey.length;
  const lastGroup = end - 3;
  let seen = 0;
  let index = 0;
  for (; index < lastGroup; index += 4) {
    const first = targetingKey.charCodeAt(index);
    const second = targetingKey.charCodeAt(index + 1);
    const third = targetingKey.charCodeAt(index + 2);
    const fourth = targetingKey.charCodeAt(index + 3);
    seen |= first | second | third | fourth;
    const group = first | (second << 8) | (third << 16) | (fourth << 24);
    state = mix(state, held | (group << heldBits));
    held = rest(group, heldBits);
  }
  let tail = 0;
  let tailBits = 0;
  for (; index < end; index += 1) {
    const code = targetingKey.charCodeAt(index);
    seen |= code;
    tail |= code << tailBits;
    tailBits += 8;
  }
  if (seen > 0x7f) {
    const whole = extend(prefix, targetingKey);
    return finish(whole.state, whole.held, whole.length);
  }
  held |= tail << heldBits;
  if (heldBits + tailBits >= 32) {
    state = mix(state, held);
    held = rest(tail, heldBits);
  }
  return finish(state, held, prefix.length + end);
};

export const bucketHash = (flagKey: string, targetingKey: string): number =>
  hashFrom(bucketPrefix(flagKey), targetingKey);

/**
 * Hashes below this limit are in. The limit is the smallest integer that is at least thousandths × 2^32 / 100000, so
 * `hash < limit` is equivalent to hash × 100000 < thousandths × 2^32. Both products are exact in a double.
 */
export const hashLimit = (thousandths: number): number =>
  Math.ceil((thousandths * hashes) / allThousandths);

export const isInRollout = (flagKey: string, targetingKey: string, thousandths: number): boolean =>
  bucketHash(flagKey, targetingKey) < hashLimit(thousandths);

/** The smallest number of thousandths of a percent, from 1 to 100000, at which a rollout includes the key. */
export const bucketOf = (flagKey: string, targetingKey: string): number =>
  Math.floor((bucketHash(flagKey, targetingKey) * allThousandths) / hashes) + 1;
