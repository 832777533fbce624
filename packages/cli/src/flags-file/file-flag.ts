// A flag in a file: the order and the checks of its fields.
import { arrange } from "@halyard/core/flags/arrange";
import { newFlag, otherTypesOnly } from "@halyard/core/flags/change";
import {
  type CreateFlag,
  type Flag,
  isFlagTypeName,
  membersOf,
  typesWith,
} from "@halyard/core/flags/registry";
import { descriptionRule, flagKeyRule, isDescription, isFlagKey } from "@halyard/core/flags/rules";
import { flagTypeSchema } from "@halyard/core/flags/schemas";
import { checkFields, type Report, type Rule, trueOrFalse } from "./check-fields.ts";
import type { Fields } from "./loose-values.ts";

/** Unknown fields come last. A file can omit the description. */
export const orderMembers = (flag: Flag): Flag => {
  const { description } = flag as { readonly description?: string | null };
  return arrange({ ...flag, description: description ?? null });
};

const commonRules: Readonly<Record<string, Rule>> = {
  key: [flagKeyRule, isFlagKey],
  type: [flagTypeSchema["x-must-be"] ?? "a type", isFlagTypeName],
  enabled: trueOrFalse,
  description: [descriptionRule, isDescription],
};

/** Checks each field by itself. The flag as a whole is checked only if all fields are valid. */
export const checkFlag = (entry: Fields, report: Report): void => {
  let isRight = true;
  checkMembers(entry, (field, message) => {
    isRight = false;
    report(field, message);
  });
  if (!isRight) return;
  const made = newFlag(entry as unknown as CreateFlag);
  if (made.ok) return;
  for (const { place, message } of made.errors) report(place, `"${place}" ${message}`);
};

const checkMembers = (entry: Fields, report: Report): void => {
  const type = isFlagTypeName(entry.type) ? entry.type : undefined;
  const members = type === undefined ? [] : membersOf(type);
  const rules: Readonly<Record<string, Rule>> = {
    ...commonRules,
    ...Object.fromEntries(
      members.map(([name, { schema, isValid }]): [string, Rule] => [
        name,
        [schema["x-must-be"] ?? "a valid value", isValid],
      ]),
    ),
  };
  const isOfOtherType = (name: string) => !Object.hasOwn(rules, name) && typesWith(name).length > 0;
  const own = Object.entries(entry).filter(([name]) => !isOfOtherType(name));
  const optional = members.filter(([, { isOptional }]) => isOptional === true);
  const mayMiss = ["description", ...optional.map(([name]) => name)];
  checkFields(Object.fromEntries(own), rules, mayMiss, report);
  // Which fields are allowed depends on a valid type.
  if (type === undefined) return;
  for (const name of Object.keys(entry).filter(isOfOtherType)) {
    report(name, `"${name}" ${otherTypesOnly(type, name)}`);
  }
};
