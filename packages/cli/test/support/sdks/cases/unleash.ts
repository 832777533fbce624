// Unleash: return values of its SDK.
import type { Case, Json } from "./case.ts";

const person = (attributes: Json, value: unknown) =>
  [
    { userId: "anna", properties: attributes },
    { targetingKey: "anna", ...attributes },
    value,
  ] as const;
const unleashOf = (strategy: Json) => ({
  features: [{ name: "flag" }],
  featureStrategies: [{ featureName: "flag", name: "default", parameters: {}, ...strategy }],
  featureEnvironments: [{ featureName: "flag", environment: "production", enabled: true }],
  segments: [],
  dependencies: [],
});
const ofUnleash = { product: "unleash", flag: "flag" } as const;

export const unleashCases: readonly Case[] = [
  {
    ...ofUnleash,
    what: "versions with a leading v, or not whole",
    document: unleashOf({
      constraints: [{ contextName: "app", operator: "SEMVER_GTE", value: "2.0.0" }],
    }),
    note: "exact only if app is a version such as 2.5.0",
    people: [person({ app: "2.5.0" }, true), person({ app: "v2.5.0" }, false), person({}, false)],
  },
  {
    ...ofUnleash,
    what: "numbers written in another way",
    document: unleashOf({
      constraints: [{ contextName: "age", operator: "NUM_EQ", value: "18" }],
    }),
    note: "exact only if age is a number, or a string such as 12.5",
    people: [
      person({ age: 18 }, true),
      person({ age: "18.0" }, true),
      person({ age: "18" }, true),
      person({ age: 17 }, false),
    ],
  },
  {
    ...ofUnleash,
    what: "100% of the contexts with the field that it is sticky by",
    document: unleashOf({
      name: "flexibleRollout",
      parameters: { rollout: "100", stickiness: "team", groupId: "flag" },
    }),
    note: "exact only if team is not empty",
    people: [person({ team: "red" }, true), person({}, false)],
  },
  {
    ...ofUnleash,
    what: "none of an empty list",
    document: unleashOf({
      constraints: [{ contextName: "plan", operator: "NOT_IN", values: [""] }],
    }),
    people: [person({ plan: 7 }, true), person({}, true)],
  },
];
