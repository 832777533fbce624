// Runs a POST once for its Idempotency-Key, and responds with its result.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuthContext } from "../platform/auth/authenticate.ts";
import type { Caller } from "../platform/auth/principal.ts";
import { invalid, ok, type Result } from "../platform/errors.ts";
import { sendFailure } from "../platform/http/errors/error-reply.ts";
import { idempotencyKeyPattern } from "../platform/http/openapi/schemas.ts";
import type { IdempotentRequest, IdempotentResult } from "./idempotency.ts";

/** Fields in a fixed order, so that the same request written differently is the same request. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, canonical(inner)]),
  );
};

const isIdempotencyKey = new RegExp(idempotencyKeyPattern);
const [ivLength, tagLength] = [12, 16];

const idempotencyKeyOf = (
  request: FastifyRequest,
  auth: AuthContext,
): Result<IdempotentRequest | undefined> => {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return ok(undefined);
  const name = Array.isArray(header) ? header.join(", ") : header;
  if (!isIdempotencyKey.test(name)) {
    return invalid("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
  }
  const { keyId } = auth.principal;
  const asked = JSON.stringify([request.method, request.url, canonical(request.body ?? null)]);
  // Kept answers can hold a secret that is shown once. They are sealed with the caller's own key, which is not
  // stored: without it nobody reads them, not even with the whole database and its encryption key in hand.
  const key = new Uint8Array(hkdfSync("sha256", auth.keyText, keyId, `answer:${name}`, 32));
  return ok({
    keyId,
    name,
    // No header can carry a line break: a session and its key never meet each other's answers.
    keptAs: auth.scope === undefined ? name : `${auth.scope}\n${name}`,
    fingerprint: createHash("sha256").update(asked).digest("hex"),
    seal(result) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      const sealed = Buffer.concat([cipher.update(serialize(result)), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
    },
    open(bytes) {
      const text = ivLength + tagLength;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivLength));
      decipher.setAuthTag(bytes.subarray(ivLength, text));
      return deserialize(Buffer.concat([decipher.update(bytes.subarray(text)), decipher.final()]));
    },
  });
};

export const replyIdempotently = async <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (caller: Caller, once: IdempotentRequest | undefined) => Promise<IdempotentResult<T>>,
  send: (value: T) => FastifyReply,
): Promise<FastifyReply> => {
  const once = idempotencyKeyOf(request, request.auth);
  if (!once.ok) return sendFailure(reply, once.failure);
  const { result, repeated } = await work(request.auth.principal, once.value);
  if (repeated) reply.header("idempotency-replayed", "true");
  return result.ok ? send(result.value) : sendFailure(reply, result.failure);
};
