// A second, plain implementation of the evaluation rules, without any code of core, to compare core with.

const bits = 32n;
const mask = (1n << bits) - 1n;

export const multiply = (value: bigint, factor: bigint): bigint => (value * factor) & mask;

export const rotate = (value: bigint, by: bigint): bigint =>
  ((value << by) | (value >> (bits - by))) & mask;

const scramble = (group: bigint): bigint =>
  multiply(rotate(multiply(group, 0xcc9e2d51n), 15n), 0x1b873593n);

/** The state of MurmurHash3 (x86, 32 bits, seed 0) after the complete groups of four bytes, and the remaining bytes. */
export const stateAfter = (text: string): { state: bigint; rest: number[]; length: bigint } => {
  const bytes = [...new TextEncoder().encode(text)];
  const length = BigInt(bytes.length);
  let state = 0n;
  while (bytes.length >= 4) {
    const group = littleEndian(bytes.splice(0, 4));
    state = (multiply(rotate(state ^ scramble(group), 13n), 5n) + 0xe6546b64n) & mask;
  }
  return { state, rest: bytes, length };
};

const littleEndian = (bytes: readonly number[]): bigint =>
  bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

export const referenceHash = (flagKey: string, targetingKey: string): number => {
  const { state, rest, length } = stateAfter(`${flagKey}:${targetingKey}`);
  let hash = state ^ scramble(littleEndian(rest)) ^ length;
  hash = multiply(hash ^ (hash >> 16n), 0x85ebca6bn);
  hash = multiply(hash ^ (hash >> 13n), 0xc2b2ae35n);
  return Number(hash ^ (hash >> 16n));
};

export const referenceIsIn = (hash: number, thousandths: number): boolean =>
  BigInt(hash) * 100_000n < BigInt(thousandths) * (1n << bits);

/** The lowest thousandths that include the hash, found by bisection. */
export const referenceInFrom = (hash: number): number => {
  let out = 0;
  let inside = 100_000;
  while (inside - out > 1) {
    const middle = (out + inside) >> 1;
    if (referenceIsIn(hash, middle)) inside = middle;
    else out = middle;
  }
  return inside;
};

export interface ReferenceFlag {
  readonly key: string;
  readonly type: "boolean" | "rollout";
  readonly enabled: boolean;
  readonly percentage?: number;
  readonly description: string | null;
}

export const referenceEvaluate = (
  flag: ReferenceFlag,
  context: Readonly<Record<string, unknown>>,
) => {
  const on = (reason: string) => ({ value: true, variant: "on", reason });
  const off = (reason: string) => ({ value: false, variant: "off", reason });
  if (!flag.enabled) return off("DISABLED");
  if (flag.type === "boolean") return on("STATIC");
  if (flag.percentage === 100) return on("STATIC");
  if (flag.percentage === 0) return off("STATIC");
  const { targetingKey } = context;
  if (typeof targetingKey !== "string" || targetingKey.length === 0) {
    return { errorCode: "TARGETING_KEY_MISSING" };
  }
  const thousandths = Number(((flag.percentage ?? 0) * 1_000).toFixed(0));
  return referenceIsIn(referenceHash(flag.key, targetingKey), thousandths)
    ? on("SPLIT")
    : off("SPLIT");
};
