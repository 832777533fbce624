// The other evaluators on one flag with a rollout of 50 %, each from data in memory and in the fastest way its documents show.
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

/** What every engine gives back: it goes once through all keys and counts those that have the flag. */
const passOf = (contexts, isOn) => () => {
  let on = 0;
  for (const context of contexts) if (isOn(context)) on += 1;
  return on;
};

export const launchdarkly = async (keys) => {
  const data = new TestData();
  await data.usePreconfiguredFlag({
    key: flagKey,
    version: 1,
    on: true,
    offVariation: 1,
    variations: [true, false],
    salt: "salt",
    rules: [],
    targets: [],
    prerequisites: [],
    fallthrough: {
      rollout: {
        variations: [
          { variation: 0, weight: 50_000 },
          { variation: 1, weight: 50_000 },
        ],
      },
    },
  });
  const client = init("sdk-key", {
    updateProcessor: data.getFactory(),
    sendEvents: false,
    diagnosticOptOut: true,
    logger: silent,
  });
  await client.waitForInitialization({ timeout: 10 });
  const contexts = keys.map((key) => ({ kind: "user", key }));
  return async () => {
    let on = 0;
    // It only answers with promises. A hundred at once take less time than one after the other.
    for (let from = 0; from < contexts.length; from += 100) {
      const some = contexts.slice(from, from + 100);
      const values = await Promise.all(
        some.map((context) => client.boolVariation(flagKey, context, false)),
      );
      for (const value of values) if (value) on += 1;
    }
    return on;
  };
};

export const unleash = async (keys) => {
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
          strategies: [
            {
              name: "flexibleRollout",
              constraints: [],
              parameters: { rollout: "50", stickiness: "userId", groupId: flagKey },
            },
          ],
        },
      ],
    },
  });
  client.on("error", () => {});
  client.on("warn", () => {});
  await new Promise((resolve) => client.once("ready", resolve));
  return passOf(
    keys.map((userId) => ({ userId })),
    (context) => client.isEnabled(flagKey, context),
  );
};

export const growthbook = (keys) => {
  const rules = [{ force: true, coverage: 0.5, hashAttribute: "id" }];
  const client = new GrowthBookClient().initSync({
    payload: { features: { [flagKey]: { defaultValue: false, rules } } },
  });
  return passOf(
    keys.map((id) => ({ attributes: { id } })),
    (context) => client.isOn(flagKey, context),
  );
};

export const flagd = (keys) => {
  const core = new FlagdCore(undefined, silent);
  core.setConfigurations(
    JSON.stringify({
      flags: {
        [flagKey]: {
          state: "ENABLED",
          variants: { on: true, off: false },
          defaultVariant: "off",
          targeting: {
            fractional: [
              ["on", 50],
              ["off", 50],
            ],
          },
        },
      },
    }),
  );
  return passOf(
    keys.map((targetingKey) => ({ targetingKey })),
    (context) => core.resolveBooleanEvaluation(flagKey, false, context).value,
  );
};

export const flagsmith = (keys) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const file = join(folder, "environment.json");
  writeFileSync(
    file,
    JSON.stringify({
      id: 1,
      api_key: "key",
      name: "bench",
      project: {
        id: 1,
        name: "bench",
        hide_disabled_flags: false,
        segments: [],
        organisation: { id: 1, name: "bench", feature_analytics: false, persist_trait_data: false },
      },
      feature_states: [
        {
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
        },
      ],
      identity_overrides: [],
    }),
  );
  const client = new Flagsmith({ offlineMode: true, offlineHandler: new LocalFileHandler(file) });
  rmSync(folder, { recursive: true });
  return async () => {
    let on = 0;
    for (const key of keys) {
      const flags = await client.getIdentityFlags(key);
      if (flags.getFeatureValue(flagKey) === "on") on += 1;
    }
    return on;
  };
};
