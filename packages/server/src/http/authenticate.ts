// Key in the request -> Principal, or the answer that refuses it.
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { mayActAs, type Principal, type Role } from "../domain/principal.ts";
import { type Failure, fail, ok, type Result } from "../errors.ts";
import type { ApiKeys } from "../management/api-keys.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Who asks, with the text of the key: answers that are kept are sealed with it. */
export interface Caller {
  readonly principal: Principal;
  readonly keyText: string;
}

const unauthorized = (message: string): Result<never> => fail({ code: "UNAUTHORIZED", message });

const hint = "send it as Authorization: Bearer <API_KEY> or as X-API-Key: <API_KEY>";

const presentedKey = (request: FastifyRequest): Result<string> => {
  const { authorization } = request.headers;
  const header = request.headers["x-api-key"];
  const plain = Array.isArray(header) ? header.join(", ") : header;
  const bearer =
    authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) {
    return unauthorized(`The Authorization header is not a Bearer key; ${hint}.`);
  }
  if (bearer !== undefined && plain !== undefined && bearer !== plain) {
    return unauthorized("Authorization and X-API-Key carry different keys; send one of them.");
  }
  const key = bearer ?? plain;
  return key === undefined || key === ""
    ? unauthorized(`This request needs an API key; ${hint}.`)
    : ok(key);
};

export type Authenticate = (
  request: FastifyRequest,
  needed: Role,
) => Promise<Result<Caller> | { ok: false; failure: Failure; wait: number }>;

const maxKnown = 10_000;

export const createAuthenticate = (keys: ApiKeys, failures: RateLimit): Authenticate => {
  /** Hashes of keys that were good before: a neighbour's failures behind one address do not lock them out. */
  const knownGood = new Set<string>();

  return async (request, needed) => {
    const presented = presentedKey(request);
    const hash = presented.ok ? createHash("sha256").update(presented.value).digest("base64") : "";
    const wait = knownGood.has(hash) ? undefined : failures.waiting(request.ip);
    if (wait !== undefined) {
      return {
        ok: false,
        wait,
        failure: {
          code: "RATE_LIMITED",
          message: `Too many failed authentications from this address; try again in ${wait} s.`,
        },
      };
    }
    const refused = presented.ok
      ? unauthorized("This API key is not valid; it may have been revoked.")
      : presented;
    const principal = presented.ok ? await keys.principal(presented.value) : undefined;
    if (!principal || !presented.ok) {
      knownGood.delete(hash);
      failures.take(request.ip);
      return refused;
    }
    if (knownGood.size < maxKnown) knownGood.add(hash);
    if (!mayActAs(principal.role, needed)) {
      return fail({
        code: "FORBIDDEN",
        message: `This needs a key with the role ${needed}; the key "${principal.keyName}" has the role ${principal.role}.`,
      });
    }
    return ok({ principal, keyText: presented.value });
  };
};
