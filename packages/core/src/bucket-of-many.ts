// Hashes one targeting key for many flags at once. The key's groups of four bytes are mixed only once.
import { type BucketPrefix, noPrefix } from "./bucket.ts";

const encoder = new TextEncoder();

// Copies of the MurmurHash3 steps in bucket.ts: sharing them would slow down the hash of a single flag.
const mixed = (group: number): number => {
  const first = Math.imul(group, 0xcc9e2d51);
  return Math.imul((first << 15) | (first >>> 17), 0x1b873593);
};
const after = (state: number, group: number): number => {
  const next = state ^ group;
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
};
const finished = (state: number, length: number): number => {
  let hash = state ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** Groups of four bytes of a text that starts at byte `start` of the first group. The prefix completes that group, so it is not mixed yet. */
const groupsOf = (text: Uint8Array, start: number): Int32Array => {
  const groups = new Int32Array(((start + text.length) >> 2) + 1);
  for (let at = 0; at < text.length; at += 1) {
    const place = start + at;
    groups[place >> 2] = (groups[place >> 2] ?? 0) | ((text[at] ?? 0) << ((place & 3) << 3));
  }
  for (let at = 1; at < groups.length; at += 1) groups[at] = mixed(groups[at] ?? 0);
  return groups;
};

const perFlag = 4;

/** The hash prefixes of many flags in one typed array. */
export class PrefixTable {
  readonly #numbers: Int32Array;
  readonly #hashes: Uint32Array;

  constructor(flags: number) {
    this.#numbers = new Int32Array(flags * perFlag);
    this.#hashes = new Uint32Array(flags);
  }

  /** Pass undefined for a flag that needs no hash. */
  set(flag: number, prefix: BucketPrefix | undefined): void {
    const { state, held, heldBits, length } = prefix ?? noPrefix;
    this.#numbers.set([state, held, heldBits >> 3, length], flag * perFlag);
  }

  /** The hashes of all flags, equal to those of `hashFrom`. The next call overwrites them. */
  hashesOf(targetingKey: string): Uint32Array {
    const numbers = this.#numbers;
    const hashes = this.#hashes;
    const text = encoder.encode(targetingKey);
    const byStart = [0, 1, 2, 3].map((start) => groupsOf(text, start));
    for (let flag = 0, at = 0; flag < hashes.length; flag += 1, at += perFlag) {
      const length = numbers[at + 3] as number;
      if (length === 0) continue;
      const groups = byStart[numbers[at + 2] as number] as Int32Array;
      let state = numbers[at] as number;
      let group = mixed((numbers[at + 1] as number) | (groups[0] as number));
      for (let next = 1; next < groups.length; next += 1) {
        state = after(state, group);
        group = groups[next] as number;
      }
      hashes[flag] = finished(state ^ group, length + text.length);
    }
    return hashes;
  }
}
