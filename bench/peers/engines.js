// The other evaluators on one flag: on for half of the people, or for those whom a rule matches. Each evaluates from data in memory,
// with its contexts prepared, in the fastest way its documents show.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GrowthBookClient } from "@growthbook/growthbook";
import { init } from "@launchdarkly/node-server-sdk";
import { TestData } from "@launchdarkly/node-server-sdk/integrations";
import { FlagdCore } from "@openfeature/flagd-core";
import { Flagsmith, LocalFileHandler } from "flagsmith-nodejs";
import { InMemStorageProvider, initialize } from "unleash-client";

const flagKey = "new-checkout";
const silent = { error() {}, warn() {}, info() {}, debug() {} };

/** An engine prepares a list of people for itself, and then says of one of them whether the flag is on. */
const engine = (contextOf, isOn) => ({ prepare: (people) => people.map(contextOf), isOn });

const launchdarklyOps = {
  in: "in",
  notIn: "in",
  startsWith: "startsWith",
  endsWith: "endsWith",
  gte: "greaterThanOrEqual",
  lt: "lessThan",
};
const launchdarklyHalf = {
  rollout: {
    variations: [
      { variation: 0, weight: 50_000 },
      { variation: 1, weight: 50_000 },
    ],
  },
};

export const launchdarkly = async (rules) => {
  const data = new TestData();
  await data.usePreconfiguredFlag({
    key: flagKey,
    version: 1,
    on: true,
    offVariation: 1,
    variations: [true, false],
    salt: "salt",
    targets: [],
    prerequisites: [],
    fallthrough: rules ? { variation: 1 } : launchdarklyHalf,
    rules: (rules ?? []).map((conditions, index) => ({
      id: `rule-${index + 1}`,
      variation: 0,
      clauses: conditions.map(({ attribute, op, value, values }) => ({
        attribute,
        op: launchdarklyOps[op],
        values: values ?? [value],
        negate: op === "notIn",
        contextKind: "user",
      })),
    })),
  });
  const client = init("sdk-key", {
    updateProcessor: data.getFactory(),
    sendEvents: false,
    diagnosticOptOut: true,
    logger: silent,
  });
  await client.waitForInitialization({ timeout: 10 });
  return {
    ...engine(
      ({ targetingKey, ...rest }) => ({ kind: "user", key: targetingKey, ...rest }),
      (context) => client.boolVariation(flagKey, context, false),
    ),
    isPromised: true,
  };
};

const unleashOps = {
  in: "IN",
  notIn: "NOT_IN",
  startsWith: "STR_STARTS_WITH",
  endsWith: "STR_ENDS_WITH",
  gte: "NUM_GTE",
  lt: "NUM_LT",
};
const unleashRule = (conditions) => ({
  name: "default",
  parameters: {},
  constraints: conditions.map(({ attribute, op, value, values }) => ({
    contextName: attribute,
    operator: unleashOps[op],
    inverted: false,
    caseInsensitive: false,
    ...(values ? { values } : { values: [], value: String(value) }),
  })),
});
const unleashHalf = {
  name: "flexibleRollout",
  constraints: [],
  parameters: { rollout: "50", stickiness: "userId", groupId: flagKey },
};

export const unleash = async (rules) => {
  const feature = {
    name: flagKey,
    type: "release",
    enabled: true,
    stale: false,
    impressionData: false,
    variants: [],
    strategies: rules?.map(unleashRule) ?? [unleashHalf],
  };
  const client = initialize({
    appName: "bench",
    // Nothing listens there: the data below is all it has.
    url: "http://127.0.0.1:9/api",
    refreshInterval: 0,
    disableMetrics: true,
    storageProvider: new InMemStorageProvider(),
    bootstrap: { data: [feature] },
  });
  client.on("error", () => {});
  client.on("warn", () => {});
  await new Promise((resolve) => client.once("ready", resolve));
  return engine(
    ({ targetingKey, ...properties }) => ({ userId: targetingKey, properties }),
    (context) => client.isEnabled(flagKey, context),
  );
};

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\-]/g, "\\$&");
const growthbookCondition = ({ op, value, values }) =>
  ({
    in: { $in: values },
    notIn: { $nin: values },
    startsWith: { $regex: `^(${values?.map(escaped).join("|")})` },
    endsWith: { $regex: `(${values?.map(escaped).join("|")})$` },
    gte: { $gte: value },
    lt: { $lt: value },
  })[op];
const growthbookRule = (conditions) => ({
  force: true,
  condition: Object.fromEntries(
    conditions.map((each) => [each.attribute, growthbookCondition(each)]),
  ),
});
const growthbookHalf = { force: true, coverage: 0.5, hashAttribute: "id" };

export const growthbook = async (rules) => {
  const feature = { defaultValue: false, rules: rules?.map(growthbookRule) ?? [growthbookHalf] };
  const client = new GrowthBookClient().initSync({ payload: { features: { [flagKey]: feature } } });
  return engine(
    ({ targetingKey, ...rest }) => ({ attributes: { id: targetingKey, ...rest } }),
    (context) => client.isOn(flagKey, context),
  );
};

const flagdCondition = ({ attribute, op, value, values }) => {
  const found = { var: attribute };
  const any = (name) => ({ or: values.map((each) => ({ [name]: [found, each] })) });
  switch (op) {
    case "in":
      return { in: [found, values] };
    case "notIn":
      return { "!": { in: [found, values] } };
    case "startsWith":
      return any("starts_with");
    case "endsWith":
      return any("ends_with");
    case "gte":
      return { ">=": [found, value] };
    default:
      return { "<": [found, value] };
  }
};
const flagdRules = (rules) => ({
  if: [...rules.flatMap((each) => [{ and: each.map(flagdCondition) }, "on"]), "off"],
});
const flagdHalf = {
  fractional: [
    ["on", 50],
    ["off", 50],
  ],
};

export const flagd = async (rules) => {
  const core = new FlagdCore(undefined, silent);
  const flag = {
    state: "ENABLED",
    variants: { on: true, off: false },
    defaultVariant: "off",
    targeting: rules ? flagdRules(rules) : flagdHalf,
  };
  core.setConfigurations(JSON.stringify({ flags: { [flagKey]: flag } }));
  return engine(
    (person) => person,
    (context) => core.resolveBooleanEvaluation(flagKey, false, context).value,
  );
};

/** Its rules have no prefixes and suffixes of strings. */
export const flagsmith = async () => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const file = join(folder, "environment.json");
  const organisation = {
    id: 1,
    name: "bench",
    feature_analytics: false,
    persist_trait_data: false,
  };
  const state = {
    django_id: 1,
    featurestate_uuid: "5f1a7c1e-0a4b-4f5c-9b64-2f1f3a9c8d10",
    enabled: true,
    feature: { id: 1, name: flagKey, type: "MULTIVARIATE" },
    feature_state_value: "off",
    multivariate_feature_state_values: [
      {
        id: 1,
        percentage_allocation: 50,
        mv_fs_value_uuid: "5f1a7c1e-0a4b-4f5c-9b64-2f1f3a9c8d11",
        multivariate_feature_option: { id: 1, value: "on" },
      },
    ],
  };
  const project = { id: 1, name: "bench", hide_disabled_flags: false, segments: [], organisation };
  const environment = { id: 1, api_key: "key", name: "bench", project, identity_overrides: [] };
  writeFileSync(file, JSON.stringify({ ...environment, feature_states: [state] }));
  const client = new Flagsmith({ offlineMode: true, offlineHandler: new LocalFileHandler(file) });
  rmSync(folder, { recursive: true });
  return {
    ...engine(
      ({ targetingKey }) => targetingKey,
      async (key) => (await client.getIdentityFlags(key)).getFeatureValue(flagKey) === "on",
    ),
    isPromised: true,
  };
};
