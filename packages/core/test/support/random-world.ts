// Reproducible random flags, segments and contexts. Value pools are small, so that conditions often match.
import type { Json, JsonObject, World } from "../../../../conformance/reference/conditions.ts";

type Random = (below: number) => number;

/** A small generator (mulberry32), because the tests need the same numbers everywhere. */
const randomFrom = (seed: number): Random => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};

const attributes = [
  "country",
  "plan",
  "age",
  "beta",
  "version",
  "ip",
  "seen",
  "/company/id",
  "/tags",
  "/tags/0",
  "targetingKey",
] as const;
const texts = ["DE", "de", "ru", "pro", "team", "", "Straße", "ſ", "K", "🚀x", "10", "-1.5"];
const numbers = [0, -0, 1, 17, 18, 18.5, -3, 2 ** 53 - 1, 1e21];
const versions = [
  "1.2.3",
  "v1.2",
  "V2",
  "1.2.3-beta.2",
  "1.2.3-beta.11",
  "1.2.3+build",
  "01.2.3",
  "1.2-beta",
  "10.0.0",
];
const moments = [
  "2026-01-01T00:00:00Z",
  "2026-01-01T01:00:00+01:00",
  "2025-12-31T23:59:59.9999Z",
  "2026-02-30T00:00:00Z",
  "2026-01-01",
];
const addresses = [
  "10.1.2.3",
  "::ffff:10.1.2.3",
  "192.168.0.1",
  "2001:db8::1",
  "2001:DB8:0:0::2",
  "10.01.2.3",
  "not",
];
const networks = [
  "10.0.0.0/8",
  "10.1.2.3/32",
  "0.0.0.0/0",
  "2001:db8::/32",
  "::/0",
  "192.168.0.0/24",
];
const users = ["u1", "u2", "u3", "u4", "u5", "u6", "ü7"];

const anything: readonly Json[] = [
  ...texts,
  ...numbers,
  ...versions,
  ...moments,
  ...addresses,
  true,
  false,
  null,
  [],
  ["DE", "ru"],
  ["pro", 1],
  [1, 18],
  {},
  { id: 7 },
];

export interface Mix {
  /** Percentages of conditions on times or networks, with ignored case, or with strings converted to numbers. */
  readonly rare: number;
}

/** Without a mix, all kinds are about equally frequent. */
export const randomWorld = (
  seed: number,
  mix?: Mix,
): { readonly world: World; readonly contexts: readonly JsonObject[] } => {
  const below = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const some = <T>(list: readonly T[], most: number): T[] =>
    Array.from({ length: 1 + below(most) }, () => pick(list));
  const chance = (percent: number): boolean => below(100) < percent;
  const nonEmpty = texts.filter((text) => text !== "");

  const ofAttribute = (): JsonObject => {
    const attribute = pick(attributes);
    const ignoreCase = chance(mix?.rare ?? 30) ? { ignoreCase: true } : {};
    switch (below(mix === undefined || chance(mix.rare) ? 8 : 6)) {
      case 0:
        return { attribute, op: "exists", value: chance(50) };
      case 1:
        return { attribute, op: pick(["in", "notIn"]), values: some(texts, 12), ...ignoreCase };
      case 2:
        return {
          attribute,
          op: pick(["in", "notIn"]),
          values: some(numbers, 3).map((number) => number + 0),
        };
      case 3:
        return {
          attribute,
          op: pick(["startsWith", "endsWith", "contains"]),
          values: some(nonEmpty, 3),
          ...ignoreCase,
        };
      case 4:
        return {
          attribute,
          op: pick(["lt", "lte", "gt", "gte"]),
          value: pick(numbers) + 0,
          ...(chance(mix?.rare ?? 50) && { as: "number" }),
        };
      case 5:
        return {
          attribute,
          op: pick(["semverEq", "semverLt", "semverLte", "semverGt", "semverGte"]),
          value: pick(["1.2.3", "1.2.3-beta.3", "2"]),
        };
      case 6:
        return {
          attribute,
          op: pick(["before", "after"]),
          value: pick(["2026-01-01T00:00:00Z", "2025-12-31T23:59:59.999Z"]),
        };
      default:
        return { attribute, op: "inCidr", values: some(networks, 3) };
    }
  };
  const condition = (depth: number, mayName: boolean): JsonObject => {
    const kind = depth === 0 ? 9 : below(10);
    const inner = () => condition(depth - 1, mayName);
    if (kind === 0) return { all: Array.from({ length: below(4) }, inner) };
    if (kind === 1) return { any: Array.from({ length: 1 + below(3) }, inner) };
    if (kind === 2) return { not: inner() };
    if (kind === 3 && mayName) return { segment: some(["s0", "s1", "s2", "s3", "missing"], 2) };
    return ofAttribute();
  };
  const split = (variants: readonly string[], whole: boolean): Json => {
    const cuts = [below(100_000), below(100_000), whole ? 100_000 : below(100_001)].sort(
      (a, b) => a - b,
    );
    const shares = cuts.map((cut, index) => cut - (cuts[index - 1] ?? 0));
    return shares
      .map((share) => ({ variant: pick(variants), share: share / 1_000 }))
      .filter(({ share }) => share > 0);
  };
  const serve = (variants: readonly string[]): Json => {
    if (chance(60)) return pick(variants);
    const shares = split(variants, chance(30)) as readonly Json[];
    return shares.length > 0 ? shares : pick(variants);
  };

  const flagOf = (index: number): JsonObject => {
    const type = pick(["boolean", "rollout", "variant"]);
    const variants: JsonObject =
      type === "variant" ? { small: "s", medium: "m", large: "l" } : { on: true, off: false };
    const names = Object.keys(variants);
    const hasRules = chance(80);
    const rules = Array.from({ length: 1 + below(4) }, (_, number) => ({
      id: `rule-${number + 1}`,
      when: condition(3, true),
      serve: serve(names),
      ...(chance(10) && { disabled: true }),
    }));
    return {
      key: `f${index}`,
      type,
      enabled: chance(92),
      description: null,
      ...(type === "rollout" && { percentage: pick([0, 0.001, 5, 33.333, 50, 99.999, 100]) }),
      ...(type === "variant" && {
        variants,
        off: "small",
        otherwise: chance(50) ? pick(names) : split(names, true),
      }),
      // Only earlier flags, to avoid cycles.
      ...(index > 0 &&
        chance(30) && {
          requires: [{ flag: `f${below(index)}`, variant: pick(["on", "off", "small"]) }],
        }),
      ...(hasRules && { rules }),
      ...(hasRules && type === "boolean" && { otherwise: pick(names) }),
      ...(chance(25) && { bucketBy: pick(["/company/id", "country", "age"]) }),
      ...(chance(20) && { bucketSeed: "family" }),
    };
  };
  const segmentOf = (index: number): JsonObject => ({
    key: `s${index}`,
    description: null,
    include: chance(50) ? some(users, 3) : [],
    exclude: chance(30) ? some(users, 2) : [],
    when: chance(60) ? condition(2, false) : null,
  });
  const contextOf = (): JsonObject => ({
    ...(chance(85) && { targetingKey: chance(90) ? pick(users) : pick(anything) }),
    ...(chance(70) && { country: chance(80) ? pick(texts) : pick(anything) }),
    ...(chance(60) && { plan: chance(80) ? pick(texts) : pick(anything) }),
    ...(chance(60) && { age: chance(80) ? pick(numbers) + 0 : pick(anything) }),
    ...(chance(30) && { beta: pick(anything) }),
    ...(chance(60) && { version: chance(80) ? pick(versions) : pick(anything) }),
    ...(chance(60) && { ip: chance(80) ? pick(addresses) : pick(anything) }),
    ...(chance(60) && { seen: chance(80) ? pick(moments) : pick(anything) }),
    ...(chance(60) && { company: chance(80) ? { id: pick(anything) } : pick(anything) }),
    ...(chance(40) && { tags: pick(anything) }),
  });

  const flags = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`f${index}`, flagOf(index)]),
  );
  const segments = Object.fromEntries(
    Array.from({ length: 4 }, (_, index) => [`s${index}`, segmentOf(index)]),
  );
  return { world: { flags, segments }, contexts: Array.from({ length: 16 }, contextOf) };
};
