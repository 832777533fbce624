// The other evaluators on one flag with rules: on for whom a rule matches, else off. Each from data in memory, with its
// contexts prepared, in the fastest way its documents show.
import { GrowthBookClient } from "@growthbook/growthbook";
import { init } from "@launchdarkly/node-server-sdk";
import { TestData } from "@launchdarkly/node-server-sdk/integrations";
import { FlagdCore } from "@openfeature/flagd-core";
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
    fallthrough: { variation: 1 },
    rules: rules.map((conditions, index) => ({
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
  // It only answers with promises.
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

export const unleash = async (rules) => {
  const client = initialize({
    appName: "bench",
    // Nothing listens there: the data below is all it has.
    url: "http://127.0.0.1:9/api",
    refreshInterval: 0,
    disableMetrics: true,
    storageProvider: new InMemStorageProvider(),
    bootstrap: {
      data: [
        {
          name: flagKey,
          type: "release",
          enabled: true,
          stale: false,
          impressionData: false,
          variants: [],
          strategies: rules.map((conditions) => ({
            name: "default",
            parameters: {},
            constraints: conditions.map(({ attribute, op, value, values }) => ({
              contextName: attribute,
              operator: unleashOps[op],
              inverted: false,
              caseInsensitive: false,
              ...(values ? { values } : { values: [], value: String(value) }),
            })),
          })),
        },
      ],
    },
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

export const growthbook = (rules) => {
  const client = new GrowthBookClient().initSync({
    payload: {
      features: {
        [flagKey]: {
          defaultValue: false,
          rules: rules.map((conditions) => ({
            force: true,
            condition: Object.fromEntries(
              conditions.map((each) => [each.attribute, growthbookCondition(each)]),
            ),
          })),
        },
      },
    },
  });
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

export const flagd = (rules) => {
  const core = new FlagdCore(undefined, silent);
  core.setConfigurations(
    JSON.stringify({
      flags: {
        [flagKey]: {
          state: "ENABLED",
          variants: { on: true, off: false },
          defaultVariant: "off",
          targeting: {
            if: [...rules.flatMap((each) => [{ and: each.map(flagdCondition) }, "on"]), "off"],
          },
        },
      },
    }),
  );
  return engine(
    (person) => person,
    (context) => core.resolveBooleanEvaluation(flagKey, false, context).value,
  );
};
