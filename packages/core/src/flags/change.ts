// Makes a new flag from a request, or applies a patch to a flag; reports validation errors.
import { checkTargeting } from "../targeting/check-targeting.ts";
import {
  collectErrors,
  type Members,
  type ValidationError,
  type ValidationErrors,
} from "../targeting/mistakes.ts";
import { arrange } from "./arrange.ts";
import type { FlagBase, Member } from "./flag-type.ts";
import {
  type CreateFlag,
  choiceOf,
  type Flag,
  membersOf,
  ownMembersOf,
  type PatchFlag,
  typeOf,
  typesWith,
} from "./registry.ts";
import { bytesOf, descriptionRule, isDescription } from "./rules.ts";

export type Changed =
  | { readonly ok: true; readonly flag: Flag }
  | { readonly ok: false; readonly errors: readonly ValidationError[] };

const maxFlagBytes = 128 * 1_024;

const common: ReadonlySet<string> = new Set<keyof FlagBase>([
  "key",
  "type",
  "enabled",
  "description",
]);

/** Why a field of other types does not apply. Follows the field's name in a sentence. */
export const otherTypesOnly = (type: string, field: string): string => {
  const types = typesWith(field);
  const which = types.length === 0 ? "known types" : `type ${types.join(", ")}`;
  return `applies to flags of ${which} only; ${typeOf(type).refusal}`;
};

/** `null` removes an optional field, and so does an empty list where a list is allowed. */
const isNone = ({ isOptional, isValid }: Member<unknown>, value: unknown): boolean =>
  isOptional === true &&
  (value === null || (Array.isArray(value) && value.length === 0 && isValid(value)));

const isOther = (before: Flag | undefined, field: string, value: unknown): boolean =>
  before !== undefined && (before as unknown as Members)[field] !== value;

/** Checks each field by itself. An existing description may stay as it is. */
const checkMembers = (
  type: string,
  members: Members,
  errors: ValidationErrors,
  before?: Flag,
): void => {
  const { description } = members;
  const isKnown = before !== undefined && description === before.description;
  if (description !== undefined && !isKnown && !isDescription(description)) {
    errors.add("description", `must be ${descriptionRule}`);
  }
  const own = membersOf(type);
  for (const [field, value] of Object.entries(members)) {
    if (common.has(field) || value === undefined) continue;
    const member = own.find(([name]) => name === field)?.[1];
    if (!member) errors.add(field, otherTypesOnly(type, field));
    else if (member.isFixed === true && isOther(before, field, value)) {
      errors.add(field, "is fixed at creation and cannot be changed; create another flag instead");
    } else if (!isNone(member, value) && !member.isValid(value)) {
      errors.add(field, `must be ${member.schema["x-must-be"] ?? "another value"}`);
    }
  }
};

/** The fields of the type: from the patch, or else unchanged. */
const takeMembers = (type: string, given: Members, before: Members): Members => {
  const members: Record<string, unknown> = {};
  for (const [name, member] of membersOf(type)) {
    const value = given[name];
    if (value === undefined) members[name] = before[name] ?? member.initial;
    else members[name] = isNone(member, value) ? undefined : member.normalize(value);
  }
  for (const [name, { onlyWith }] of ownMembersOf(type)) {
    const isGone = onlyWith !== undefined && members[onlyWith] === undefined;
    if (isGone && given[name] === undefined) members[name] = undefined;
  }
  return members;
};

/** Checks required fields, and the fields in relation to each other. */
const checkFlag = (flag: Flag, errors: ValidationErrors): void => {
  const members = flag as unknown as Members;
  for (const [name, { isOptional, onlyWith, schema }] of ownMembersOf(flag.type)) {
    const isThere = members[name] !== undefined;
    const isWanted = onlyWith === undefined ? isOptional !== true : members[onlyWith] !== undefined;
    if (isWanted && !isThere) {
      const why = onlyWith === undefined ? "is required" : `is required with ${onlyWith}`;
      errors.add(name, `${why}: ${schema["x-must-be"] ?? ""}`);
    } else if (isThere && onlyWith !== undefined && !isWanted) {
      errors.add(name, `applies with ${onlyWith} only`);
    }
  }
  if (errors.found.length > 0) return;
  typeOf(flag.type).check?.(flag, errors);
  const { variants } = choiceOf(flag);
  const isVariant = (name: unknown): boolean =>
    typeof name === "string" && Object.hasOwn(variants, name);
  checkTargeting(members, { errors, key: flag.key, isVariant });
  if (errors.found.length === 0 && bytesOf(JSON.stringify(flag)) > maxFlagBytes) {
    errors.add("body", "must result in a flag of at most 128 KiB of JSON");
  }
};

const changed = (
  type: string,
  given: Members,
  before: Flag | undefined,
  rest: Members,
): Changed => {
  const errors = collectErrors();
  const refused = () => ({ ok: false, errors: errors.found }) as const;
  checkMembers(type, given, errors, before);
  if (errors.found.length > 0) return refused();
  const members = takeMembers(type, given, { ...before });
  const flag = arrange({ ...before, ...members, ...rest });
  // Existing fields are kept, even if a newer version wrote them.
  if (Object.keys(given).some((name) => !common.has(name)) || before === undefined) {
    checkFlag(flag, errors);
  }
  return errors.found.length > 0 ? refused() : { ok: true, flag };
};

/** A new flag is off. */
export const newFlag = (request: CreateFlag): Changed => {
  const { key, type, description = null } = request;
  return changed(type, { ...request }, undefined, { key, type, enabled: false, description });
};

/** Unknown fields are kept unchanged. */
export const applyPatch = (flag: Flag, patch: PatchFlag): Changed => {
  const { enabled = flag.enabled, description = flag.description } = patch;
  return changed(flag.type, { ...patch }, flag, { enabled, description });
};
