// Finds a targeting key with exactly the specified hash by running MurmurHash3 backwards, for boundary cases.
import { multiply, referenceHash, rotate, stateAfter } from "./reference.ts";

const word = 1n << 32n;

/** The inverse of an odd factor modulo 2^32. Each step doubles the number of correct bits. */
const inverse = (factor: bigint): bigint => {
  let found = factor;
  for (let step = 0; step < 5; step += 1) {
    found = multiply(found, (2n + word - multiply(factor, found)) % word);
  }
  return found;
};

const unfinish = (hash: bigint): bigint => {
  let value = hash ^ (hash >> 16n);
  value = multiply(value, inverse(0xc2b2ae35n));
  value ^= (value >> 13n) ^ (value >> 26n);
  value = multiply(value, inverse(0x85ebca6bn));
  return value ^ (value >> 16n);
};

/** The four bytes that lead from one state to the other. */
const groupBetween = (before: bigint, after: bigint): bigint => {
  const rotated = multiply((after + word - 0xe6546b64n) % word, inverse(5n));
  const scrambled = rotate(rotated, 19n) ^ before;
  return multiply(rotate(multiply(scrambled, inverse(0x1b873593n)), 17n), inverse(0xcc9e2d51n));
};

/** Tries prefixes until the last four bytes happen to be letters and digits. */
export const keyWithHash = (flagKey: string, hash: number): string => {
  const padding = "-".repeat(3 - (flagKey.length % 4));
  for (let attempt = 1_000; attempt < 10_000; attempt += 1) {
    const beginning = `${padding}${attempt}`;
    const { state, rest, length } = stateAfter(`${flagKey}:${beginning}`);
    if (rest.length > 0) throw new Error("Only ASCII flag keys are searched.");
    const group = groupBetween(state, unfinish(BigInt(hash)) ^ (length + 4n));
    const bytes = [0n, 8n, 16n, 24n].map((by) => Number((group >> by) & 0xffn));
    const found = beginning + String.fromCharCode(...bytes);
    if (/^-*[0-9A-Za-z]+$/.test(found) && referenceHash(flagKey, found) === hash) return found;
  }
  throw new Error(`No key found for ${flagKey} and ${hash}.`);
};
