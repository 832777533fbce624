// Flipt: return values of its SDK.
import type { Case, Json } from "./case.ts";

const entity = (context: Json, value: unknown) =>
  [{ entityId: "anna", context }, { targetingKey: "anna", ...context }, value] as const;
const fliptOf = (type: string, operator: string, value = "") => ({
  namespace: "default",
  flags: [
    {
      key: "flag",
      name: "flag",
      type: "BOOLEAN_FLAG_TYPE",
      enabled: false,
      rollouts: [{ segment: { keys: ["s"], operator: "OR_SEGMENT_OPERATOR", value: true } }],
    },
  ],
  segments: [
    {
      key: "s",
      name: "s",
      match_type: "ALL_MATCH_TYPE",
      constraints: [{ type: `${type}_COMPARISON_TYPE`, property: "plan", operator, value }],
    },
  ],
});
const ofFlipt = { product: "flipt", flag: "flag" } as const;

export const fliptCases: readonly Case[] = [
  {
    ...ofFlipt,
    what: "a number that is present",
    document: fliptOf("NUMBER", "present"),
    people: [entity({ plan: "1" }, true), entity({ plan: "" }, false), entity({}, false)],
  },
  {
    ...ofFlipt,
    what: "a prefix that is empty",
    document: fliptOf("STRING", "prefix"),
    people: [entity({ plan: "pro" }, true), entity({ plan: "" }, false), entity({}, false)],
  },
  {
    ...ofFlipt,
    what: "one of a list with an empty text",
    document: fliptOf("STRING", "isoneof", '["pro",""]'),
    people: [entity({ plan: "pro" }, true), entity({ plan: "" }, false), entity({}, false)],
  },
];
