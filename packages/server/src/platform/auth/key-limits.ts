// The limits of an API key as stored.
import type { Tables } from "../database/schema/tables.ts";
import { dateOf } from "../database/schema/times.ts";

/** The origins and the expiry of the key. */
export const keyLimits = ({
  expires_at,
  origins,
}: Pick<Tables["api_keys"], "expires_at" | "origins">) => ({
  expiresAt: dateOf(expires_at),
  origins: origins === null ? null : (JSON.parse(origins) as string[]),
});
