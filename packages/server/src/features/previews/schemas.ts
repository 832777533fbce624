// A preview as the API shows it: whom a change would hit.

import { Type } from "typebox";
import { closedObject, nullable } from "../../platform/http/openapi/schemas.ts";

const Outcome = Type.Unsafe<object>({
  type: "object",
  description: "A value, or an error such as `TARGETING_KEY_MISSING`, or `FLAG_NOT_FOUND`.",
  properties: {
    variant: { type: "string" },
    value: { description: "Left out when its JSON is longer than 1,024 characters." },
    rule: { type: ["string", "null"], description: "The id of the rule that decides, or null." },
    reason: { type: "string" },
    errorCode: { type: "string" },
  },
});

const percent = (description: string) => nullable<number>("number", description);
const shares = {
  share: percent("In percent of the contexts about which it is known; null without a sample."),
  low: percent("The lower end of the interval that holds the true share in 95 of 100 samples."),
  high: percent("Its upper end."),
};
const count = (description: string) => Type.Integer({ description });

const FlagFlips = closedObject({
  key: Type.String(),
  changed: count("Contexts whose value of this flag changes."),
  unknown: count("Contexts of which that cannot be known."),
  ...shares,
  exactShare: Type.Optional(
    Type.Number({
      description:
        "In percent of everybody, where it follows from the flag alone: without rules, requirements and `bucketBy`.",
    }),
  ),
  flips: Type.Array(
    closedObject({ from: Outcome, to: Outcome, count: Type.Integer(), ...shares }),
    { description: "From what to what, the most frequent first." },
  ),
  flipsLeftOut: count("Further kinds of flips, beyond the 20 most frequent."),
});

export const PreviewSchema = closedObject(
  {
    revision: count("The environment's revision that the change was tried on."),
    sample: Type.Unsafe<object | null>({
      anyOf: [
        closedObject({
          contexts: count("How many it has."),
          since: Type.String({ description: "ISO 8601 in UTC." }),
          until: Type.String({ description: "ISO 8601 in UTC." }),
          fromClientKeys: count("How many of them came with client keys, which anybody can use."),
        }),
        { type: "null" },
      ],
      description:
        "The contexts that flags were evaluated for lately, one for each targeting key; null when sampling is off.",
    }),
    rounded: Type.Optional(
      Type.Boolean({
        description:
          "True for roles below admin: counts have noise and are rounded to tens. 0 stands for fewer than about 20. Smaller flips are left out.",
      }),
    ),
    changed: count("Contexts for which the value of at least one flag changes."),
    unchanged: count("Contexts for which no value changes."),
    unknown: count("Contexts of which that cannot be known."),
    ...shares,
    shareAsSampled: percent(
      "In percent of all contexts, when each has just the attributes that it came with; null without a sample. The limit on flips goes by the largest of this, `share` and `exactShare`.",
    ),
    unknownAttributes: Type.Array(Type.String(), {
      description: "Rules that matter ask for them, and no context of the sample has them.",
    }),
    flags: Type.Array(FlagFlips, {
      description:
        "The flags that are changed, and of those that require them or name a changed segment the ones that give something else. The most flips first.",
    }),
    flagsLeftOut: count("Flags that were not looked at, because there are too many."),
    contextsLeftOut: count(
      "Contexts of the sample that were not counted, because the rules take too much work. All other numbers are of the rest.",
    ),
    examples: Type.Optional(
      Type.Array(
        closedObject({
          flag: Type.String(),
          context: Type.Unsafe<object>({ type: "object", additionalProperties: true }),
          from: Outcome,
          to: Outcome,
        }),
        { description: "At most 20. Left out for roles below admin: contexts are about people." },
      ),
    ),
  },
  { $id: "Preview" },
);

const interval = { share: 12.58, low: 11.59, high: 13.64 };
const off = { variant: "off", value: false, rule: null, reason: "DEFAULT" };
const on = { variant: "on", value: true, rule: "beta", reason: "SPLIT" };
export const previewExample = {
  revision: 812,
  sample: {
    contexts: 4_213,
    since: "2026-11-14T10:00:00.000Z",
    until: "2026-11-14T11:42:10.000Z",
    fromClientKeys: 120,
  },
  changed: 518,
  unchanged: 3_600,
  unknown: 95,
  ...interval,
  shareAsSampled: 12.3,
  unknownAttributes: ["country"],
  flags: [
    {
      key: "new-checkout",
      changed: 518,
      unknown: 95,
      ...interval,
      flips: [{ from: off, to: on, count: 518, ...interval }],
      flipsLeftOut: 0,
    },
  ],
  flagsLeftOut: 0,
  contextsLeftOut: 0,
  examples: [
    { flag: "new-checkout", context: { targetingKey: "user-7", plan: "pro" }, from: off, to: on },
  ],
};
