// The flags that one request evaluates: a snapshot that doesn't change, and why it may be out of date.
import type { FlagValue } from "@halyard/core/evaluate";
import { createClient } from "../client/client.ts";
import type { Client, Evaluator, Snapshot } from "../client/client-options.ts";
import { notReady } from "../details.ts";
import type { ClientError } from "../transport/client-error.ts";
import type { Log } from "../transport/warn.ts";

export interface EdgeFlags extends Evaluator, Pick<Client, "flagMetadata"> {
  /** Why the server didn't confirm these flags; they are the last known ones then, and may be out of date. */
  readonly error: ClientError | undefined;
}

/** Evaluates without a server, so that every request of the runtime can use it. */
export type KnownFlags = Omit<EdgeFlags, "error">;

export const knownFlags = (bootstrap: Snapshot, log: Log | undefined): KnownFlags =>
  createClient({ bootstrap, ...(log !== undefined && { log }) });

/** Evaluates as `known` does; before the first snapshot every evaluation returns its fallback. */
export const edgeFlags = (
  known: KnownFlags | undefined,
  error: ClientError | undefined,
): EdgeFlags => {
  const own = { error: { value: error } };
  if (known !== undefined) return Object.create(known, own) as EdgeFlags;
  const details = (_key: string, _context: unknown, fallback: FlagValue = false) =>
    notReady(fallback, error);
  const nothing = createClient({ overrides: {}, log: false });
  return Object.create(nothing, { ...own, details: { value: details } }) as EdgeFlags;
};
