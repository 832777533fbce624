// The flags that one request evaluates: a snapshot that doesn't change, and why it may be out of date.
import type { FlagValue } from "@halyard/core/evaluate";
import { createClient } from "../client/client.ts";
import type { Client, Evaluator, Snapshot } from "../client/client-options.ts";
import { notReady } from "../details.ts";
import type { AnyFlags } from "../flag-types.ts";
import type { ClientError } from "../transport/client-error.ts";
import type { Log } from "../transport/warn.ts";

export interface EdgeFlags<Flags = AnyFlags>
  extends Evaluator<Flags>,
    Pick<Client<Flags>, "flagMetadata"> {
  /** Why the server didn't confirm these flags; they are the last known ones then, and may be out of date. */
  readonly error: ClientError | undefined;
}

/** A client without a server, so that every request of the runtime can use it. */
export const knownFlags = (bootstrap: Snapshot, log: Log | undefined): Client =>
  createClient({ bootstrap, ...(log !== undefined && { log }) });

/** Evaluates as `known` does; before the first snapshot every evaluation returns its fallback. */
export const edgeFlags = (known: Client | undefined, error: ClientError | undefined): EdgeFlags => {
  if (known !== undefined) return { ...known, error };
  const details = (_key: string, _context?: unknown, fallback: FlagValue = false) =>
    notReady(fallback, error);
  const nothing = createClient({ overrides: {}, log: false });
  return { ...nothing, details: details as EdgeFlags["details"], error };
};
