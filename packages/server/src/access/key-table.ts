// The API keys of every environment in memory, by hash and by id. The change feed keeps it current.
import type { Replica } from "../evaluation/change-feed.ts";
import type { KeyHolder, Store } from "../ports.ts";

export interface KeyEntry extends KeyHolder {
  /** Turns false when the key is revoked, for those who have kept the entry. */
  readonly isValid: boolean;
  /** Set by whoever accepts the key. */
  wasUsed: boolean;
}

export interface KeyTable extends Replica {
  /** The key with this hash, in base64. */
  byHash(hash: string): KeyEntry | undefined;
  /** The key with this id, as long as it is valid. */
  byId(keyId: string): KeyEntry | undefined;
  /** Ids of the keys that were used since the last call. */
  takeUsedKeys(): readonly string[];
  /** Called with the ids of keys that were revoked or whose environment is gone. */
  onRevoked(listener: (keyIds: ReadonlySet<string>) => void): () => void;
}

type Entry = { -readonly [K in keyof KeyEntry]: KeyEntry[K] };

interface EnvironmentKeys {
  readonly revision: number;
  readonly byHash: ReadonlyMap<string, Entry>;
}

export const createKeyTable = (store: Pick<Store, "keyHolders">): KeyTable => {
  const environments = new Map<number, EnvironmentKeys>();
  const byHash = new Map<string, Entry>();
  const byId = new Map<string, Entry>();
  /** A key that was revoked here stays so, whatever a read that began before says. */
  const revokedHere = new Set<string>();
  const listeners = new Set<(keyIds: ReadonlySet<string>) => void>();

  const drop = (entries: Iterable<readonly [string, Entry]>) => {
    const gone = new Set<string>();
    for (const [hash, entry] of entries) {
      if (!entry.isValid) continue;
      entry.isValid = false;
      byHash.delete(hash);
      byId.delete(entry.principal.keyId);
      gone.add(entry.principal.keyId);
    }
    if (gone.size === 0) return;
    for (const listener of listeners) listener(gone);
  };

  const replace = (environmentId: number, revision: number, holders: readonly KeyHolder[]) => {
    const before = environments.get(environmentId)?.byHash ?? new Map<string, Entry>();
    const keys = new Map<string, Entry>();
    for (const { hash, principal } of holders) {
      if (revokedHere.has(principal.keyId)) continue;
      const text = Buffer.from(hash).toString("base64");
      const entry = before.get(text) ?? { hash, principal, isValid: true, wasUsed: false };
      keys.set(text, entry);
      byHash.set(text, entry);
      byId.set(principal.keyId, entry);
    }
    environments.set(environmentId, { revision, byHash: keys });
    drop([...before].filter(([text]) => !keys.has(text)));
  };

  return {
    byHash: (hash) => byHash.get(hash),
    byId: (keyId) => byId.get(keyId),
    takeUsedKeys() {
      const used = [...byId.values()].filter((entry) => entry.wasUsed);
      for (const entry of used) entry.wasUsed = false;
      return used.map(({ principal }) => principal.keyId);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    beginLook() {
      const known = [...environments.keys()];
      const revokedBefore = [...revokedHere];
      return async (positions) => {
        const present = new Set(positions.map(({ environmentId }) => environmentId));
        for (const id of known) {
          const gone = present.has(id) ? undefined : environments.get(id);
          if (!gone) continue;
          environments.delete(id);
          drop(gone.byHash);
        }
        for (const { environmentId, keysRevision } of positions) {
          if (environments.get(environmentId)?.revision === keysRevision) continue;
          replace(environmentId, keysRevision, await store.keyHolders(environmentId));
        }
        // Whatever is read from now on was committed after they were revoked.
        for (const keyId of revokedBefore) revokedHere.delete(keyId);
      };
    },

    apply({ revokedKeys }) {
      for (const keyId of revokedKeys) {
        revokedHere.add(keyId);
        const entry = byId.get(keyId);
        if (entry) drop([[Buffer.from(entry.hash).toString("base64"), entry]]);
      }
      return true;
    },
  };
};
