// The server of a client, which has none in tests and with bootstrap alone.
import { type Address, type Server, serverAt } from "../transport/address.ts";
import type { ClientOptions } from "./client-options.ts";

/**
 * Undefined without a server. An address that is given but undefined is a mistake, such as a missing environment variable,
 * and must not turn a program into one that has only its overrides.
 */
export const serverOf = (options: ClientOptions): Server | undefined => {
  const isLocal = options.overrides !== undefined || options.bootstrap !== undefined;
  return isLocal && !("url" in options) && !("key" in options)
    ? undefined
    : serverAt(options as Address);
};

/** In a program that has a server, a flag that is missing must never throw. */
export const isStrict = (strict: boolean | undefined, server: Server | undefined): boolean => {
  if (strict !== true) return false;
  if (server === undefined) return true;
  throw new TypeError("strict is for tests without a server: leave out url and key");
};
