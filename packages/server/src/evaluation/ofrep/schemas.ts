// How the evaluation paths look in the API reference: their bodies, parameters and answers.

import { Type } from "typebox";
import {
  headers,
  ProtocolErrorBody,
  protocolAnswers,
} from "../../platform/http/openapi/describe.ts";
import { closedObject, flagPath } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";

const tags = ["Evaluation"];

const Body = Type.Object(
  {
    context: Type.Object(
      {
        targetingKey: Type.Optional(
          Type.String({
            description:
              "Who it is for. Needed by rollout flags that reach some but not all; the same key always gets the same value.",
          }),
        ),
      },
      { description: "Other attributes are what the rules of flags ask for." },
    ),
  },
  { examples: [{ context: { targetingKey: "user-123", plan: "premium" } }] },
);

const Key = Type.String({ description: "The flag's key." });
const Details = Type.String({ description: "What went wrong, for humans." });

const Success = closedObject({
  key: Key,
  value: Type.Unsafe<unknown>({
    type: ["boolean", "string", "number", "object"],
    description: "A boolean, or the value of a variant.",
  }),
  reason: stringEnum(["STATIC", "SPLIT", "TARGETING_MATCH"], {
    description:
      "`STATIC`: the same for everyone; `SPLIT`: by the bucket of the targeting key; `TARGETING_MATCH`: by the rules.",
  }),
  variant: Type.String({ description: "`on` or `off`, or the name of a variant." }),
  metadata: Type.Optional(
    closedObject(
      {
        version: Type.Optional(
          Type.String({
            description:
              "Counts the changes of the flag, as in its history. Only when HALYARD_OFREP_METADATA is on.",
          }),
        ),
        flagSetId: Type.Optional(
          Type.String({
            description: "The environment. Only when HALYARD_OFREP_METADATA is on.",
          }),
        ),
        reason: Type.Optional(
          stringEnum(["DISABLED", "PREREQUISITE_FAILED", "DEFAULT"], {
            description:
              "What the protocol has no reason for: the flag is off, what it requires is not met, or no rule has decided. Some providers use the program's default for `DISABLED`, so the `reason` itself is `STATIC`.",
          }),
        ),
        rule: Type.Optional(
          Type.String({
            description: "The id of the rule that decided. Not for keys of the role `client`.",
          }),
        ),
      },
      { description: "Only when there is something to say." },
    ),
  ),
});
const failure = (...codes: string[]) =>
  closedObject({ key: Key, errorCode: stringEnum(codes), errorDetails: Details });

const success = { key: "new-checkout", value: true, reason: "SPLIT", variant: "on" };
const missing = {
  key: "new-checkout",
  errorCode: "TARGETING_KEY_MISSING",
  errorDetails: "The flag needs a targetingKey.",
};
const invalid = {
  errorCode: "INVALID_CONTEXT",
  errorDetails: "The targetingKey of the context must be a string.",
};

export const singleSchema = {
  tags,
  operationId: "evaluateFlag",
  summary: "Evaluate one flag",
  description:
    "The value of one flag for the context. From memory, and counted in the flag's usage.",
  params: flagPath,
  body: Body,
  response: protocolAnswers({
    200: { description: "The value.", schema: Success, example: success },
    400: {
      description: "The body cannot be used, or the flag needs a targetingKey.",
      schema: Type.Union([
        failure("PARSE_ERROR", "INVALID_CONTEXT", "TARGETING_KEY_MISSING", "GENERAL"),
        ProtocolErrorBody,
      ]),
      example: missing,
    },
    404: {
      description: "There is no such flag.",
      schema: failure("FLAG_NOT_FOUND"),
      example: {
        key: "new-checkout",
        errorCode: "FLAG_NOT_FOUND",
        errorDetails: 'The flag "new-checkout" does not exist.',
      },
    },
  }),
};

const Bulk = closedObject({
  flags: Type.Array(Type.Union([Success, failure("TARGETING_KEY_MISSING", "GENERAL")]), {
    description: "Every flag of the environment, sorted by key.",
  }),
  metadata: closedObject({ environment: Type.String() }),
  eventStreams: Type.Optional(
    Type.Array(
      closedObject({
        type: Type.Literal("sse"),
        url: Type.String({ description: "For an EventSource. Holds a token: do not log it." }),
        inactivityDelaySec: Type.Integer(),
      }),
      { description: "Notifies clients when to evaluate again." },
    ),
  ),
});

export const bulkSchema = {
  tags,
  operationId: "evaluateFlags",
  summary: "Evaluate all flags",
  description:
    "The values of all flags for the context. From memory, and not counted in their usage.",
  querystring: Type.Object({
    flagConfigEtag: Type.Optional(
      Type.String({
        description: "The `etag` of a refetchEvaluation event: the answer is at least as new.",
      }),
    ),
    flagConfigLastModified: Type.Optional(
      Type.String({
        description:
          "The `lastModified` of a refetchEvaluation event, in seconds since 1970 or as ISO 8601: the answer is at least as new.",
      }),
    ),
  }),
  headers: Type.Object({
    "if-none-match": Type.Optional(
      Type.String({ description: "An ETag from before: 304 when the answer is the same." }),
    ),
  }),
  body: Body,
  response: protocolAnswers({
    200: {
      description: "The values.",
      schema: Bulk,
      example: {
        flags: [success, { ...missing, key: "new-search" }],
        metadata: { environment: "production" },
        eventStreams: [
          {
            type: "sse",
            url: "https://flags.example.com/ofrep/v1/events?token=AQAAAAE",
            inactivityDelaySec: 120,
          },
        ],
      },
      headers: headers.answerTag,
    },
    304: { description: "The answer is the same as before.", headers: headers.answerTag },
    400: {
      description: "The body cannot be used.",
      schema: Type.Union([
        closedObject({
          errorCode: stringEnum(["PARSE_ERROR", "INVALID_CONTEXT"]),
          errorDetails: Details,
        }),
        ProtocolErrorBody,
      ]),
      example: invalid,
    },
  }),
};
