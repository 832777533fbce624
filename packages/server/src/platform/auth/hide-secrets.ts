// What callers who cannot change webhooks do not see: parts of addresses and answers that may carry a secret.
import { may, type Principal } from "./principal.ts";

export interface HideSecrets {
  /** Of a webhook. */
  url(url: string): string;
  /** Of a receiver. */
  response(text: string | null): string | null;
  /** `before` and `after` of a history entry. */
  state(subject: string, state: unknown): unknown;
}

/** Path and query often carry a token, the origin does not. The ellipsis cannot be part of a URL. */
const originOf = (url: string): string => {
  const parsed = URL.parse(url);
  if (parsed === null) return "…";
  const isAll = parsed.pathname === "/" && parsed.search === "";
  return isAll ? parsed.origin : `${parsed.origin}/…`;
};

const hideNothing: HideSecrets = {
  url: (url) => url,
  response: (text) => text,
  state: (_subject, state) => state,
};

const hideAll: HideSecrets = {
  url: originOf,
  response: () => null,
  state(subject, state) {
    const { url } = (state ?? {}) as { readonly url?: unknown };
    if (subject !== "webhook" || typeof url !== "string") return state;
    return { ...(state as object), url: originOf(url) };
  },
};

export const hideSecretsFrom = (principal: Pick<Principal, "role">): HideSecrets =>
  may(principal, "webhooks.write") ? hideNothing : hideAll;
