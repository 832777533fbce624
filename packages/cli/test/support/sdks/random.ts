// Reproducible random choices, and random attributes of users with values of every type.

/** A small generator (mulberry32). */
export interface Random {
  readonly below: (limit: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  readonly some: <T>(list: readonly T[], most: number) => T[];
  /** True with this probability in percent. */
  readonly chance: (percent: number) => boolean;
}

export const randomFrom = (seed: number): Random => {
  let state = seed;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return {
    below,
    pick,
    some: (list, most) => Array.from({ length: 1 + below(most) }, () => pick(list)),
    chance: (percent) => below(100) < percent,
  };
};

/** Small pools, so that conditions often match. */
export const pools = {
  country: ["CH", "DE", "ch", "FR", ""],
  plan: ["pro", "team", "free", "pro-plus"],
  email: ["anna@acme.com", "ben@ACME.com", "carl@other.org", "acme.com"],
  age: [0, 17, 18, 18.5, 65, -3],
  level: [1, 2, 7, 10],
  beta: [true, false],
  app: ["2.5.0", "v2.5.0", "2.5", "2", "2.5.0-beta.1", "2.10.0", "2.5.0+b1", "1.9.9", "nightly"],
  joined: [
    "2026-01-01T00:00:00Z",
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T01:00:00+01:00",
    "2026-03-01T12:00:00Z",
    1_767_225_600_000,
    1_772_366_400_000,
    "2026-01-01",
  ],
} as const satisfies Record<string, readonly (string | number | boolean)[]>;

export type Attribute = keyof typeof pools;
export const attributes = Object.keys(pools) as Attribute[];
export const keys = ["anna", "ben", "carl", "dora", "7"] as const;

export const texts = ["country", "plan", "email"] as const satisfies Attribute[];
export const numbers = ["age", "level"] as const satisfies Attribute[];

const odd: readonly unknown[] = [
  null,
  ["CH", "pro"],
  ["DE"],
  [],
  [18, "CH"],
  [1, 7],
  ["2.5.0"],
  ["anna@acme.com"],
  { id: "CH" },
  true,
  false,
  0,
  1,
  "",
  "0",
  "7",
  "17",
  "18.5",
  " 18",
  "1e1",
  "true",
  "false",
  "null",
  "CH",
  "pro",
  18,
  "2.5.0",
  1_767_225_600_000,
];

const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Usually of the expected type; sometimes missing, null, or of another type. */
export const randomAttributes = (
  { chance, pick }: Random,
  names: readonly Attribute[],
  /** The SDK's types don't allow lists and objects. */
  plainOnly = false,
): Record<string, unknown> => {
  const others = plainOnly ? odd.filter(isPlain) : odd;
  const found: Record<string, unknown> = {};
  for (const name of names) {
    if (chance(12)) continue;
    found[name] = chance(70) ? pick(pools[name] as readonly unknown[]) : pick(others);
  }
  return found;
};
