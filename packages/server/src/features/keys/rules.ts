// Rules for API keys: their names, origins, lifetimes and texts.

import type { NewApiKey } from "../../platform/auth/api-key.ts";
import { lesserRole, type Role } from "../../platform/auth/principal.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { checkMaxFlips } from "../../writes/impact-limit.ts";

export const maxOrigins = 20;

export const originRule = "the origin of a page such as https://app.example.com, without a path";

/** As a browser writes it in the header Origin; undefined when it is none. */
export const readOrigin = (text: string): string | undefined => {
  const url = /^https?:\/\/[^/?#@\s]+\/?$/i.test(text) ? URL.parse(text) : null;
  return url === null || url.hostname.includes("*") ? undefined : url.origin;
};

/** What may be issued: with normalized origins, which only a client key can have. */
export const checkNewKey = (
  {
    name,
    role,
    expiresAt = null,
    origins = null,
    user = null,
    writesDirectly = false,
    maxFlips = null,
  }: NewApiKey,
  now: Date,
): Result<Required<NewApiKey>> => {
  const rest = { name, role, expiresAt, user, writesDirectly, maxFlips };
  const limit = maxFlips === null ? ok(undefined) : checkMaxFlips(maxFlips);
  if (!limit.ok) return limit;
  if (expiresAt !== null && expiresAt <= now) return invalid("expiresAt", "must be in the future");
  if (origins === null) return ok({ ...rest, origins });
  if (role !== "client") {
    return invalid("origins", "is for keys with the role client, which pages use");
  }
  const read = origins.map(readOrigin).filter((origin) => origin !== undefined);
  if (read.length < origins.length) return invalid("origins", `must each be ${originRule}`);
  if (read.length === 0 || read.length > maxOrigins) {
    return invalid("origins", `must be a list of 1 to ${maxOrigins}; leave it out for any page`);
  }
  return ok({ ...rest, origins: [...new Set(read)] });
};

export const maxKeyNameLength = 100;

/** Keys of programs in an environment; so many revoked ones are remembered beside them. */
export const maxKeys = 500;

/** Of one person in an environment. */
export const maxPersonalKeys = 20;

/** Milliseconds: a leap year. */
export const maxPersonalLifetime = 366 * 24 * 60 * 60 * 1_000;

/** What a person may issue for themselves: no more than they may do, and not for ever. */
export const checkPersonalKey = (
  { role, expiresAt = null }: NewApiKey,
  personRole: Role,
  now: Date,
): Result<void> => {
  if (lesserRole(role, personRole) !== role) {
    return invalid("role", `must not be more than your own, which is ${personRole}`);
  }
  return expiresAt !== null && expiresAt.getTime() <= now.getTime() + maxPersonalLifetime
    ? ok(undefined)
    : invalid("expiresAt", "must be within a year");
};

/** `hal_<id>_<secret>`: the id names the key for people and logs, the secret of 256 random bits authenticates it. */
export const keyText = (id: string, secret: Uint8Array): string =>
  `hal_${id}_${secret.toBase64({ alphabet: "base64url", omitPadding: true })}`;

export const isBootstrapKey = (text: string): boolean =>
  /^[\x21-\x7e]{20,200}$/.test(text) && !isTrivial(text);

/** Few characters, one piece over and over, or a run such as abcdef: what anybody would try first. */
export const isTrivial = (text: string): boolean => {
  const codes = Array.from(text, (character) => character.charCodeAt(0));
  if (new Set(codes).size < 8) return true;
  const repeats = (length: number): boolean =>
    codes.every((code, at) => at < length || code === codes[at - length]);
  for (let length = 1; length <= codes.length / 2; length += 1) if (repeats(length)) return true;
  const steps = codes.slice(1).map((code, at) => code - (codes[at] ?? 0));
  return [-1, 0, 1].some(
    (step) => steps.filter((each) => each === step).length > 0.75 * steps.length,
  );
};
