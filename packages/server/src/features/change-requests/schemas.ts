// Change requests as the API shows them.

import { type Static, Type } from "typebox";
import type { Described } from "../../platform/http/openapi/describe.ts";
import { requestExample, requestReference } from "../../platform/http/openapi/proposed.ts";
import { Actor, closedObject, nullable } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { maxCommentLength, requestStates } from "./change-request.ts";
import { operationFields } from "./operation-bodies.ts";

export const tags = ["Change requests"];

export const requestPath = Type.Object({
  id: Type.String({ description: "The id of the change request, `cr_<id>`." }),
});
export type RequestPath = Static<typeof requestPath>;

const time = (description: string) => Type.String({ description });
const Bypass = Type.Unsafe<object | null>({
  anyOf: [closedObject({ actor: Actor, reason: Type.String() }), { type: "null" }],
  description: "The owner who applied it without an approval, and why; null when none did.",
});

const shortOperation = {
  ...operationFields,
  version: nullable<number>(
    "integer",
    "The version that it was made for; null for what did not exist then, or has no versions.",
  ),
};

const summaryFields = {
  id: Type.String({ description: "Of the form `cr_<id>`." }),
  environment: Type.String(),
  state: stringEnum([...requestStates], {
    description: "`approved` waits for its time; `applied`, `refused` and `withdrawn` are final.",
  }),
  title: Type.String({ description: "What it does, in a few words." }),
  reason: nullable<string>("string", "Why, when its author said so."),
  author: Actor,
  authors: Type.Array(Type.String(), {
    description:
      "The ids of the people and keys whose request it is: none of them can approve it. The person who issued a key is among them.",
  }),
  createdAt: time("ISO 8601 in UTC."),
  updatedAt: time("When it was last edited, approved or closed."),
  applyAt: nullable<string>("string", "When it is applied once it is approved; null for at once."),
  appliedAt: nullable<string>("string", "When it was applied."),
  appliedRevision: nullable<number>("integer", "The environment's revision after it."),
  closedBy: Type.Unsafe<object | null>({
    anyOf: [Actor, { type: "null" }],
    description: "Who refused, withdrew or applied it.",
  }),
  bypass: Bypass,
  moved: Type.Array(Type.String(), {
    description: "The keys of what has changed since it was made: it cannot be applied then.",
  }),
};

export const RequestSummary = closedObject({
  ...summaryFields,
  operations: Type.Array(closedObject(shortOperation)),
});

export const RequestSchema = closedObject(
  {
    ...summaryFields,
    operations: Type.Array(
      closedObject({
        ...shortOperation,
        body: nullable<object>("object", "As of the request that would do it directly."),
        before: nullable<object>("object", "As it was when the request was made."),
        after: nullable<object>(
          "object",
          "As it would be. Both are null when the operations and their previews have more than 1 MiB.",
        ),
      }),
    ),
    digest: Type.String({
      description:
        "Of its operations, reason and time: sent as `If-Match` with an approval, only what was seen is approved.",
    }),
    approvals: Type.Array(
      closedObject({
        actor: Actor,
        at: time("ISO 8601 in UTC."),
        state: stringEnum(["given", "voided"], {
          description:
            "`voided` once the request was edited or rebased, or could not be applied at its time, or while it was open its approver lost the right to review.",
        }),
      }),
    ),
    approvalsNeeded: Type.Integer({
      description:
        "How many approvals it needs, unless an owner approves: 1, or 2 when a key that belongs to no person proposed it.",
    }),
    comments: Type.Array(
      closedObject({
        id: Type.Integer(),
        actor: Actor,
        at: time("ISO 8601 in UTC."),
        text: Type.String(),
      }),
    ),
  },
  { $id: "ChangeRequest" },
);

export const shownRequest: Described = {
  description: "The change request.",
  schema: requestReference,
  example: requestExample,
};

/** Line breaks are part of a text, other control characters are not. */
export const CommentText = Type.String({
  pattern: String.raw`^\s*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$`,
  maxLength: maxCommentLength,
  description: `1 to ${maxCommentLength} characters.`,
  "x-must-be": `a text of 1 to ${maxCommentLength} characters, without control characters`,
});
