// GrowthBook: random features with conditions, saved groups and prerequisites, evaluated with its SDK.
import type { EvaluationContext } from "@halyard/core/context";
import type { Person, Trial } from "./compare.ts";
import { attributes, keys, numbers, pools, type Random, randomAttributes } from "./random.ts";

type Json = Record<string, unknown>;

const times = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00+01:00"];

const operator = (random: Random, name: string): unknown => {
  const { pick, some } = random;
  const values = pools[name as keyof typeof pools] as readonly unknown[];
  switch (pick(["plain", "plain", "$eq", "$in", "$in", "$exists", "$not", "null"])) {
    case "plain":
      return pick(values);
    case "$eq":
      return { [pick(["$eq", "$ne"])]: pick([...values, null]) };
    case "$in":
      return { [pick(["$in", "$nin", "$ini", "$nini"])]: some([...values, null], 4) };
    case "$exists":
      return { $exists: pick([true, false]) };
    case "$not":
      return { $not: operator(random, name) };
    default:
      return null;
  }
};

const condition = (random: Random, depth = 0): Json => {
  const { pick, some, chance, below } = random;
  if (depth < 2 && chance(30)) {
    const name = pick(["$and", "$or", "$nor", "$not"]);
    if (name === "$not") return { $not: condition(random, depth + 1) };
    return { [name]: Array.from({ length: below(3) }, () => condition(random, depth + 1)) };
  }
  switch (pick(["id", "value", "value", "number", "version", "time", "group"])) {
    case "id":
      return { id: pick([{ $in: some(keys, 2) }, { $nin: some(keys, 2) }, pick(keys)]) };
    case "number":
      return {
        [pick(numbers)]: { [pick(["$lt", "$lte", "$gt", "$gte"])]: pick([18, 0, 7, 18.5]) },
      };
    case "version":
      return {
        app: { [pick(["$veq", "$vne", "$vgt", "$vgte", "$vlt", "$vlte"])]: pick(pools.app) },
      };
    case "time":
      return { joined: { [pick(["$lt", "$lte", "$gt", "$gte"])]: pick(times) } };
    case "group":
      return pick<Json>([
        { country: { $inGroup: "countries" } },
        { country: { $notInGroup: "countries" } },
        { id: { $inGroup: "people" } },
        { $savedGroup: { id: "listed" } },
        { $savedGroup: { id: "listed", attributeKey: "country" } },
        { $savedGroup: { id: "conditional" } },
      ]);
    default: {
      const name = pick(attributes);
      return { [name]: operator(random, name) };
    }
  }
};

const rule = (random: Random, values: readonly unknown[], index: number): Json => {
  const { pick, chance, below } = random;
  const parents =
    index > 0 && chance(6)
      ? {
          parentConditions: [
            { id: `flag-${below(index)}`, condition: { value: true }, gate: chance(50) },
          ],
        }
      : {};
  const when = chance(85) ? { condition: condition(random) } : {};
  const hash = chance(40) ? { hashAttribute: pick(["id", "plan"]) } : {};
  if (chance(75)) {
    const coverage = chance(40) ? { coverage: pick([1, 0]) } : {};
    return { ...parents, ...when, ...hash, ...coverage, force: pick(values) };
  }
  const weights = values.map((_, at) => (at === 0 ? 1 : 0));
  return { ...parents, ...when, ...hash, coverage: pick([1, 0]), variations: values, weights };
};

const feature = (random: Random, index: number): Json => {
  const { pick, below, chance } = random;
  const values: readonly unknown[] = pick<readonly unknown[]>([
    [true, false],
    [true, false],
    ["a", "b", "c"],
    [1, 2],
    [true],
  ]);
  const gate =
    index > 0 && chance(12)
      ? [
          {
            parentConditions: [
              { id: `flag-${below(index)}`, condition: { value: true }, gate: true },
            ],
          },
        ]
      : [];
  return {
    defaultValue: pick(values),
    rules: [...gate, ...Array.from({ length: below(4) }, () => rule(random, values, index))],
  };
};

const document = (random: Random) => ({
  features: Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`flag-${index}`, feature(random, index)]),
  ),
  savedGroups: {
    countries: random.some(pools.country, 2),
    people: random.some(keys, 2),
    listed: { type: "list", attributeKey: "plan", values: random.some([...pools.plan, "CH"], 3) },
    conditional: { type: "condition", condition: condition(random, 3) },
  },
});

const person = (random: Random): Person => {
  const key = random.chance(85) ? random.pick(keys) : undefined;
  const rest = randomAttributes(random, attributes);
  return {
    theirs: { ...rest, ...(key && { id: key }) },
    ours: { ...rest, ...(key && { targetingKey: key }) } as EvaluationContext,
  };
};

interface Client {
  initSync(options: object): Client;
  setAttributes(attributes: unknown): unknown;
  evalFeature(key: string): { value: unknown };
  destroy(): void;
}
interface Sdk {
  GrowthBook: new (options: object) => Client;
}

export const growthbook: Trial = {
  product: "growthbook",
  packageName: "@growthbook/growthbook",
  version: "1.8.0",
  document,
  person,
  load(value, sdk) {
    const { GrowthBook } = sdk("@growthbook/growthbook") as Sdk;
    const client = new GrowthBook({}).initSync({ payload: value });
    return {
      evaluate(key, attributes) {
        client.setAttributes(attributes);
        // Null means that the application's default applies.
        return client.evalFeature(key).value ?? undefined;
      },
      close: () => client.destroy(),
    };
  },
};
