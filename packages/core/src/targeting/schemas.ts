// JSON Schemas of what flags and segments are made of, for the API reference. Requests are checked by check-targeting.ts,
// which names the place of a mistake.
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
    description: "A text, a number or an object: all variants of a flag have the same type.",
    anyOf: [
      text,
      { type: "number", format: "double" },
      { type: "object", additionalProperties: true },
    ],
  },
  Condition: {
    description:
      "True, false or unknown for a context. What is missing, null or of another type is unknown, and so is `not` of unknown; only true matches.",
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
        description: "Keys of segments: in any of them.",
      },
    },
    ["segment"],
  ),
  AttributeCondition: closed(
    {
      attribute: {
        ...text,
        description: "A name of the context, or a JSON Pointer when it begins with `/`.",
      },
      op: { ...text, enum: operatorNames },
      value: { description: "Of operators that compare with one value." },
      values: {
        type: "array",
        items: {},
        description: "Of operators that compare with any of a list.",
      },
      ignoreCase: { type: "boolean", description: "Of texts: A to Z count as a to z." },
      as: { ...text, enum: ["number"], description: "A text that is a number counts as one." },
    },
    ["attribute", "op"],
  ),
  Split: {
    type: "array",
    minItems: 1,
    maxItems: 100,
    description: "Shares of people, laid end to end in their order.",
    items: closed({ variant: text, share: { type: "number", minimum: 0.001, maximum: 100 } }, [
      "variant",
      "share",
    ]),
  },
  Rule: closed(
    {
      id: { ...text, description: "Unique in the flag; `rule-1` and so on when it is not given." },
      description: text,
      disabled: { type: "boolean", description: "A disabled rule is skipped." },
      when: reference("Condition"),
      serve: {
        description: "A variant, or a split. Whom a split does not reach goes on to the next rule.",
        anyOf: [text, reference("Split")],
      },
    },
    ["when", "serve"],
  ),
  Requirement: closed({ flag: text, variant: text }, ["flag", "variant"]),
} as const;
