// Describes a route for the API reference, with its answers: every status, header and example.

import type { FastifyContextConfig, FastifySchema } from "fastify";
import { type TSchema, Type } from "typebox";
import type { Permission } from "../../auth/principal.ts";
import { type ErrorCode, errorCodes } from "../../errors.ts";
import { statusOf } from "../errors/error-reply.ts";
import { closedObject, noQuery } from "./schemas.ts";
import { stringEnum } from "./string-enum.ts";

export const ErrorBody = closedObject(
  {
    error: stringEnum([...errorCodes], { description: "What went wrong, for programs." }),
    message: Type.String({ description: "What went wrong, for humans." }),
    details: Type.Optional(
      Type.Array(closedObject({ field: Type.String(), message: Type.String() }), {
        description: "On VALIDATION_FAILED: each field that is wrong and what would be right.",
      }),
    ),
    current: Type.Optional(
      Type.Unsafe<unknown>({
        anyOf: [{ $ref: "Flag#" }, { $ref: "SegmentSummary#" }],
        description: "On PRECONDITION_FAILED: the flag or segment as it is now.",
      }),
    ),
    preview: Type.Optional(
      Type.Unsafe<unknown>({
        $ref: "Preview#",
        description: "On TOO_MANY_FLIPS: whom the change would hit.",
      }),
    ),
  },
  { $id: "Error" },
);

export const ProtocolErrorBody = closedObject({
  errorDetails: Type.String({ description: "What went wrong, for humans." }),
});

const ManifestErrorBody = closedObject({
  error: closedObject({
    message: Type.String({ description: "What went wrong, for humans." }),
    status: Type.Integer({ description: "The status of the answer." }),
    details: Type.Optional(
      Type.Array(closedObject({ field: Type.String(), message: Type.String() }), {
        description: "Which fields it is about.",
      }),
    ),
  }),
});

type Header = { readonly description: string; readonly schema: TSchema };
type Headers = Readonly<Record<string, Header>>;

const text = (description: string, example: string): Header => ({
  description,
  schema: Type.String({ examples: [example] }),
});

export const headers = {
  segmentTag: { ETag: text("The segment's version.", '"7"') },
  flagTag: { ETag: text("The flag's version.", '"7"') },
  listTag: { ETag: text("The environment's revision.", '"812"') },
  snapshotTag: { ETag: text("Names the revision.", '"812-mb3k2x1"') },
  next: {
    Link: text(
      "The next page, when there is one.",
      '</api/v1/flags?limit=100&cursor=bmV3>; rel="next"',
    ),
  },
  pastRevision: {
    "X-Halyard-Revision": text("With `at` or `revision`: the revision that it is of.", "812"),
  },
  capabilities: {
    "X-Manifest-Capabilities": text("What the key may do with the manifest.", "read,write,delete"),
  },
  answerTag: { ETag: text("Names this answer: the same flags and values.", '"kZ3x1Qd0"') },
  flagd: {
    ETag: text("Names the definition.", '"5d41402abc4b2a76b9719d911017c592"'),
    "Halyard-Flagd-Flags": text(
      "How many flags the definition decides exactly as Halyard does, how many for ASCII texts and canonical versions, and how many it leaves out.",
      "exact=12, ascii=3, left-out=1",
    ),
  },
  repeated: {
    "Idempotency-Replayed": text("`true` when this is the answer to an earlier request.", "true"),
  },
} satisfies Readonly<Record<string, Headers>>;

const requestId: Headers = {
  "X-Request-Id": text("Names this request in the log.", "req-1f"),
};

const retryAfter: Headers = {
  "Retry-After": text("Seconds to wait before the next try.", "1"),
};

const errors: Readonly<
  Record<ErrorCode, { description: string; message: string; headers?: Headers }>
> = {
  VALIDATION_FAILED: {
    description: "The request is not valid; nothing was changed.",
    message: "percentage must be a number from 0 to 100 with at most three decimals.",
  },
  UNAUTHORIZED: {
    description: "No API key, or one that is not valid.",
    message: "This API key is not valid; it may have been revoked.",
    headers: { "WWW-Authenticate": text("How to authenticate.", 'Bearer realm="halyard"') },
  },
  FORBIDDEN: {
    description:
      "The role does not allow this. Where keys, people or environments are changed, SIGN_IN_AGAIN tells a person that they signed in too long ago.",
    message: 'This needs a key with the role admin; the key "web" has the role client.',
  },
  SIGN_IN_AGAIN: {
    description: "The person signed in too long ago for this.",
    message: "You signed in a while ago; prove once more that it is you.",
  },
  NOT_FOUND: {
    description: "It does not exist.",
    message: 'The flag "new-checkout" does not exist.',
  },
  METHOD_NOT_ALLOWED: {
    description: "The path does not support this method.",
    message: "PUT is not allowed here; allowed: GET, HEAD, POST.",
    headers: { Allow: text("The methods that the path supports.", "GET, HEAD, POST") },
  },
  CONFLICT: {
    description:
      "It conflicts with the current state. Where flags and segments are changed, TOO_MANY_FLIPS tells that more would flip than the limit allows, with the preview.",
    message: 'A flag with the key "new-checkout" already exists.',
  },
  APPROVAL_NEEDED: {
    description: "The environment is protected, and this cannot be proposed.",
    message: "The environment is protected: this needs the approval of another person.",
  },
  TOO_MANY_FLIPS: {
    description: "It flips more than the limit allows: `preview` tells whom.",
    message:
      "The change would give another value to 42.1%, more than the limit of 20%; look at the preview, and repeat it with confirmFlips=43 if that is right.",
  },
  PRECONDITION_FAILED: {
    description: "It was changed since; it is returned as it is now.",
    message:
      'The flag "new-checkout" is at version 7, which If-Match does not name; look at it and try again.',
    headers: { ETag: text("The version now, or the digest of a change request.", '"7"') },
  },
  PAYLOAD_TOO_LARGE: {
    description: "The body is larger than 256 KiB.",
    message: "The body is larger than 256 KiB.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    description: "The body is not JSON.",
    message: "The body must be JSON, sent with Content-Type: application/json.",
  },
  RATE_LIMITED: {
    description: "Too many requests.",
    message: "Too many requests with this API key; try again in 12 s.",
    headers: retryAfter,
  },
  INTERNAL: {
    description: "An internal error; the log has it under the request id.",
    message:
      "Something went wrong here, not with your request. The log has more under the request id req-1f.",
  },
  UNAVAILABLE: {
    description: "The store is unavailable, or the server is overloaded or stopping.",
    message: "The store is unavailable; try again.",
    headers: retryAfter,
  },
};

export interface Described {
  readonly description: string;
  readonly schema?: TSchema | { readonly $ref: string };
  readonly example?: unknown;
  /** A body that is not JSON. */
  readonly text?: { readonly type: string; readonly example: string };
  readonly headers?: Headers;
}

const describe = (answer: Described) => ({
  description: answer.description,
  headers: Object.fromEntries(
    Object.entries({ ...requestId, ...answer.headers }).map(([name, { description, schema }]) => [
      name,
      { ...schema, description },
    ]),
  ),
  ...(answer.text && {
    content: {
      [answer.text.type]: {
        schema: Type.String(),
        examples: { example: { value: answer.text.example } },
      },
    },
  }),
  ...(answer.schema
    ? {
        content: {
          "application/json": {
            schema: answer.schema,
            ...(answer.example !== undefined && {
              examples: { example: { value: answer.example } },
            }),
          },
        },
      }
    : !answer.text && { type: "null" }),
});

/** Errors that any authenticated route can respond with. */
const everywhere = [
  "VALIDATION_FAILED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
] as const;
/** Errors that any route with a body can respond with. */
export const withBody = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;

type ErrorResponse = (code: ErrorCode, message: string) => Pick<Described, "schema" | "example">;

const ourError: ErrorResponse = (error, message) => ({
  schema: { $ref: "Error#" },
  example: { error, message },
});
/** The OpenFeature protocol has its own bodies for errors. */
const protocolError: ErrorResponse = (_code, message) => ({
  schema: ProtocolErrorBody,
  example: { errorDetails: message },
});

/** So has the OpenFeature manifest API. */
const manifestError: ErrorResponse = (code, message) => ({
  schema: ManifestErrorBody,
  example: { error: { message, status: statusOf[code] } },
});

const responsesWith =
  (errorResponse: ErrorResponse) =>
  (described: Readonly<Record<number, Described>>, ...codes: readonly ErrorCode[]) => {
    const failures = codes.map((code) => {
      const { message, ...rest } = errors[code];
      return [statusOf[code], describe({ ...rest, ...errorResponse(code, message) })] as const;
    });
    const others = Object.entries(described).map(
      ([status, response]) => [status, describe(response)] as const,
    );
    return { ...Object.fromEntries(failures), ...Object.fromEntries(others) };
  };

/** Of paths that need no key. */
export const openAnswers = responsesWith(ourError);
export const protocolOpenAnswers = responsesWith(protocolError);

export const answers = (
  success: Readonly<Record<number, Described>>,
  ...codes: readonly ErrorCode[]
) => openAnswers(success, ...everywhere, ...codes);

/** Of evaluation paths; their own errors are among those given. */
export const protocolAnswers = (described: Readonly<Record<number, Described>>) =>
  protocolOpenAnswers(described, ...everywhere, ...withBody);

/** Of the manifest API. */
export const manifestAnswers = (
  success: Readonly<Record<number, Described>>,
  ...codes: readonly ErrorCode[]
) => responsesWith(manifestError)(success, ...everywhere, ...codes);

/** A route for callers with this permission; it takes no query unless the schema describes one. */
export const route = (
  permission: Permission,
  schema: FastifySchema,
  config: Pick<FastifyContextConfig, "large"> = {},
) => ({
  config: { permission, ...config },
  schema: { querystring: noQuery, ...schema },
});
