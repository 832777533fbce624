// A flag of each product that reaches 30% of the users.
import type { EvaluationContext } from "@halyard/core/context";
import type { Product } from "../../../src/flags-file/importers/importers.ts";

export interface Percentage {
  readonly document: unknown;
  readonly person: (key: string) => readonly [theirs: unknown, ours: EvaluationContext];
}

const state = (enabled: boolean, more: object = {}) => ({
  id: 1,
  django_id: 1,
  featurestate_uuid: "00000000-0000-4000-8000-000000000001",
  feature: { id: 1, name: "flag", type: "STANDARD" },
  enabled,
  feature_state_value: null,
  multivariate_feature_state_values: [],
  ...more,
});

const organisation = {
  id: 1,
  name: "shop",
  feature_analytics: false,
  stop_serving_flags: false,
  persist_trait_data: true,
};

export const percentages: Readonly<Partial<Record<Product, Percentage>>> = {
  launchdarkly: {
    document: {
      items: [
        {
          key: "flag",
          variations: [{ value: true }, { value: false }],
          environments: {
            production: {
              on: true,
              offVariation: 1,
              targets: [],
              contextTargets: [],
              rules: [],
              fallthrough: {
                rollout: {
                  variations: [
                    { variation: 0, weight: 30_000 },
                    { variation: 1, weight: 70_000 },
                  ],
                },
              },
              prerequisites: [],
            },
          },
        },
      ],
    },
    person: (key) => [{ kind: "user", key }, { targetingKey: key }],
  },
  unleash: {
    document: {
      features: [{ name: "flag" }],
      featureStrategies: [
        {
          featureName: "flag",
          name: "flexibleRollout",
          parameters: { rollout: "30", stickiness: "default", groupId: "flag" },
        },
      ],
      featureEnvironments: [{ featureName: "flag", environment: "production", enabled: true }],
    },
    person: (key) => [{ userId: key, properties: {} }, { targetingKey: key }],
  },
  growthbook: {
    document: {
      features: { flag: { defaultValue: false, rules: [{ force: true, coverage: 0.3 }] } },
    },
    person: (key) => [{ id: key }, { targetingKey: key }],
  },
  flagsmith: {
    document: {
      id: 1,
      name: "production",
      api_key: "key",
      project: {
        id: 1,
        name: "shop",
        hide_disabled_flags: false,
        organisation,
        segments: [
          {
            id: 1,
            name: "a part",
            rules: [
              {
                type: "ALL",
                conditions: [{ operator: "PERCENTAGE_SPLIT", property_: "", value: "30" }],
                rules: [],
              },
            ],
            feature_states: [state(true, { feature_segment: { priority: 0 } })],
          },
        ],
      },
      feature_states: [state(false)],
      identity_overrides: [],
    },
    person: (key) => [{ identifier: key, traits: {} }, { targetingKey: key }],
  },
  flagd: {
    document: {
      flags: {
        flag: {
          state: "ENABLED",
          variants: { on: true, off: false },
          defaultVariant: "off",
          targeting: {
            fractional: [
              ["on", 30],
              ["off", 70],
            ],
          },
        },
      },
    },
    person: (key) => [{ targetingKey: key }, { targetingKey: key }],
  },
  flipt: {
    document: {
      namespace: "default",
      flags: [
        {
          key: "flag",
          name: "flag",
          type: "BOOLEAN_FLAG_TYPE",
          enabled: false,
          rollouts: [{ threshold: { percentage: 30, value: true } }],
        },
      ],
      segments: [],
    },
    person: (key) => [{ entityId: key, context: {} }, { targetingKey: key }],
  },
};
