// Flagsmith: return values of its SDK.
import type { Case, Json } from "./case.ts";

const traits = (values: Json, value: unknown) =>
  [{ identifier: "anna", traits: values }, { targetingKey: "anna", ...values }, value] as const;
const stateOf = (enabled: boolean, more: Json = {}): Json => ({
  id: 1,
  django_id: 1,
  featurestate_uuid: "00000000-0000-4000-8000-000000000001",
  feature: { id: 1, name: "flag", type: "STANDARD" },
  enabled,
  feature_state_value: null,
  multivariate_feature_state_values: [],
  ...more,
});
const flagsmithOf = (rule: Json) => ({
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
    segments: [
      {
        id: 1,
        name: "segment",
        rules: [{ type: "ALL", conditions: [], rules: [], ...rule }],
        feature_states: [stateOf(true, { feature_segment: { priority: 0 } })],
      },
    ],
  },
  feature_states: [stateOf(false)],
  identity_overrides: [],
});
const ifTrait = (property: string, operator: string, value: unknown) =>
  flagsmithOf({ conditions: [{ property_: property, operator, value }] });
const ofFlagsmith = { product: "flagsmith", flag: "flag" } as const;

export const flagsmithCases: readonly Case[] = [
  {
    ...ofFlagsmith,
    what: "numbers written in another way",
    document: ifTrait("age", "EQUAL", "18.0"),
    note: "exact only if age is a string or a number",
    people: [
      traits({ age: 18 }, true),
      traits({ age: "18.0" }, true),
      traits({ age: "18" }, false),
    ],
  },
  {
    ...ofFlagsmith,
    what: "True for a trait that is true",
    document: ifTrait("beta", "EQUAL", "True"),
    people: [
      traits({ beta: true }, true),
      traits({ beta: "True" }, true),
      traits({ beta: false }, false),
    ],
  },
  {
    ...ofFlagsmith,
    what: "zero in a list",
    document: ifTrait("age", "IN", "0,18"),
    people: [traits({ age: 18 }, true), traits({ age: 0 }, false), traits({ age: "0" }, true)],
  },
  {
    ...ofFlagsmith,
    what: "a version that is another text",
    document: ifTrait("app", "NOT_EQUAL", "2.5.0:semver"),
    note: "exact only if app is a string",
    people: [traits({ app: "v2.5.0" }, true), traits({ app: "2.5.0" }, false), traits({}, false)],
  },
  {
    ...ofFlagsmith,
    what: "none of a rule that holds for everyone",
    document: flagsmithOf({
      rules: [
        { type: "NONE", conditions: [], rules: [{ type: "ALL", conditions: [], rules: [] }] },
      ],
    }),
    people: [traits({}, false)],
  },
];
