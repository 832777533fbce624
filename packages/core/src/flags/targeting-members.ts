// The members that a flag of any type may have: who gets which variant, and what the flag belongs to.

import { withRuleIds } from "../targeting/rule-ids.ts";
import type { Requirement, Rule, Targeting } from "../targeting/targeting.ts";
import type { Member } from "./flag-type.ts";

const isList = <T>(value: unknown): value is readonly T[] => Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const same = <T>(value: T): T => value;

const countOf = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

/** Checked as part of the whole flag, which says where in them a mistake is. */
export const targetingMembers: {
  readonly [Name in keyof Targeting]-?: Member<NonNullable<Targeting[Name]>>;
} = {
  requires: {
    schema: {
      description:
        "Other flags of the environment, at most 10, that must give these variants for the same context; otherwise the flag gives its off.",
      "x-must-be": "a list of requirements, or null",
      "x-schema": { type: "array", items: { $ref: "#/components/schemas/Requirement" } },
    },
    initial: undefined,
    isOptional: true,
    isValid: isList<Requirement>,
    normalize: same,
    format: (requires) => requires.map(({ flag, variant }) => `${flag} = ${variant}`).join(", "),
  },
  rules: {
    schema: {
      description:
        "Who gets which variant, at most 50 rules in their order: the first whose condition is true decides.",
      "x-must-be": "a list of rules, or null",
      "x-schema": { type: "array", items: { $ref: "#/components/schemas/Rule" } },
    },
    initial: undefined,
    isOptional: true,
    isValid: isList<Rule>,
    normalize: withRuleIds,
    format: (rules) =>
      `${countOf(rules.length, "rule", "rules")}: ${rules.map(({ id }) => id).join(", ")}`,
  },
  bucketBy: {
    schema: {
      description:
        "The attribute to split by instead of `targetingKey`: a name, or a JSON Pointer when it begins with `/`.",
      "x-must-be": "the name of an attribute, or null",
      "x-schema": { type: ["string", "null"] },
    },
    initial: undefined,
    isOptional: true,
    isValid: isText,
    normalize: same,
    format: same,
  },
  bucketSeed: {
    schema: {
      description:
        "Hashed instead of the flag's key: flags with the same seed reach the same people.",
      "x-must-be": "a text, or null",
      "x-schema": { type: ["string", "null"], minLength: 1, maxLength: 128 },
    },
    initial: undefined,
    isOptional: true,
    isValid: isText,
    normalize: same,
    format: (seed) => JSON.stringify(seed),
  },
  tags: {
    schema: {
      description: "For people, at most 20; `GET /flags?tag=` finds the flags of one.",
      "x-must-be": "a list of texts, or null",
      "x-schema": { type: ["array", "null"], items: { type: "string" }, maxItems: 20 },
    },
    initial: undefined,
    isOptional: true,
    isValid: isList<string>,
    normalize: same,
    format: (tags) => tags.join(", "),
  },
  owner: {
    schema: {
      description: "The person or team to ask; `GET /flags?owner=` finds their flags.",
      "x-must-be": "a text, or null",
      "x-schema": { type: ["string", "null"], minLength: 1, maxLength: 128 },
    },
    initial: undefined,
    isOptional: true,
    isValid: isText,
    normalize: same,
    format: same,
  },
};
