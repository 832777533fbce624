// JSON Schemas of flags and of requests that create and change them, built from the registry.
import type { Schema } from "./flag-type.ts";
import { flagTypeNames, ownMembersOf, targetingMembersOf, typeOf } from "./registry.ts";
import { descriptionRule, flagKeyPattern, flagKeyRule, maxDescriptionLength } from "./rules.ts";

const keySchema: Schema = {
  type: "string",
  pattern: flagKeyPattern,
  description: "Identifier of the flag within the environment. Case-sensitive.",
  "x-must-be": flagKeyRule,
};

const summaries = flagTypeNames.map((name) => `\`${name}\` ${typeOf(name).summary}`).join(", ");
export const flagTypeSchema: Schema = {
  type: "string",
  enum: flagTypeNames,
  description: `${summaries}. Fixed at creation.`,
  "x-must-be": flagTypeNames.map((name) => `"${name}"`).join(" or "),
};

const enabledSchema: Schema = {
  type: "boolean",
  description: "Whether the flag is on.",
  "x-must-be": "true or false",
};

const descriptionSchema: Schema = {
  type: ["string", "null"],
  maxLength: maxDescriptionLength,
  description: "Free text; `null` if there is none.",
  "x-must-be": descriptionRule,
};

const objectSchema = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): Schema => ({
  type: "object",
  ...(required.length > 0 && { required }),
  properties,
  additionalProperties: false,
});

type Schemas = Readonly<Record<string, Schema>>;
type Entries = ReturnType<typeof ownMembersOf>;
const schemasOf = (members: Entries): Schemas =>
  Object.fromEntries(members.map(([name, { schema }]) => [name, schema]));

/** The fields of all types in one list. Which fields belong to which type is checked with the flag. */
const allMembers: Schemas = Object.assign({}, ...flagTypeNames.map(ownMembersOf).map(schemasOf));
const targeting: Schemas = schemasOf(targetingMembersOf(flagTypeNames[0] ?? ""));

const flagSchemaOf = (name: string): Schema => {
  const own = ownMembersOf(name);
  const properties = {
    key: keySchema,
    type: { type: "string", const: name },
    enabled: enabledSchema,
    ...schemasOf(own),
    description: descriptionSchema,
    ...targeting,
  };
  const always = own.filter(([, { isOptional }]) => isOptional !== true).map(([each]) => each);
  return objectSchema(properties, ["key", "type", "enabled", ...always, "description"]);
};

/** A flag, by type. */
export const flagSchemas: Schemas = Object.fromEntries(
  flagTypeNames.map((name) => [name, flagSchemaOf(name)]),
);

export const createFlagSchema = objectSchema(
  {
    key: keySchema,
    type: flagTypeSchema,
    description: descriptionSchema,
    ...allMembers,
    ...targeting,
  },
  ["key", "type"],
);

const fixed = "is fixed at creation and cannot be changed; create another flag instead";
export const patchFlagSchema: Schema = {
  ...objectSchema(
    { enabled: enabledSchema, ...allMembers, description: descriptionSchema, ...targeting },
    [],
  ),
  /** Why the server rejects these fields. */
  "x-refused": { type: fixed, key: fixed },
};
