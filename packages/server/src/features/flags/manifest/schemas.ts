// How the manifest API looks in the API reference: its bodies and answers.
import type { FlagValue } from "@halyard/core/evaluate";
import { createFlagSchema } from "@halyard/core/flags/schemas";
import { Type } from "typebox";
import { headers, manifestAnswers, withBody } from "../../../platform/http/openapi/describe.ts";
import { changeQuery } from "../../../platform/http/openapi/reason.ts";
import { closedObject, flagPath, nullable } from "../../../platform/http/openapi/schemas.ts";
import { type ManifestType, manifestTypes } from "./manifest.ts";

const tags = ["Manifest"];

const { key: keySchema, description: descriptionSchema } = createFlagSchema.properties as Readonly<
  Record<string, object>
>;

const DefaultValue = Type.Unsafe<FlagValue>({
  type: ["boolean", "string", "number", "object"],
  description: "What the flag gives while it is off. Of the type that `type` names.",
  "x-must-be": "a boolean, a string, a number or an object",
});
const members = {
  key: Type.Unsafe<string>({ ...keySchema }),
  type: Type.Unsafe<ManifestType>({
    type: "string",
    enum: manifestTypes,
    description:
      "`boolean` for flags that are on or off; otherwise what the variants are. Numbers are `integer` when all of them are whole. Fixed at creation.",
    "x-must-be": manifestTypes.map((name) => `"${name}"`).join(" or "),
  }),
};
const optionalMembers = {
  name: Type.Optional(
    Type.String({
      description: "Left out, or the same as the key.",
      "x-must-be": "a string",
    }),
  ),
  description: Type.Optional(Type.Unsafe<string | null>({ ...descriptionSchema })),
};
const NewFlag = closedObject({ ...members, ...optionalMembers, defaultValue: DefaultValue });
const Replacement = closedObject({
  ...members,
  ...optionalMembers,
  defaultValue: Type.Optional(DefaultValue),
});

const Flag = closedObject({
  ...members,
  description: nullable<string>("string", "Null when there is none."),
  defaultValue: DefaultValue,
});
const flagExample = {
  key: "button-size",
  type: "string",
  description: "How large buttons are",
  defaultValue: "S",
};
const Answer = closedObject({
  flag: Flag,
  updatedAt: Type.String({ description: "When the flag was changed last. ISO 8601 in UTC." }),
});
const answerExample = { flag: flagExample, updatedAt: "2026-11-14T12:00:00.000Z" };

const written = (description: string) => ({
  description,
  schema: Answer,
  example: answerExample,
  headers: headers.capabilities,
});

const cannot =
  "What a manifest can say and Halyard cannot is 409 with the reason. In a protected environment a change request is made and the answer is 409, because nothing has changed yet.";

export const manifestSchema = {
  tags,
  operationId: "getManifest",
  summary: "Read the manifest",
  description:
    "All flags of the environment, sorted by key, with their types and default values, for `openfeature pull`.",
  response: manifestAnswers({
    200: {
      description: "The manifest.",
      schema: closedObject({ flags: Type.Array(Flag) }),
      example: { flags: [flagExample] },
      headers: headers.capabilities,
    },
  }),
};

export const createSchema = {
  tags,
  operationId: "createManifestFlag",
  summary: "Create a flag of the manifest",
  description: `It is off. A flag that is not boolean has one variant, \`default\`, with the default value. ${cannot}`,
  querystring: changeQuery,
  body: { ...NewFlag, examples: [flagExample] },
  response: manifestAnswers({ 201: written("The flag as it was made.") }, "CONFLICT", ...withBody),
};

export const replaceSchema = {
  tags,
  operationId: "updateManifestFlag",
  summary: "Change a flag of the manifest",
  description: `Replaces the description, and the default value if one is given; a description that is left out is removed. ${cannot}`,
  params: flagPath,
  querystring: changeQuery,
  body: { ...Replacement, examples: [flagExample] },
  response: manifestAnswers(
    { 200: written("The flag as it is now.") },
    "NOT_FOUND",
    "CONFLICT",
    ...withBody,
  ),
};

export const deleteSchema = {
  tags,
  operationId: "deleteManifestFlag",
  summary: "Delete a flag of the manifest",
  description:
    "The flag is deleted, not archived: its history stays, and its key is free. Not while another flag requires it.",
  params: flagPath,
  querystring: changeQuery,
  response: manifestAnswers(
    {
      200: {
        description: "It is gone.",
        schema: closedObject({
          message: Type.String(),
          archivedAt: nullable<string>("string", "Always null: nothing is archived."),
        }),
        example: { message: 'The flag "button-size" was deleted.', archivedAt: null },
        headers: headers.capabilities,
      },
    },
    "NOT_FOUND",
    "CONFLICT",
    ...withBody,
  ),
};
