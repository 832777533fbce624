// Keeps the last known flags in the application's cache, for starts without the server.

import type { Segment } from "@halyard/core/targeting/segment";
import type { ClientError } from "../transport/client-error.ts";
import type { LeveledFlag } from "./flag-table.ts";

/** Stores a string between runs of the application: a file, localStorage, a key-value store. */
export interface Cache {
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
}

/** Throws a TypeError. */
export const checkCache = (cache: Partial<Cache> | undefined): void => {
  if (cache && (typeof cache.load !== "function" || typeof cache.save !== "function")) {
    throw new TypeError("the option cache must have the functions load and save");
  }
};

/** SDKs from before segments ignore them, and do not evaluate flags that reference one. */
export interface CachedFlags {
  readonly flags: readonly unknown[];
  readonly segments: readonly unknown[];
}

export interface FlagCache {
  /** Undefined when the cache has no usable flags. */
  load(): Promise<CachedFlags | undefined>;
  /** Saves the current flags, after a save that is still running. */
  save(): void;
  /** Resolves when the last save is done. */
  settled(): Promise<void>;
}

/** Format 1 has no levels. SDKs that know only format 1 must not read format 2, because they would ignore the levels. */
const format = 2;
const readable: readonly unknown[] = [1, format];

const cachedIn = (text: string): CachedFlags | undefined => {
  const cached = JSON.parse(text) as {
    format?: unknown;
    flags?: unknown;
    segments?: unknown;
  } | null;
  if (!readable.includes(cached?.format) || !Array.isArray(cached?.flags)) return undefined;
  const { flags, segments } = cached;
  return { flags, segments: Array.isArray(segments) ? (segments as unknown[]) : [] };
};

export const createFlagCache = (
  cache: Cache,
  current: () => { readonly flags: readonly LeveledFlag[]; readonly segments?: readonly Segment[] },
  onError: (error: ClientError) => void,
): FlagCache => {
  let saving: Promise<void> | undefined;
  let wanted = false;
  const failed = (cause: unknown) =>
    onError({ code: "CACHE_FAILED", message: `the cache failed: ${String(cause)}`, cause });

  const saveAll = async () => {
    while (wanted) {
      wanted = false;
      try {
        // Asynchronous even if `save` throws immediately: `saving` must have its value before the loop ends.
        await Promise.resolve().then(() => cache.save(JSON.stringify({ format, ...current() })));
      } catch (cause) {
        failed(cause);
      }
    }
    saving = undefined;
  };

  return {
    async load() {
      // Gives the application time to add its listeners.
      await Promise.resolve();
      try {
        const text = await cache.load();
        return text === undefined ? undefined : cachedIn(text);
      } catch (cause) {
        failed(cause);
        return undefined;
      }
    },
    save() {
      wanted = true;
      saving ??= saveAll();
    },
    settled: () => saving ?? Promise.resolve(),
  };
};
