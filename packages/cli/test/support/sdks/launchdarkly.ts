// LaunchDarkly: random flags and segments as its REST API returns them, evaluated with its server SDK.
import type { EvaluationContext } from "@halyard/core/context";
import type { Person, Trial } from "./compare.ts";
import { attributes, keys, pools, type Random, randomAttributes } from "./random.ts";

type Json = Record<string, unknown>;

const accounts = ["acme", "globex"] as const;
const segmentKeys = ["one", "two", "three"] as const;
const environment = "production";

const dates = [...pools.joined, "2026-01-01T00:00:00", "not a time"];

const clause = (random: Random, inSegment: boolean): Json => {
  const { pick, some, chance } = random;
  const negate = chance(35);
  if (chance(15) && !inSegment) {
    return { attribute: "", op: "segmentMatch", values: some(segmentKeys, 2), negate };
  }
  if (chance(8)) {
    return { attribute: "kind", op: "in", values: some(["user", "account", "device"], 2), negate };
  }
  const contextKind = pick([undefined, "user", "user", "account"]);
  const base = (attribute: string) => ({
    attribute,
    negate,
    ...(contextKind && { contextKind }),
  });
  switch (pick(["key", "in", "in", "text", "number", "version", "date", "anonymous", "mixed"])) {
    case "key":
      return { ...base("key"), op: "in", values: some([...keys, ...accounts], 3) };
    case "text":
      return {
        ...base(pick(["country", "plan", "email"])),
        op: pick(["startsWith", "endsWith", "contains"]),
        values: some(["C", "pro", "acme.com", "", "@", 7], 2),
      };
    case "number":
      return {
        ...base(pick(["age", "level"])),
        op: pick(["lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual"]),
        values: some([18, 0, 7, 18.5, "18"], 2),
      };
    case "version":
      return {
        ...base("app"),
        op: pick(["semVerEqual", "semVerLessThan", "semVerGreaterThan"]),
        values: some(pools.app, 2),
      };
    case "date":
      return { ...base("joined"), op: pick(["before", "after"]), values: some(dates, 2) };
    case "anonymous":
      return { ...base("anonymous"), op: "in", values: some([true, false], 2) };
    case "mixed":
      return { ...base(pick(attributes)), op: "in", values: some(["CH", 18, true, "7", 7], 3) };
    default: {
      const name = pick(attributes);
      const values = some(pools[name] as readonly unknown[], 3);
      return { ...base(name), op: "in", values };
    }
  }
};

const clauses = (random: Random, inSegment = false): Json[] =>
  Array.from({ length: 1 + random.below(2) }, () => clause(random, inSegment));

const segment = (random: Random, key: string): Json => {
  const { chance, some, below } = random;
  return {
    key,
    included: chance(50) ? some(keys, 2) : [],
    excluded: chance(60) ? some(keys, 2) : [],
    ...(chance(40) && {
      includedContexts: [{ contextKind: "account", values: some(accounts, 1) }],
    }),
    ...(chance(30) && {
      excludedContexts: [{ contextKind: "account", values: some(accounts, 1) }],
    }),
    rules: Array.from({ length: below(3) }, () => ({ clauses: clauses(random, true) })),
  };
};

const serve = ({ pick, chance }: Random, variations: number): Json => {
  const index = () => pick(Array.from({ length: variations }, (_, at) => at));
  if (chance(75)) return { variation: index() };
  // Everyone gets the same value, so the selection of users doesn't matter.
  const chosen = index();
  const weights = Array.from({ length: variations }, (_, at) => ({
    variation: at,
    weight: at === chosen ? 100_000 : 0,
  }));
  return { rollout: { variations: weights, ...(chance(30) && { bucketBy: "plan" }) } };
};

const flag = (random: Random, index: number): Json => {
  const { chance, pick, some, below } = random;
  const values = pick([
    [true, false],
    [false, true],
    ["a", "b", "c"],
    [1, 2],
  ]);
  const targets = chance(40) ? [{ variation: below(values.length), values: some(keys, 2) }] : [];
  const others = chance(25)
    ? [{ contextKind: "account", variation: below(values.length), values: some(accounts, 1) }]
    : [];
  const rules = Array.from({ length: below(4) }, (_, at) => ({
    _id: `rule-${at}`,
    clauses: clauses(random),
    ...serve(random, values.length),
  }));
  return {
    key: `flag-${index}`,
    variations: values.map((value) => ({ value })),
    environments: {
      [environment]: {
        on: chance(90),
        offVariation: pick(values[0] === true ? [1] : [0]),
        targets,
        contextTargets: others,
        rules,
        fallthrough: serve(random, values.length),
        prerequisites:
          index > 0 && chance(15) ? [{ key: `flag-${below(index)}`, variation: below(2) }] : [],
      },
    },
  };
};

const document = (random: Random) => ({
  items: [
    ...Array.from({ length: 12 }, (_, index) => flag(random, index)),
    ...segmentKeys.map((key) => segment(random, key)),
  ],
});

/** Attributes with a built-in meaning in LaunchDarkly must have its types. */
const kindOf = (random: Random, known: readonly string[]): Json => ({
  ...randomAttributes(random, attributes),
  ...(random.chance(40) && { anonymous: random.chance(50) }),
  key: random.pick(known),
});

const person = (random: Random): Person => {
  const user = random.chance(90) ? kindOf(random, keys) : undefined;
  const account = user === undefined || random.chance(50) ? kindOf(random, accounts) : undefined;
  const theirs =
    user && account
      ? { kind: "multi", user, account }
      : user
        ? { kind: "user", ...user }
        : { kind: "account", ...account };
  const { key, ...rest } = user ?? {};
  const ours = { ...rest, ...(user && { targetingKey: key }), ...(account && { account }) };
  return { theirs, ours: ours as EvaluationContext };
};

interface Client {
  waitForInitialization(options: { timeout: number }): Promise<unknown>;
  variation(flag: string, context: unknown, otherwise: unknown): Promise<unknown>;
  close(): void;
}
interface Sdk {
  init(key: string, options: object): Client;
}
interface Integrations {
  TestData: new () => {
    usePreconfiguredFlag(flag: object): void;
    usePreconfiguredSegment(segment: object): void;
    getFactory(): unknown;
  };
}

export const launchdarkly: Trial = {
  product: "launchdarkly",
  environment,
  packageName: "@launchdarkly/node-server-sdk",
  version: "9.13.7",
  document,
  person,
  async load(value, sdk) {
    const { TestData } = sdk("@launchdarkly/node-server-sdk/integrations") as Integrations;
    const launchDarkly = sdk("@launchdarkly/node-server-sdk") as Sdk;
    const data = new TestData();
    for (const item of (value as { items: Json[] }).items) {
      if (!("variations" in item)) {
        data.usePreconfiguredSegment({ version: 1, salt: "s", ...item });
        continue;
      }
      const { key, variations, environments } = item as {
        key: string;
        variations: { value: unknown }[];
        environments: Record<string, Json>;
      };
      const values = variations.map((each) => each.value);
      const place = environments[environment] ?? {};
      const repeated = (place.targets as Json[]).map((each) => ({ ...each, values: [] }));
      const contextTargets = [
        ...repeated.map((each) => ({ ...each, contextKind: "user" })),
        ...(place.contextTargets as Json[]),
      ];
      data.usePreconfiguredFlag({
        key,
        version: 1,
        salt: "s",
        variations: values,
        ...place,
        contextTargets,
      });
    }
    const quiet = { error() {}, warn() {}, info() {}, debug() {} };
    const client = launchDarkly.init("key", {
      updateProcessor: data.getFactory(),
      sendEvents: false,
      diagnosticOptOut: true,
      logger: quiet,
    });
    await client.waitForInitialization({ timeout: 10 });
    return {
      evaluate: (key, context) => client.variation(key, context, undefined),
      close: () => client.close(),
    };
  },
};
