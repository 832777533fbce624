// GrowthBook: return values of its SDK.
import type { Case, Json } from "./case.ts";

const growthBookOf = (rules: readonly Json[], savedGroups: Json = {}) => ({
  features: { flag: { defaultValue: false, rules } },
  savedGroups,
});
const when = (condition: Json) => growthBookOf([{ condition, force: true }]);
const reader = (attributes: Json, value: unknown) =>
  [{ id: "anna", ...attributes }, { targetingKey: "anna", ...attributes }, value] as const;
const ofGrowthBook = { product: "growthbook", flag: "flag" } as const;

export const growthbookCases: readonly Case[] = [
  {
    ...ofGrowthBook,
    what: "numbers written in another way",
    document: when({ age: 18 }),
    note: "exact only if age is a number, or a string such as 12.5",
    people: [reader({ age: 18 }, true), reader({ age: "18.0" }, true), reader({ age: 17 }, false)],
  },
  {
    ...ofGrowthBook,
    what: "the text null is a missing attribute too",
    document: when({ plan: "null" }),
    note: "exact only if plan is not a list",
    people: [reader({}, true), reader({ plan: "null" }, true), reader({ plan: "pro" }, false)],
  },
  {
    ...ofGrowthBook,
    what: "a saved group of another attribute",
    document: growthBookOf(
      [{ condition: { $savedGroup: { id: "g", attributeKey: "country" } }, force: true }],
      { g: { type: "list", attributeKey: "plan", values: ["CH"] } },
    ),
    people: [reader({ country: "CH" }, true), reader({ plan: "CH" }, false)],
  },
  {
    ...ofGrowthBook,
    what: "a coverage of everyone without the attribute that is hashed",
    document: growthBookOf([{ force: true, coverage: 1, hashAttribute: "team" }]),
    note: "exact only if team is not empty, zero or false",
    people: [reader({ team: "red" }, true), reader({}, false)],
  },
  {
    ...ofGrowthBook,
    what: "an experiment of one variation",
    document: growthBookOf([{ variations: [true], coverage: 1, weights: [1] }]),
    note: "exact only if targetingKey is not empty, zero or false",
    people: [reader({}, false)],
  },
];
