// JSON Schemas of flags and of the requests that create and change them, made from the registry.
import type { Schema } from "./flag-type.ts";
import { flagTypeNames, membersOf, typeOf } from "./registry.ts";
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
  description: "Free text for people; `null` when there is none.",
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

const membersSchema = (type: string): Readonly<Record<string, Schema>> =>
  Object.fromEntries(membersOf(type).map(([name, { schema }]) => [name, schema]));
const allMembers: Readonly<Record<string, Schema>> = Object.assign(
  {},
  ...flagTypeNames.map(membersSchema),
);

export const flagSchema: Schema = {
  anyOf: flagTypeNames.map((name) => {
    const properties = {
      key: keySchema,
      type: { type: "string", const: name },
      enabled: enabledSchema,
      ...membersSchema(name),
      description: descriptionSchema,
    };
    return objectSchema(properties, Object.keys(properties));
  }),
};

export const createFlagSchema = objectSchema(
  { key: keySchema, type: flagTypeSchema, description: descriptionSchema, ...allMembers },
  ["key", "type"],
);

const fixed = "is fixed at creation and cannot be changed; create another flag instead";
export const patchFlagSchema: Schema = {
  ...objectSchema({ enabled: enabledSchema, ...allMembers, description: descriptionSchema }, []),
  /** Why these fields are not accepted. */
  "x-refused": { type: fixed, key: fixed },
};
