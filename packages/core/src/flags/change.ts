// A new flag from a request, and a flag with a patch applied; or the field that is wrong.
import type { FlagBase } from "./flag-type.ts";
import {
  type CreateFlag,
  type Flag,
  type FlagMembers,
  membersOf,
  type PatchFlag,
  typeOf,
  typesWith,
} from "./registry.ts";
import { descriptionRule, isDescription } from "./rules.ts";

export interface WrongMember {
  readonly field: string;
  /** Follows the field in a sentence. */
  readonly message: string;
}

export type Changed =
  | { readonly ok: true; readonly flag: Flag }
  | { readonly ok: false; readonly wrong: WrongMember };

type Members = Readonly<Record<string, unknown>>;

const common: ReadonlySet<string> = new Set<keyof FlagBase>([
  "key",
  "type",
  "enabled",
  "description",
]);

/** Why a member of other types does not apply; follows its name in a sentence. */
export const otherTypesOnly = (type: string, field: string): string =>
  `applies to flags of type ${typesWith(field).join(", ")} only; ${typeOf(type).refusal}`;

/** The first member that the type does not have or whose value is wrong; a description that is there already may stay. */
const wrongMember = (
  type: string,
  members: Members,
  known: string | null = null,
): WrongMember | undefined => {
  const { description } = members;
  if (description !== undefined && description !== known && !isDescription(description)) {
    return { field: "description", message: `must be ${descriptionRule}` };
  }
  const own = new Map(membersOf(type));
  for (const [field, value] of Object.entries(members)) {
    if (common.has(field) || value === undefined) continue;
    const member = own.get(field);
    if (!member) return { field, message: otherTypesOnly(type, field) };
    if (!member.isValid(value)) {
      return { field, message: `must be ${member.schema["x-must-be"] ?? "another value"}` };
    }
  }
  return undefined;
};

/** The type's members: as given, or else as `otherwise` says. */
const takeMembers = (
  type: string,
  given: Members,
  otherwise: (name: string, initial: unknown) => unknown,
): FlagMembers =>
  Object.fromEntries(
    membersOf(type).map(([name, { initial, normalize }]) => {
      const value = given[name];
      return [name, value === undefined ? otherwise(name, initial) : normalize(value)];
    }),
  );

/** A new flag is off. */
export const newFlag = (request: CreateFlag): Changed => {
  const { key, type, description = null } = request;
  const given = { ...request } as Members;
  const wrong = wrongMember(type, given);
  if (wrong) return { ok: false, wrong };
  const members = takeMembers(type, given, (_name, initial) => initial);
  return { ok: true, flag: { key, type, enabled: false, ...members, description } as Flag };
};

/** Members that this version does not know stay as they are. */
export const applyPatch = (flag: Flag, patch: PatchFlag): Changed => {
  const given = { ...patch } as Members;
  const wrong = wrongMember(flag.type, given, flag.description);
  if (wrong) return { ok: false, wrong };
  const current = { ...flag } as Members;
  const members = takeMembers(flag.type, given, (name) => current[name]);
  return {
    ok: true,
    flag: {
      ...flag,
      enabled: patch.enabled ?? flag.enabled,
      ...members,
      description: patch.description === undefined ? flag.description : patch.description,
    } as Flag,
  };
};
