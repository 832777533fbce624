// Error code -> status and body: the only such table.
import type { FastifyReply } from "fastify";
import type { ErrorCode, Failure } from "../errors.ts";

export const statusOf: Readonly<Record<ErrorCode, number>> = {
  VALIDATION_FAILED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

export const errorBody = ({ code, message, details, current }: Failure): string =>
  JSON.stringify({
    error: code,
    message,
    ...(details && { details }),
    ...(current && { current: current.body }),
  });

export const jsonType = "application/json; charset=utf-8";

export const sendFailure = (reply: FastifyReply, failure: Failure): FastifyReply => {
  if (failure.code === "UNAUTHORIZED") reply.header("www-authenticate", 'Bearer realm="halyard"');
  if (failure.code === "UNAVAILABLE" && !reply.hasHeader("retry-after")) {
    reply.header("retry-after", "1");
  }
  if (failure.current) reply.header("etag", `"${failure.current.version}"`);
  return reply.code(statusOf[failure.code]).type(jsonType).send(errorBody(failure));
};
