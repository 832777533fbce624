// Checks the fields of one entry of a file, and reports every error.
import type { Fields } from "./loose-values.ts";

export type Report = (field: string, message: string) => void;

/** The description of a valid value, and the check. */
export type Rule = readonly [mustBe: string, isValid: (value: unknown) => boolean];

export const quoted = (value: unknown): string => JSON.stringify(value) ?? "nothing";

export const trueOrFalse: Rule = ["true or false", (value) => typeof value === "boolean"];

export const checkFields = (
  fields: Fields,
  rules: Readonly<Record<string, Rule>>,
  optional: readonly string[],
  report: Report,
): void => {
  for (const [name, [mustBe, isValid]] of Object.entries(rules)) {
    const value = fields[name];
    if (value === undefined && optional.includes(name)) continue;
    if (value === undefined) report(name, `"${name}" is missing: ${mustBe}`);
    else if (!isValid(value)) report(name, `"${name}" must be ${mustBe}, not ${quoted(value)}`);
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(rules, name)) report(name, `"${name}" is not a known field`);
  }
};
