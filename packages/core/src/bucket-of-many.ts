// One targeting key among the keys of many flags: its groups of four bytes are mixed once, and not again for each flag.
import type { BucketPrefix, hashFrom } from "./bucket.ts";

const encoder = new TextEncoder();

// The steps of MurmurHash3, as bucket.ts has them. Taken from here, they would slow down the hash of a single flag.
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

/** The groups of a text that begins so many bytes into the first: that one as it is, since the prefix fills it up, the others mixed. */
const groupsOf = (text: Uint8Array, start: number): Int32Array => {
  const groups = new Int32Array(((start + text.length) >> 2) + 1);
  for (let at = 0; at < text.length; at += 1) {
    const place = start + at;
    groups[place >> 2] = (groups[place >> 2] ?? 0) | ((text[at] ?? 0) << ((place & 3) << 3));
  }
  for (let at = 1; at < groups.length; at += 1) groups[at] = mixed(groups[at] ?? 0);
  return groups;
};

/** The same as `hashFrom`, for this targeting key alone. */
export const hashOfMany = (targetingKey: string): typeof hashFrom => {
  const text = encoder.encode(targetingKey);
  const byStart: Int32Array[] = [];
  return ({ state, held, heldBits, length }: BucketPrefix): number => {
    const start = heldBits >> 3;
    byStart[start] ??= groupsOf(text, start);
    const groups = byStart[start];
    let hash = state;
    let group = mixed(held | (groups[0] as number));
    for (let at = 1; at < groups.length; at += 1) {
      hash = after(hash, group);
      group = groups[at] as number;
    }
    return finished(hash ^ group, length + text.length);
  };
};
