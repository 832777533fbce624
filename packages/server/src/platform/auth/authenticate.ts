// Key in the request -> Principal, or the answer that refuses it.
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import { type Failure, fail, ok, type Result } from "../errors.ts";
import { keyExpired, keyRefused } from "../http/errors/error-reply.ts";
import type { ApiKeyCache } from "./key-cache.ts";
import type { KeyEntry } from "./key-table.ts";
import { isForPeople, leastRole, may, type Permission, type Principal } from "./principal.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Session } from "./sessions.ts";

/** Who asks, with the text of the key: answers that are kept are sealed with it. */
export interface AuthContext {
  readonly principal: Principal;
  readonly keyText: string;
  /** Of a session: its kept answers are told apart from those of the key itself. */
  readonly scope?: string;
  /** With which session of the dashboard; undefined for a key. */
  readonly session?: Session;
  /** Of a session: whether it is not over yet, for what lasts longer than a request. */
  readonly isOpen?: () => Promise<boolean>;
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

export type Authenticated =
  | { readonly ok: true; readonly value: AuthContext }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** Seconds, when too many have failed. */
      readonly wait?: number;
      /** Whose key it was, when it was valid. */
      readonly principal?: Principal;
    };

/** At once for a key that was good before, so that such a request waits for nothing. */
export type Authenticate = (
  request: FastifyRequest,
  needed: Permission,
) => Authenticated | Promise<Authenticated>;

const forbidden = (principal: Principal, message: string): Authenticated => ({
  ok: false,
  failure: { code: "FORBIDDEN", message },
  principal,
});

export const allow = (auth: AuthContext, needed: Permission): Authenticated => {
  const { principal } = auth;
  if (isForPeople(needed) && (auth.session?.userId ?? null) === null) {
    return forbidden(
      principal,
      "This is for people who are signed in to the dashboard as themselves, and not for keys.",
    );
  }
  return may(principal, needed)
    ? ok(auth)
    : forbidden(
        principal,
        principal.actor.keyId === null
          ? `This needs the role ${leastRole(needed)}; you have the role ${principal.role} in the environment "${principal.environment.name}".`
          : `This needs a key with the role ${leastRole(needed)}; the key "${principal.actor.name}" has the role ${principal.role}.`,
      );
};

/** Whether a page of this origin may use the key. What is not a page sends no origin, and may not when there is a list. */
export const isFromAllowedPage = (
  { origins }: Pick<Principal, "origins">,
  { origin }: IncomingHttpHeaders,
): boolean => origins === null || (origin !== undefined && origins.includes(origin));

/** Whose address costs something to find out, and is asked for only when a key is not known. */
type Client = Pick<FastifyRequest, "ip" | "headers">;

export interface KeyCheck {
  readonly authenticate: Authenticate;
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
    const entry = await keyCache.find(text);
    if (entry?.isValid) return admit(entry, text, client, needed);
    return refuse(client.ip, fail(entry ? keyExpired(entry.principal.expiresAt) : keyRefused));
  };

  const admit = (
    { principal }: Readonly<KeyEntry>,
    text: string,
    { headers }: Client,
    needed: Permission,
  ): Authenticated =>
    isFromAllowedPage(principal, headers)
      ? allow({ principal, keyText: text }, needed)
      : forbidden(
          principal,
          `The key "${principal.actor.name}" is for pages of certain origins, and ${headers.origin ?? "a client that sends no Origin"} is not one of them.`,
        );

  const check: KeyCheck["check"] = (text, client, needed) => {
    const known = keyCache.known(text);
    return known ? admit(known, text, client, needed) : look(text, client, needed);
  };

  return {
    check,
    authenticate(request, needed) {
      const presented = presentedKey(request.headers);
      return presented.ok ? check(presented.value, request, needed) : refuse(request.ip, presented);
    },
  };
};
