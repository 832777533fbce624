// Carries a POST out once for its Idempotency-Key, and answers what came of it.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { IdempotentRequest, IdempotentResult } from "../../management/idempotency.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";

export const replyIdempotently = async <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (once: IdempotentRequest | undefined) => Promise<IdempotentResult<T>>,
  send: (value: T) => FastifyReply,
): Promise<FastifyReply> => {
  const once = idempotencyKeyOf(request, request.auth);
  if (!once.ok) return sendFailure(reply, once.failure);
  const { result, repeated } = await work(once.value);
  if (repeated) reply.header("idempotency-replayed", "true");
  return result.ok ? send(result.value) : sendFailure(reply, result.failure);
};
