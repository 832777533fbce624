// The fields that a flag of any type can have: targeting, and whom or what the flag belongs to.

import { withRuleIds } from "../targeting/rule-ids.ts";
import type { Requirement, Rule, Targeting } from "../targeting/targeting.ts";
import type { Member } from "./flag-type.ts";

const isList = <T>(value: unknown): value is readonly T[] => Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const same = <T>(value: T): T => value;

const countOf = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

/** Checked as part of the whole flag, which reports the place of each error. */
export const targetingMembers: {
  readonly [Name in keyof Targeting]-?: Member<NonNullable<Targeting[Name]>>;
} = {
  requires: {
    schema: {
      description:
        "Prerequisites: up to 10 other flags of the environment that must return these variants for the same context. If one doesn't, the flag returns its off variant.",
      "x-must-be": "a list of prerequisites, or null",
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
        "Targeting rules, up to 50, in order: the first rule whose condition is true decides.",
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
        "Hashed instead of the flag's key: flags with the same seed reach the same users.",
      "x-must-be": "a string, or null",
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
      description: "Up to 20 labels. `GET /flags?tag=` lists the flags that have one.",
      "x-must-be": "a list of strings, or null",
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
      description: "The person or team responsible. `GET /flags?owner=` lists their flags.",
      "x-must-be": "a string, or null",
      "x-schema": { type: ["string", "null"], minLength: 1, maxLength: 128 },
    },
    initial: undefined,
    isOptional: true,
    isValid: isText,
    normalize: same,
    format: same,
  },
};
