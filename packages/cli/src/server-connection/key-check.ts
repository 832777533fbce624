// Finds the role and the environment of a key.
import type { Role } from "@halyard/sdk";
import { type Connection, failureOf } from "./connection.ts";
import { followChanges } from "./follow-changes.ts";

export interface CheckedKey {
  readonly role: Role;
  /** Undefined for the role client, which may not know it. */
  readonly environment: string | undefined;
}

const timeout = 10_000;

/** Fails when the server is unavailable or the key is not valid. */
export const checkKey = async (connection: Connection): Promise<CheckedKey> => {
  const { keys, flags } = connection.management;
  const listed = await keys.list();
  if (listed.ok) return { role: "admin", environment: await environmentOf(connection) };
  if (listed.error.code !== "FORBIDDEN") throw failureOf(connection, listed.error);
  const read = await flags.list({ limit: 1 });
  if (read.ok) return { role: "server", environment: await environmentOf(connection) };
  if (read.error.code !== "FORBIDDEN") throw failureOf(connection, read.error);
  return { role: "client", environment: undefined };
};

/** The stream's snapshot names it. */
const environmentOf = async (connection: Connection): Promise<string | undefined> => {
  const enough = new AbortController();
  let name: string | undefined;
  const reader = {
    onSnapshot: ({ environment }: { readonly environment: string }) => {
      name = environment;
      enough.abort();
    },
    onChange: () => undefined,
    onLost: () => enough.abort(),
    onBack: () => undefined,
  };
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(timeout)]);
  await followChanges(connection, reader, signal).catch(() => undefined);
  return name;
};
