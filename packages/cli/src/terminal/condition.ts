// Conditions on the command line: JSON, or a short form such as `plan in pro,team`.
import { checkCondition, maxConditions } from "@halyard/core/targeting/conditions/check-condition";
import { type Condition, everyone } from "@halyard/core/targeting/conditions/condition";
import { operatorNames, type Scalar } from "@halyard/core/targeting/conditions/operators";
import { collectErrors } from "@halyard/core/targeting/mistakes";
import { InvalidArgumentError } from "commander";

const lists = new Set(["in", "notIn", "startsWith", "endsWith", "contains", "inCidr"]);
const numbers = new Set(["lt", "lte", "gt", "gte"]);

/** The API's operators, and `missing`, the opposite of `exists`. */
const shortOperators = [...operatorNames, "missing"];

const example = "such as 'plan in pro,team' or 'email endsWith @acme.com'";

const refuse = (message: string): never => {
  throw new InvalidArgumentError(message);
};

/** Splits at commas. A quoted part is a JSON string and can contain commas. */
const partsOf = (text: string): readonly string[] => {
  const parts = text.match(/\s*("(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]*)(?:,|$)/g) ?? [];
  // The pattern also matches the empty end.
  const found = parts.slice(0, -1).map((part) => part.replace(/,$/, "").trim());
  if (text.trimEnd().endsWith(",")) found.push("");
  return found;
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The quoted string, or the text itself. */
const textOf = (part: string): string => {
  const value = part.startsWith('"') ? jsonOf(part) : undefined;
  return typeof value === "string" ? value : part;
};

/** Keeps numbers, true and false as JSON values. */
const scalarOf = (part: string): Scalar => {
  const value = jsonOf(part);
  return typeof value === "number" || typeof value === "boolean" ? value : textOf(part);
};

const listOf = <T>(rest: string, what: string, read: (part: string) => T): T[] => {
  const parts = partsOf(rest);
  if (rest === "" || parts.includes("")) {
    return refuse(`${what} must be followed by one or more values, separated by commas.`);
  }
  return parts.map(read);
};

const shortForm = (text: string): Condition => {
  const [, first = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  if (first === "not") {
    return rest === "" ? refuse(`not must be followed by a condition, ${example}.`) : negated(rest);
  }
  if (first === "everyone" && rest === "") return everyone;
  const [, op = "", value = ""] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (first === "segment" && !(value !== "" && shortOperators.includes(op))) {
    return { segment: listOf(rest, "segment", textOf) };
  }
  if (!shortOperators.includes(op)) {
    return refuse(
      op === ""
        ? `It must be JSON, or an attribute, an operator and values, ${example}.`
        : `"${op}" is not an operator: the attribute must be followed by one of ${shortOperators.join(", ")}.`,
    );
  }
  if (op === "exists" || op === "missing") {
    if (value !== "") refuse(`${op} takes no value.`);
    return { attribute: first, op: "exists", value: op === "exists" };
  }
  if (lists.has(op)) {
    const read = op === "in" || op === "notIn" ? scalarOf : textOf;
    return { attribute: first, op, values: listOf<Scalar>(value, op, read) };
  }
  if (value === "") return refuse(`${op} must be followed by a value.`);
  return { attribute: first, op, value: numbers.has(op) ? numberOf(op, value) : textOf(value) };
};

const numberOf = (op: string, text: string): number => {
  const value = jsonOf(text);
  return typeof value === "number"
    ? value
    : refuse(`${op} must be followed by a number, not "${text}".`);
};

const negated = (text: string): Condition => ({ not: shortForm(text) });

/** Values that look like numbers need quotes to be strings. */
const hintFor = (message: string): string =>
  message.endsWith("all of one type") ? `; write '"7"' for the string 7` : "";

/** Rejects conditions that the server would reject. */
const checked = (condition: unknown): Condition => {
  const errors = collectErrors();
  const rules = { errors, budget: { conditions: maxConditions }, mayNameSegments: true };
  checkCondition(condition, "", rules);
  const [first] = errors.found;
  if (first !== undefined) {
    const place = first.place.replace(/^\./, "") || "It";
    refuse(`${place} ${first.message}${hintFor(first.message)}.`);
  }
  return condition as Condition;
};

export const parseCondition = (text: string): Condition => {
  const given = text.trim();
  if (!given.startsWith("{")) return checked(shortForm(given));
  const value = jsonOf(given);
  return value === undefined
    ? refuse("It starts like JSON, but is not valid JSON.")
    : checked(value);
};

/** Collects conditions of an option that can be repeated. */
export const conditions = (text: string, before: readonly Condition[] = []): Condition[] => [
  ...before,
  parseCondition(text),
];

/** All conditions must hold. */
export const allOf = (each: readonly Condition[]): Condition => {
  const [first, second] = each;
  return first !== undefined && second === undefined ? first : { all: each };
};

export const conditionHelp = `
A condition is JSON, or in short form an attribute, an operator and values:
  plan in pro,team          country notIn RU,BY        email endsWith @acme.com
  age gte 18                app semverGte 2.1.0        signedUp after 2026-01-01T00:00:00Z
  ip inCidr 10.0.0.0/8      email exists               email missing
  segment beta,staff        not segment embargoed      everyone
Numbers, true and false are not strings: '"7"' is the string 7. If --when is repeated, all conditions must hold.`;
