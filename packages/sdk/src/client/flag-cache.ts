// The last known flags in a store of the application's own, for starts without the server.
import type { ClientError } from "../transport/client-error.ts";
import type { LeveledFlag } from "./flag-table.ts";

/** Where the application keeps a text between its runs: a file, localStorage, a key-value store. */
export interface Cache {
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
}

export interface FlagCache {
  /** What was kept; undefined when nothing usable was. */
  load(): Promise<readonly unknown[] | undefined>;
  /** Keeps what is current once the save before it is done: never two at a time, and the last one wins. */
  save(): void;
  /** Until the last save is done. */
  settled(): Promise<void>;
}

/** The first format had no levels. A version that knows only that one must not read this one: it would guess values. */
const format = 2;
const readable: readonly unknown[] = [1, format];

const flagsIn = (text: string): readonly unknown[] | undefined => {
  const kept = JSON.parse(text) as { format?: unknown; flags?: unknown } | null;
  return readable.includes(kept?.format) && Array.isArray(kept?.flags) ? kept.flags : undefined;
};

export const createFlagCache = (
  cache: Cache,
  current: () => readonly LeveledFlag[],
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
        await cache.save(JSON.stringify({ format, flags: current() }));
      } catch (cause) {
        failed(cause);
      }
    }
    saving = undefined;
  };

  return {
    async load() {
      // Not before its caller has had the chance to listen.
      await Promise.resolve();
      try {
        const text = await cache.load();
        return text === undefined ? undefined : flagsIn(text);
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
