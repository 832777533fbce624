// Reads of flags: from memory, once memory is known to hold everything that was committed.

import type { EnvironmentRef } from "../platform/auth/principal.ts";
import { noEnvironment, notFound, ok, type Result } from "../platform/errors.ts";
import type { VersionedFlag } from "../writes/change.ts";

/** The flags of one environment in memory. */
export interface EnvironmentFlags {
  readonly revision: number;
  /** Names the revision uniquely: after a restored backup, the same number has another name. */
  readonly name: string;
  get(key: string): VersionedFlag | undefined;
  /** Sorted by key. */
  all(): readonly VersionedFlag[];
}

export interface FlagMemory {
  readonly get: (environmentId: number) => EnvironmentFlags | undefined;
  /** When it resolves, all that was committed before the call is in memory. Rejects when the store cannot be read. */
  readonly current: () => Promise<void>;
}

/** Always the last committed state. */
export interface FlagReads {
  readonly list: (environment: EnvironmentRef) => Promise<Result<EnvironmentFlags>>;
  readonly get: (environment: EnvironmentRef, key: string) => Promise<Result<VersionedFlag>>;
}

export const createFlagReads = ({ get, current }: FlagMemory): FlagReads => ({
  async list({ id }) {
    await current();
    const flags = get(id);
    return flags ? ok(flags) : noEnvironment;
  },

  async get({ id }, key) {
    await current();
    const found = get(id)?.get(key);
    return found ? ok(found) : notFound("The flag", key);
  },
});
