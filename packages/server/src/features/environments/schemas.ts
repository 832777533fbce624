// Environments as requests and answers carry them.

import { type Static, Type } from "typebox";
import { roles } from "../../platform/auth/principal.ts";
import { maxFlipsSchema } from "../../platform/http/openapi/impact-limit.ts";
import { momentRule } from "../../platform/http/openapi/moment.ts";
import { closedObject, nullable } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import {
  environmentNamePattern,
  environmentNameRule,
  labelRule,
  lifetimePattern,
  lifetimeRule,
  maxLabelLength,
} from "./rules.ts";

export const NamePath = Type.Object({
  name: Type.String({ description: "The environment's name." }),
});

const settings = {
  label: Type.Unsafe<string | null>({
    type: ["string", "null"],
    minLength: 1,
    maxLength: maxLabelLength,
    description: "What people call it; `null` for its name.",
    "x-must-be": `${labelRule}, or null`,
  }),
  protected: Type.Boolean({
    description: "Whether changes of its flags and segments need a second person.",
    "x-must-be": "true or false",
  }),
  expiresAt: Type.Unsafe<string | null>({
    ...nullable<string>(
      "string",
      "When it is deleted with everything in it; `null` when it stays.",
    ),
    maxLength: 40,
    "x-must-be": `${momentRule}, or null`,
  }),
  maxFlips: maxFlipsSchema(
    "The limit on flips: a change of its flags and segments that gives another value to more than so many percent is refused unless it is confirmed; `null` for none.",
  ),
};
export const PatchBody = closedObject({
  label: Type.Optional(settings.label),
  protected: Type.Optional(settings.protected),
  expiresAt: Type.Optional(settings.expiresAt),
  maxFlips: Type.Optional(settings.maxFlips),
});
export const CreateBody = closedObject({
  name: Type.String({
    pattern: environmentNamePattern,
    description: `Its name, which stays: ${environmentNameRule}.`,
    "x-must-be": environmentNameRule,
  }),
  ...PatchBody.properties,
  expiresIn: Type.Optional(
    Type.String({
      pattern: lifetimePattern,
      description: `In the place of \`expiresAt\`: after how long, in ${lifetimeRule}.`,
      "x-must-be": lifetimeRule,
      examples: ["7d"],
    }),
  ),
  copyOf: Type.Optional(
    Type.String({
      maxLength: 63,
      description:
        "The name of another environment, whose flags and segments it begins with: with rules and members, without webhooks, keys and history.",
      "x-must-be": "the name of an environment",
    }),
  ),
});
export const DeleteQuery = closedObject({
  flags: Type.Optional(
    stringEnum(["true"], {
      description: "Delete it even if it holds flags.",
      "x-must-be": "true",
    }),
  ),
});

const shownFields = {
  name: Type.String({ description: "Its name." }),
  ...settings,
  createdAt: Type.String({ description: "ISO 8601 in UTC." }),
  flags: Type.Integer({ description: "How many flags it has." }),
  role: stringEnum([...roles], { description: "The role that the caller has in it." }),
};
export const EnvironmentBody = closedObject(shownFields);
export const CreatedBody = closedObject({
  ...shownFields,
  key: closedObject({
    id: Type.String(),
    key: Type.String({ description: "An admin key of the environment. Shown this once." }),
  }),
});

export const ClosedBody = closedObject({
  name: Type.String(),
  state: stringEnum(["deleting"]),
});

export const environmentExample = {
  name: "staging",
  label: "Staging (Europe)",
  protected: false,
  expiresAt: null,
  maxFlips: null,
  createdAt: "2026-11-14T12:00:00.000Z",
  flags: 0,
  role: "owner",
};

export type NamePath = Static<typeof NamePath>;
export type PatchBody = Static<typeof PatchBody>;
export type CreateBody = Static<typeof CreateBody>;
export type DeleteQuery = Static<typeof DeleteQuery>;
