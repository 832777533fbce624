// Unleash: random strategies, constraints, segments and parents, in its export format and for its SDK.
import type { EvaluationContext } from "@halyard/core/context";
import type { Person, Trial } from "./compare.ts";
import {
  attributes,
  keys,
  numbers,
  pools,
  type Random,
  randomAttributes,
  texts,
} from "./random.ts";

type Json = Record<string, unknown>;

const environment = "production";
const addresses = ["10.1.2.3", "192.0.2.7", "2001:db8::1", "not an address"] as const;

const constraint = (random: Random): Json => {
  const { pick, some, chance } = random;
  const inverted = chance(35);
  const base = (contextName: string, operator: string) => ({ contextName, operator, inverted });
  switch (pick(["user", "in", "in", "in", "text", "number", "version", "network"])) {
    case "user":
      return { ...base("userId", pick(["IN", "NOT_IN"])), values: some(keys, 2) };
    case "text":
      return {
        ...base(pick(texts), pick(["STR_STARTS_WITH", "STR_ENDS_WITH", "STR_CONTAINS"])),
        values: some(["C", "pro", "@acme.com", "o", " ", ""], 2),
        caseInsensitive: chance(40),
      };
    case "number":
      return {
        ...base(pick(numbers), pick(["NUM_EQ", "NUM_LT", "NUM_LTE", "NUM_GT", "NUM_GTE"])),
        value: pick(["18", "0", "7", "18.5"]),
      };
    case "version":
      return {
        ...base("app", pick(["SEMVER_EQ", "SEMVER_LT", "SEMVER_LTE", "SEMVER_GT", "SEMVER_GTE"])),
        value: pick(pools.app),
      };
    case "network":
      return {
        ...base("remoteAddress", "IN_CIDR"),
        values: some(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"], 2),
      };
    default: {
      const name = pick(attributes);
      const values = some(pools[name] as readonly unknown[], 3).map(String);
      return { ...base(name, pick(["IN", "NOT_IN"])), values };
    }
  }
};

const constraints = (random: Random): Json[] =>
  Array.from({ length: random.below(3) }, () => constraint(random));

const strategy = (random: Random, variants: Json[]): Json => {
  const { pick, some, chance } = random;
  const named = pick([
    "default",
    "flexibleRollout",
    "flexibleRollout",
    "userWithId",
    "remoteAddress",
    "gradualRolloutUserId",
  ]);
  const parameters: Json =
    named === "userWithId"
      ? { userIds: some(keys, 2).join(", ") }
      : named === "remoteAddress"
        ? { IPs: "10.0.0.0/8,192.0.2.7" }
        : named === "flexibleRollout"
          ? {
              rollout: pick(["100", "100", "0"]),
              stickiness: pick(["default", "userId", "plan"]),
              groupId: "group",
            }
          : { percentage: pick(["100", "0"]), groupId: "group" };
  return {
    name: named,
    parameters,
    constraints: constraints(random),
    segments: chance(20) ? [1 + random.below(2)] : [],
    ...(variants.length > 0 && { variants }),
  };
};

const variantsOf = ({ chance, pick }: Random): Json[] => {
  if (chance(70)) return [];
  const chosen = pick(["red", "blue"]);
  const hasPayload = chance(50);
  return ["red", "blue"].map((name) => ({
    name,
    weight: name === chosen ? 1000 : 0,
    stickiness: "default",
    ...(hasPayload && { payload: { type: "string", value: `#${name}` } }),
  }));
};

const document = (random: Random) => {
  const { chance, below, pick } = random;
  const names = Array.from({ length: 12 }, (_, index) => `flag-${index}`);
  const featureStrategies: Json[] = [];
  const dependencies: Json[] = [];
  for (const [index, featureName] of names.entries()) {
    const variants = variantsOf(random);
    for (let count = below(4); count > 0; count -= 1) {
      featureStrategies.push({ featureName, ...strategy(random, variants), disabled: chance(8) });
    }
    // Parents have no parents themselves.
    if (index >= 8 && chance(50)) {
      const parent: Json = { feature: `flag-${below(8)}`, enabled: chance(70) };
      dependencies.push({ feature: featureName, dependencies: [parent] });
    }
  }
  return {
    features: names.map((name) => ({ name })),
    featureStrategies,
    featureEnvironments: names.map((featureName) => ({
      featureName,
      environment,
      enabled: chance(92),
    })),
    segments: [1, 2].map((id) => ({
      id,
      name: pick([`s${id}`]),
      constraints: constraints(random),
    })),
    dependencies,
  };
};

const person = (random: Random): Person => {
  const known = random.chance(85) ? random.pick(keys) : undefined;
  const address = random.chance(80) ? random.pick(addresses) : undefined;
  // The SDK's types don't allow lists and objects.
  const properties = randomAttributes(random, attributes, true);
  return {
    theirs: { userId: known, remoteAddress: address, properties },
    ours: {
      ...properties,
      ...(known && { targetingKey: known }),
      ...(address && { remoteAddress: address }),
    } as EvaluationContext,
  };
};

interface Client {
  isEnabled(name: string, context: unknown): boolean;
  getVariant(name: string, context: unknown): { name: string; payload?: { value: string } };
  on(event: string, then: () => void): void;
  once(event: string, then: () => void): void;
  destroy(): void;
}
interface Sdk {
  Unleash: new (options: object) => Client;
  InMemStorageProvider: new () => object;
}

export const unleash: Trial = {
  product: "unleash",
  packageName: "unleash-client",
  version: "6.12.1",
  document,
  person,
  async load(value, sdk) {
    const { Unleash, InMemStorageProvider } = sdk("unleash-client") as Sdk;
    const whole = value as Record<string, Json[]>;
    const { features = [], featureStrategies = [], featureEnvironments = [] } = whole;
    const { segments = [], dependencies = [] } = whole;
    const data = features.map(({ name }, index) => ({
      name,
      type: "release",
      enabled: featureEnvironments[index]?.enabled,
      strategies: featureStrategies.filter(
        (each) => each.featureName === name && each.disabled !== true,
      ),
      variants: [],
      dependencies: dependencies
        .filter(({ feature }) => feature === name)
        .flatMap((each) => each.dependencies),
    }));
    const client = new Unleash({
      appName: "comparison",
      // No server listens at this address, because the client already has its features.
      url: "http://127.0.0.1:9/api",
      refreshInterval: 0,
      disableMetrics: true,
      skipInstanceCountWarning: true,
      storageProvider: new InMemStorageProvider(),
      bootstrap: { data, segments },
    });
    for (const event of ["error", "warn"]) client.on(event, () => undefined);
    await new Promise<void>((resolve) => client.once("ready", resolve));
    const hasVariants = new Set(
      featureStrategies.flatMap(({ featureName, variants }) => (variants ? [featureName] : [])),
    );
    return {
      evaluate(key, context) {
        if (!hasVariants.has(key)) return client.isEnabled(key, context);
        const { name, payload } = client.getVariant(key, context);
        const hasPayload = featureStrategies.some(
          ({ featureName, variants }) =>
            featureName === key && (variants as Json[] | undefined)?.some((one) => one.payload),
        );
        return hasPayload ? (payload?.value ?? "") : name;
      },
      close: () => client.destroy(),
    };
  },
};
