// Whatever a request ran into -> one of the closed list of failures.
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { type Failure, SecretKeyMissing, StoreUnavailable } from "../../errors.ts";
import type { Overload } from "../load/overload.ts";
import { sendFailure } from "./error-reply.ts";
import { BadJson } from "./json-body.ts";
import { lingerAfterAnswer } from "./linger.ts";
import { validationFailure } from "./validation.ts";

export const internalError = (requestId: string): Failure => ({
  code: "INTERNAL",
  message: `Something went wrong here, not with your request. The log has more under the request id ${requestId}.`,
});

export const failureOf = (
  error: FastifyError,
  reqId: string,
  log: Pick<FastifyBaseLogger, "error">,
): Failure => {
  if (error.validation) {
    const part = error.validationContext === "querystring" ? "querystring" : "body";
    return validationFailure(error.validation as Parameters<typeof validationFailure>[0], part);
  }
  if (error instanceof BadJson) return { code: "VALIDATION_FAILED", message: error.message };
  if (error instanceof StoreUnavailable) {
    log.error({ reqId, err: error }, "the store cannot be used");
    return { code: "UNAVAILABLE", message: "The store is unavailable; try again." };
  }
  if (error instanceof SecretKeyMissing) {
    log.error({ reqId, err: error }, "the secret key is missing");
    return { code: "UNAVAILABLE", message: error.message };
  }
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return { code: "PAYLOAD_TOO_LARGE", message: "The body is larger than 256 KiB." };
  }
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return {
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: "The body must be JSON, sent with Content-Type: application/json.",
    };
  }
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return { code: "VALIDATION_FAILED", message: `${error.message}.` };
  }
  log.error({ reqId, err: error }, "a request failed");
  return internalError(reqId);
};

export const createErrorHandler =
  (log: Pick<FastifyBaseLogger, "error">, overload: Pick<Overload, "shed">) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error instanceof StoreUnavailable && error.isCrowded) {
      const { failure, retryAfter } = overload.shed("store");
      return sendFailure(reply.header("retry-after", String(retryAfter)), failure);
    }
    const failure = failureOf(error, request.id, log);
    if (failure.code === "PAYLOAD_TOO_LARGE") {
      reply.header("connection", "close");
      lingerAfterAnswer(request.raw);
    }
    return sendFailure(reply, failure);
  };
