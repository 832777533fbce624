// JSON Schemas of the parts of flags and segments, for the API reference. check-targeting.ts validates requests, because
// it reports the place of each error.
import { operatorNames } from "./conditions/operators.ts";

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" } as const;
const closed = (properties: Readonly<Record<string, object>>, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const conditions = { type: "array", items: reference("Condition") } as const;

export const targetingSchemas = {
  VariantValue: {
    description: "A string, a number or an object: all variants of a flag have the same type.",
    anyOf: [
      text,
      { type: "number", format: "double" },
      { type: "object", additionalProperties: true },
    ],
  },
  Condition: {
    description:
      "True, false or unknown for a context. A missing, null or differently typed attribute is unknown, and so is `not` of unknown. Only true matches.",
    anyOf: [
      reference("AllCondition"),
      reference("AnyCondition"),
      reference("NotCondition"),
      reference("SegmentCondition"),
      reference("AttributeCondition"),
    ],
  },
  AllCondition: closed(
    { all: { ...conditions, description: "An empty list is true for every context." } },
    ["all"],
  ),
  AnyCondition: closed({ any: { ...conditions, minItems: 1 } }, ["any"]),
  NotCondition: closed({ not: reference("Condition") }, ["not"]),
  SegmentCondition: closed(
    {
      segment: {
        type: "array",
        items: text,
        minItems: 1,
        maxItems: 20,
        description: "Segment keys. Matches members of any of these segments.",
      },
    },
    ["segment"],
  ),
  AttributeCondition: closed(
    {
      attribute: {
        ...text,
        description: "The name of a context field, or a JSON Pointer if it begins with `/`.",
      },
      op: { ...text, enum: operatorNames },
      value: { description: "For operators that compare with one value." },
      values: {
        type: "array",
        items: {},
        description: "For operators that compare with any value of a list.",
      },
      ignoreCase: { type: "boolean", description: "For strings: treats A to Z as a to z." },
      as: {
        ...text,
        enum: ["number"],
        description: "Converts a string such as `12.5` to a number.",
      },
    },
    ["attribute", "op"],
  ),
  Split: {
    type: "array",
    minItems: 1,
    maxItems: 100,
    description: "Shares of users, in order.",
    items: closed({ variant: text, share: { type: "number", minimum: 0.001, maximum: 100 } }, [
      "variant",
      "share",
    ]),
  },
  Rule: closed(
    {
      id: { ...text, description: "Unique in the flag. Defaults to `rule-1` and so on." },
      description: text,
      disabled: { type: "boolean", description: "A disabled rule is skipped." },
      when: reference("Condition"),
      serve: {
        description:
          "A variant, or a split. Users outside the shares of a split fall through to the next rule.",
        anyOf: [text, reference("Split")],
      },
    },
    ["when", "serve"],
  ),
  Requirement: closed({ flag: text, variant: text }, ["flag", "variant"]),
} as const;
