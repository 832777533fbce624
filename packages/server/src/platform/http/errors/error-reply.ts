// Error code -> status and body: the only such table.
import type { FastifyReply } from "fastify";
import type { ErrorCode, Failure } from "../../errors.ts";
import { allowPages, isOpenToPages } from "../request/cors.ts";

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  VALIDATION_FAILED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  SIGN_IN_AGAIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  APPROVAL_NEEDED: 409,
  TOO_MANY_FLIPS: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

export const errorBody = ({ code, message, details, current, preview }: Failure): string =>
  JSON.stringify({
    error: code,
    message,
    ...(details && { details }),
    ...(current && { current: current.body }),
    ...(preview && { preview }),
  });

/** An evaluation in the OpenFeature protocol, of one flag when its key follows. */
const evaluation = /^\/ofrep\/v1\/evaluate\/flags(?:\/([^?]*))?(?:\?|$)/;

/** The body of the OpenFeature protocol for what its own error codes do not cover. */
export const protocolErrorBody = ({ code, message }: Failure, url = ""): string => {
  const evaluated = code === "VALIDATION_FAILED" ? evaluation.exec(url) : null;
  return JSON.stringify({
    // A request that cannot be read is told with a code, and with the key as it came.
    ...(evaluated && { key: evaluated[1], errorCode: "PARSE_ERROR" }),
    errorDetails: message,
  });
};

const isManifest = (url: string): boolean => url.startsWith("/openfeature/");

/** The body of the OpenFeature manifest API. */
const manifestErrorBody = ({ code, message, details }: Failure): string =>
  JSON.stringify({ error: { message, status: statusOf[code], ...(details && { details }) } });

const bodyOf = (failure: Failure, url: string): string => {
  if (url.startsWith("/ofrep/")) return protocolErrorBody(failure, url);
  return isManifest(url) ? manifestErrorBody(failure) : errorBody(failure);
};

export const keyRefused: Failure = {
  code: "UNAUTHORIZED",
  message: "This API key is not valid; it may have been revoked.",
};
export const keyExpired = (expiresAt: Date | null): Failure => ({
  code: "UNAUTHORIZED",
  message: `This API key expired at ${expiresAt?.toISOString()}; create another one.`,
});
export const authenticateHeader = 'Bearer realm="halyard"';

export const jsonType = "application/json; charset=utf-8";

/** Nothing was changed, but what was asked for is on its way. */
const sendProposed = (
  reply: FastifyReply,
  { path, body }: NonNullable<Failure["proposed"]>,
): FastifyReply =>
  reply.code(202).header("location", `/api/v1${path}`).type(jsonType).send(JSON.stringify(body));

export const sendFailure = (reply: FastifyReply, failure: Failure): FastifyReply => {
  const { url } = reply.request;
  // Clients of the manifest API would take any success for a change that was made.
  if (failure.proposed && !isManifest(url)) return sendProposed(reply, failure.proposed);
  if (failure.retryAfter !== undefined) reply.header("retry-after", failure.retryAfter);
  if (failure.code === "UNAUTHORIZED") reply.header("www-authenticate", authenticateHeader);
  if (failure.code === "UNAVAILABLE" && !reply.hasHeader("retry-after")) {
    reply.header("retry-after", "1");
  }
  const tag = failure.current?.version ?? failure.digest;
  if (tag !== undefined) reply.header("etag", `"${tag}"`);
  // A page can only read a refusal that it is allowed to read.
  if (isOpenToPages(url)) allowPages(reply);
  return reply.code(statusOf[failure.code]).type(jsonType).send(bodyOf(failure, url));
};
