// Flagsmith: random segments, overrides and identities in an environment document, evaluated with its SDK.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

const condition = (random: Random): Json => {
  const { pick, some } = random;
  const base = (property: string, operator: string, value: unknown) => ({
    property_: property,
    operator,
    value,
  });
  const textFrom = (name: keyof typeof pools) => String(pick(pools[name] as readonly unknown[]));
  switch (pick(["key", "equal", "equal", "in", "in", "order", "text", "version", "set"])) {
    case "key":
      return base("$.identity.identifier", "IN", some(keys, 2).join(","));
    case "in": {
      const name = pick(attributes);
      const values = [textFrom(name), textFrom(name)];
      return base(name, "IN", pick([values.join(","), JSON.stringify(values)]));
    }
    case "order":
      return base(
        pick(numbers),
        pick(["LESS_THAN", "LESS_THAN_INCLUSIVE", "GREATER_THAN", "GREATER_THAN_INCLUSIVE"]),
        pick(["18", "0", "7", "18.5"]),
      );
    case "text":
      return base(pick(texts), pick(["CONTAINS", "NOT_CONTAINS"]), pick(["C", "pro", "acme.com"]));
    case "version":
      return base(
        "app",
        pick([
          "EQUAL",
          "NOT_EQUAL",
          "LESS_THAN",
          "LESS_THAN_INCLUSIVE",
          "GREATER_THAN",
          "GREATER_THAN_INCLUSIVE",
        ]),
        `${textFrom("app")}:semver`,
      );
    case "set":
      return base(pick(attributes), pick(["IS_SET", "IS_NOT_SET"]), null);
    default: {
      const name = pick(attributes);
      return base(name, pick(["EQUAL", "NOT_EQUAL"]), pick([textFrom(name), "True", "18.0"]));
    }
  }
};

const rule = (random: Random, depth = 0): Json => ({
  type: random.pick(["ALL", "ANY", "NONE"]),
  conditions: Array.from({ length: random.below(3) }, () => condition(random)),
  rules:
    depth < 2 && random.chance(40)
      ? Array.from({ length: 1 + random.below(2) }, () => rule(random, depth + 1))
      : [],
});

let lastId = 0;
const state = (feature: Json, enabled: boolean, value: unknown, priority?: number): Json => {
  lastId += 1;
  return {
    id: lastId,
    django_id: lastId,
    featurestate_uuid: `00000000-0000-4000-8000-${String(lastId).padStart(12, "0")}`,
    feature,
    enabled,
    feature_state_value: value,
    multivariate_feature_state_values: [],
    feature_segment: priority === undefined ? null : { priority },
  };
};

/** Features whose names start with "value" have values; the others are only on or off. */
const hasValue = (name: unknown): boolean => String(name).startsWith("value");

const document = (random: Random) => {
  const { chance, pick, below } = random;
  const features = Array.from({ length: 12 }, (_, index) => ({
    id: index + 1,
    name: `${index % 3 === 0 ? "value" : "switch"}-${index}`,
    type: "STANDARD",
  }));
  const makeState = (feature: Json, priority?: number) =>
    hasValue(feature.name)
      ? state(feature, true, pick(["red", "green", "blue"]), priority)
      : state(feature, chance(50), null, priority);
  const featureStates = features.map((feature) => {
    const made = makeState(feature);
    if (!hasValue(feature.name) || chance(70)) return made;
    const option = {
      id: 1,
      mv_fs_value_uuid: made.featurestate_uuid,
      multivariate_feature_option: { id: 1, value: "gold" },
      percentage_allocation: pick([100, 0]),
    };
    return { ...made, multivariate_feature_state_values: [option] };
  });
  const segments = Array.from({ length: 5 }, (_, index) => {
    const rules = Array.from({ length: below(3) }, () => rule(random));
    const split = {
      type: "ALL",
      conditions: [{ operator: "PERCENTAGE_SPLIT", property_: "", value: "100" }],
      rules: [],
    };
    const used = features.filter(() => chance(30));
    return {
      id: index + 1,
      name: `segment ${index}`,
      rules: chance(10) ? [...rules, split] : rules,
      feature_states: used.map((feature) => makeState(feature, pick([0, 1, 2]))),
    };
  });
  const people = chance(60) ? [keys[0], keys[1]] : [];
  return {
    id: 1,
    name: "production",
    api_key: "key",
    project: {
      id: 1,
      name: "shop",
      hide_disabled_flags: false,
      organisation: {
        id: 1,
        name: "shop",
        feature_analytics: false,
        stop_serving_flags: false,
        persist_trait_data: true,
      },
      segments,
    },
    feature_states: featureStates,
    identity_overrides: people.map((identifier) => ({
      identifier,
      identity_uuid: identifier,
      created_date: "2026-01-01T00:00:00Z",
      environment_api_key: "key",
      identity_traits: [],
      identity_features: features.filter(() => chance(20)).map((feature) => makeState(feature)),
    })),
  };
};

const person = (random: Random): Person => {
  const identifier = random.pick(keys);
  // The SDK's types don't allow lists and objects.
  const traits = randomAttributes(random, attributes, true);
  return {
    theirs: { identifier, traits },
    ours: { ...traits, targetingKey: identifier } as EvaluationContext,
  };
};

interface Flags {
  getFeatureValue(name: string): unknown;
  isFeatureEnabled(name: string): boolean;
}
interface Sdk {
  Flagsmith: new (
    options: object,
  ) => {
    getIdentityFlags(identifier: string, traits: unknown): Promise<Flags>;
  };
  LocalFileHandler: new (path: string) => object;
}

export const flagsmith: Trial = {
  product: "flagsmith",
  packageName: "flagsmith-nodejs",
  version: "8.1.2",
  document,
  person,
  load(value, sdk) {
    const { Flagsmith, LocalFileHandler } = sdk("flagsmith-nodejs") as Sdk;
    const folder = mkdtempSync(join(tmpdir(), "halyard-flagsmith-"));
    const path = join(folder, "environment.json");
    writeFileSync(path, JSON.stringify(value));
    const client = new Flagsmith({
      offlineMode: true,
      offlineHandler: new LocalFileHandler(path),
    });
    rmSync(folder, { recursive: true });
    return {
      async evaluate(key, theirs) {
        const { identifier, traits } = theirs as { identifier: string; traits: Json };
        const flags = await client.getIdentityFlags(identifier, traits);
        return hasValue(key) ? flags.getFeatureValue(key) : flags.isFeatureEnabled(key);
      },
    };
  },
};
