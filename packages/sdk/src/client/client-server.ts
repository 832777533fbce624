// The server of a client. Clients for tests, and those with a bootstrap alone, have none.
import { type Address, type Server, serverAt } from "../transport/address.ts";
import type { ClientOptions } from "./client-options.ts";

/**
 * Undefined without a server. Rejects a `url` or `key` that is set to undefined, such as by a missing environment variable:
 * the program would silently run on its overrides alone.
 */
export const serverOf = (options: ClientOptions): Server | undefined => {
  const isLocal = options.overrides !== undefined || options.bootstrap !== undefined;
  return isLocal && !("url" in options) && !("key" in options)
    ? undefined
    : serverAt(options as Address);
};

/** Rejects `strict` with a server: in production, a missing flag must not throw. */
export const isStrict = (strict: boolean | undefined, server: Server | undefined): boolean => {
  if (strict !== true) return false;
  if (server === undefined) return true;
  throw new TypeError("strict is for tests without a server: leave out url and key");
};
