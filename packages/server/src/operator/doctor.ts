// The composition root of `halyard doctor`: inspects store, key and callbacks, and changes nothing.
import { statSync } from "node:fs";
import { join } from "node:path";
import { checkCallbackUrl, checkResolved } from "../features/webhooks/callback-address.ts";
import { lookUpWithin, systemLookUp } from "../features/webhooks/resolve-name.ts";
import type { InspectedServer } from "../platform/database/maintenance/inspect-postgres.ts";
import {
  type InspectedFile,
  inspectSqlite,
} from "../platform/database/maintenance/inspect-sqlite.ts";
import { createSecretCipher } from "../platform/database/secrets/secret-cipher.ts";
import { readSecretKey, secretKeyFile } from "../platform/database/secrets/secret-key-file.ts";
import { hasDatabase } from "../platform/database/sqlite/data-folder.ts";
import { StartupProblem, StoreUnavailable } from "../platform/errors.ts";
import type { Config } from "../process/settings/config.ts";

export type {
  Inspected,
  InspectedKey,
  InspectedWebhook,
} from "../platform/database/maintenance/inspect.ts";
export type { InspectedServer } from "../platform/database/maintenance/inspect-postgres.ts";
export type { InspectedFile } from "../platform/database/maintenance/inspect-sqlite.ts";
export type { SchemaDifference } from "../platform/database/maintenance/schema-differences.ts";

/** The key of webhook secrets: from a setting, a file, both, or none. */
export interface InspectedSecretKey {
  /** Number of keys in HALYARD_SECRET_KEY. */
  readonly given: number;
  readonly path: string | undefined;
  /** Permission bits of the file; undefined when there is none. */
  readonly mode: number | undefined;
  /** Why the file cannot be used. */
  readonly problem: string | undefined;
}

export type InspectedStore =
  | InspectedFile
  | InspectedServer
  | { readonly kind: "absent"; readonly place: string }
  | { readonly kind: "unusable"; readonly message: string };

export interface Inspection {
  readonly store: InspectedStore;
  readonly secretKey: InspectedSecretKey;
}

const inspectSecretKey = ({ database, secretKeys }: Config) => {
  const given = secretKeys.length;
  if (database.kind === "postgres") {
    return {
      keys: secretKeys,
      found: { given, path: undefined, mode: undefined, problem: undefined },
    };
  }
  const path = join(database.folder, secretKeyFile);
  let mode: number | undefined;
  try {
    const bits = statSync(path, { throwIfNoEntry: false })?.mode;
    mode = bits === undefined ? undefined : bits & 0o777;
    const kept = readSecretKey(path);
    return {
      keys: [...secretKeys, ...(kept ? [kept] : [])],
      found: { given, path, mode, problem: undefined },
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { keys: secretKeys, found: { given, path, mode, problem } };
  }
};

/** Creates and migrates nothing. */
export const inspect = async (config: Config): Promise<Inspection> => {
  const { database } = config;
  const { keys, found: secretKey } = inspectSecretKey(config);
  const [newest, ...older] = keys;
  const secrets = newest && createSecretCipher([newest, ...older]);
  try {
    if (database.kind === "embedded") {
      const store = hasDatabase(database.folder)
        ? await inspectSqlite(database.folder, secrets)
        : { kind: "absent" as const, place: database.folder };
      return { store, secretKey };
    }
    const { inspectPostgres } = await import(
      "../platform/database/maintenance/inspect-postgres.ts"
    );
    return { store: await inspectPostgres(database, secrets), secretKey };
  } catch (error) {
    if (error instanceof StartupProblem || error instanceof StoreUnavailable) {
      return { store: { kind: "unusable", message: error.message }, secretKey };
    }
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const message = `the store cannot be inspected (${error.message}): run this as the user that runs the server`;
    return { store: { kind: "unusable", message }, secretKey };
  }
};

const lookUpTimeout = 2_000;

export type CallbackFinding =
  | { readonly kind: "fine" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unresolved"; readonly name: string };

/** Whether the settings allow a callback to this URL. Sends nothing. */
export const inspectCallback = async (
  { callbacks }: Config,
  url: string,
): Promise<CallbackFinding> => {
  const target = checkCallbackUrl(callbacks, url);
  if (!target.ok) return { kind: "refused", reason: target.failure.message };
  const { host } = target.value;
  if (host.kind === "address") return { kind: "fine" };
  const addresses = await lookUpWithin(lookUpTimeout, systemLookUp)(host.name).catch(() => []);
  if (addresses.length === 0) return { kind: "unresolved", name: host.name };
  const resolved = checkResolved(callbacks, target.value, addresses);
  return resolved.ok ? { kind: "fine" } : { kind: "refused", reason: resolved.failure.message };
};
