// The shapes of segments.
import { flagKeyPattern, flagKeyRule } from "@halyard/core/flags/rules";
import { type Static, Type } from "typebox";
import { closedObject, nullable } from "../../platform/http/openapi/schemas.ts";

const condition = {
  description:
    "Who is in it besides those of the lists; null for nobody. It names no other segment.",
  "x-schema": { anyOf: [{ $ref: "#/components/schemas/Condition" }, { type: "null" }] },
};
const list = (description: string) => ({
  description,
  "x-schema": { type: "array", items: { type: "string" } },
});

const Description = nullable<string>("string", "Free text for people; `null` when there is none.");

export const SegmentSummary = closedObject(
  {
    key: Type.String(),
    description: Description,
    when: Type.Unsafe<unknown>(condition),
    counts: closedObject(
      { include: Type.Integer(), exclude: Type.Integer() },
      { description: "How many members the lists have." },
    ),
  },
  { $id: "SegmentSummary" },
);

export const SegmentSchema = closedObject(
  {
    key: Type.String(),
    description: Description,
    include: Type.Array(Type.String(), { description: "Targeting keys that are in it." }),
    exclude: Type.Array(Type.String(), {
      description: "Targeting keys that are not in it, whatever else says so.",
    }),
    when: Type.Unsafe<unknown>(condition),
  },
  { $id: "Segment" },
);
export const segmentReference = { $ref: "Segment#" } as const;

const when = { attribute: "plan", op: "in", values: ["pro", "team"] };
export const segmentExample = {
  key: "beta",
  description: "They asked for it",
  include: ["user-1", "user-2"],
  exclude: [],
  when,
};
export const summaryExample = {
  key: "beta",
  description: "They asked for it",
  when,
  counts: { include: 2, exclude: 0 },
};

/** Checked as a whole, which says where in them a mistake is. */
const members = {
  description: { description: "Free text for people, or null." },
  include: list("Targeting keys that are in it, each of at most 256 bytes."),
  exclude: list("Targeting keys that are not in it, whatever else says so."),
  when: condition,
};

export const createSegmentSchema = {
  type: "object",
  required: ["key"],
  properties: {
    key: {
      type: "string",
      pattern: flagKeyPattern,
      description: "Identifier of the segment within the environment. Case-sensitive.",
      "x-must-be": flagKeyRule,
    },
    ...members,
  },
  additionalProperties: false,
  examples: [segmentExample],
};

const fixed = "is fixed at creation and cannot be changed; create another segment instead";
export const patchSegmentSchema = {
  type: "object",
  properties: members,
  additionalProperties: false,
  "x-refused": { key: fixed },
  examples: [{ description: "They asked for it", when }],
};

const parts = (what: string) => ({
  description: `What to do to \`${what}\`.`,
  "x-schema": {
    type: "object",
    properties: { add: list("Targeting keys."), remove: list("Targeting keys.") },
    additionalProperties: false,
  },
});
export const membersSchema = {
  type: "object",
  properties: { include: parts("include"), exclude: parts("exclude") },
  additionalProperties: false,
  examples: [{ include: { add: ["user-3"], remove: ["user-1"] } }],
};

export const segmentPath = Type.Object({
  key: Type.String({ description: "The segment's key.", examples: ["beta"] }),
});
export type SegmentPath = Static<typeof segmentPath>;
