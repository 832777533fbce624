// Key in the request -> Principal, or the answer that refuses it.
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { KeyEntry } from "../../access/key-table.ts";
import { leastRole, may, type Permission, type Principal } from "../../domain/principal.ts";
import { type Failure, fail, ok, type Result } from "../../errors.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Who asks, with the text of the key: answers that are kept are sealed with it. */
export interface AuthContext {
  readonly principal: Principal;
  readonly keyText: string;
  /** Of a session: its kept answers are told apart from those of the key itself. */
  readonly scope?: string;
  /** Of a session: the milliseconds that are left of it. */
  readonly endsIn?: number;
}

const unauthorized = (message: string): Result<never> => fail({ code: "UNAUTHORIZED", message });

const hint = "send it as Authorization: Bearer <API_KEY> or as X-API-Key: <API_KEY>";

const presentedKey = ({
  authorization,
  "x-api-key": header,
}: IncomingHttpHeaders): Result<string> => {
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

export type Authenticated = Result<AuthContext> | { ok: false; failure: Failure; wait: number };

/** At once for a key that was good before, so that such a request waits for nothing. */
export type Authenticate = (
  request: FastifyRequest,
  needed: Permission,
) => Authenticated | Promise<Authenticated>;

const refusal = "This API key is not valid; it may have been revoked.";

export const allow = (auth: AuthContext, needed: Permission): Result<AuthContext> => {
  const { role, actor } = auth.principal;
  return may(auth.principal, needed)
    ? ok(auth)
    : fail({
        code: "FORBIDDEN",
        message: `This needs a key with the role ${leastRole(needed)}; the key "${actor.name}" has the role ${role}.`,
      });
};

/** Whose address costs something to find out, and is asked for only when a key is not known. */
type Client = Pick<FastifyRequest, "ip">;

export interface KeyCheck {
  readonly authenticate: Authenticate;
  /** The key in these headers when it was valid before and may do this; otherwise `authenticate` has to look closer. */
  known(headers: IncomingHttpHeaders, needed: Permission): Readonly<KeyEntry> | undefined;
  /** The same for a key that came in another way than in a header. */
  check(text: string, client: Client, needed: Permission): Authenticated | Promise<Authenticated>;
}

export const createKeyCheck = (keyCache: ApiKeyCache, failures: RateLimit): KeyCheck => {
  const refuse = (address: string, refused: Result<never>): Authenticated => {
    const wait = failures.waiting(address);
    if (wait === undefined) {
      failures.take(address);
      return refused;
    }
    return {
      ok: false,
      wait,
      failure: {
        code: "RATE_LIMITED",
        message: `Too many failed authentications from this address; try again in ${wait} s.`,
      },
    };
  };

  // Whatever has failed at this address, the key is looked up first: a neighbour's failures do not lock out a good key.
  const look = async (text: string, client: Client, needed: Permission): Promise<Authenticated> => {
    const principal = await keyCache.principal(text);
    return principal
      ? allow({ principal, keyText: text }, needed)
      : refuse(client.ip, unauthorized(refusal));
  };

  const check: KeyCheck["check"] = (text, client, needed) => {
    const known = keyCache.known(text)?.principal;
    return known ? allow({ principal: known, keyText: text }, needed) : look(text, client, needed);
  };

  return {
    check,
    known(headers, needed) {
      const presented = presentedKey(headers);
      const entry = presented.ok ? keyCache.known(presented.value) : undefined;
      return entry && may(entry.principal, needed) ? entry : undefined;
    },
    authenticate(request, needed) {
      const presented = presentedKey(request.headers);
      return presented.ok ? check(presented.value, request, needed) : refuse(request.ip, presented);
    },
  };
};
