// The environments in memory and who may ask for them. The change feed keeps them current; everyone else only reads.
import type { FlagChange } from "../domain/change.ts";
import type { Principal } from "../domain/principal.ts";
import type { FlagList, KeyHolder, Position } from "../ports.ts";
import {
  type ChangeableSnapshot,
  type Counter,
  createSnapshot,
  type Snapshot,
} from "./snapshot.ts";

/** What was applied to a snapshot; undefined when it was replaced as a whole. */
export type Applied = readonly FlagChange[] | undefined;

export interface KeyEntry {
  readonly hash: Uint8Array;
  readonly principal: Principal;
  /** Turns false when the key is revoked, for those who have kept the entry. */
  readonly good: boolean;
  /** Set by whoever lets the key in. */
  used: boolean;
}

export interface Snapshots {
  get(environmentId: number): Snapshot | undefined;
  /** The key with this hash, in base64. */
  key(hash: string): KeyEntry | undefined;
  /** Who holds the key with this id, as long as it is good. */
  holder(keyId: string): KeyEntry | undefined;
  /** Ids of the keys that were used since this was last asked. */
  takeUsedKeys(): readonly string[];
  /** Called once a snapshot has changed. */
  onChange(listener: (snapshot: Snapshot, applied: Applied) => void): () => void;
  /** Called with the ids of keys that were revoked or whose environment is gone. */
  onKeysGone(listener: (keyIds: ReadonlySet<string>) => void): () => void;
}

export interface ChangeableSnapshots extends Snapshots {
  environmentIds(): readonly number[];
  keysRevision(environmentId: number): number | undefined;
  /** Those that make the next revisions are applied; gives false when one between is missing. */
  apply(environmentId: number, changes: readonly FlagChange[]): boolean;
  /** Left out when what is there is newer, unless the store is known to have gone back. */
  replace(position: Position, list: FlagList, wentBack: boolean): void;
  setKeys(environmentId: number, keysRevision: number, holders: readonly KeyHolder[]): void;
  revoke(keyId: string): void;
  forget(environmentId: number): void;
}

type Entry = { -readonly [K in keyof KeyEntry]: KeyEntry[K] };

interface Held {
  readonly snapshot: ChangeableSnapshot;
  keysRevision: number | undefined;
  keys: Map<string, Entry>;
}

export const createSnapshots = (
  counterOf: (environmentId: number, flagKey: string) => Counter,
): ChangeableSnapshots => {
  const environments = new Map<number, Held>();
  const byHash = new Map<string, Entry>();
  const byId = new Map<string, Entry>();
  /** A key that was revoked here stays so, whatever a read that began before says. */
  const revokedHere = new Set<string>();
  const changeListeners = new Set<(snapshot: Snapshot, applied: Applied) => void>();
  const goneListeners = new Set<(keyIds: ReadonlySet<string>) => void>();

  const tellChange = (snapshot: Snapshot, applied: Applied) => {
    for (const listener of changeListeners) listener(snapshot, applied);
  };

  const drop = (entries: Iterable<readonly [string, Entry]>) => {
    const gone = new Set<string>();
    for (const [hash, entry] of entries) {
      entry.good = false;
      byHash.delete(hash);
      byId.delete(entry.principal.keyId);
      gone.add(entry.principal.keyId);
    }
    if (gone.size === 0) return;
    for (const listener of goneListeners) listener(gone);
  };

  const forget = (environmentId: number) => {
    const held = environments.get(environmentId);
    environments.delete(environmentId);
    if (held) drop(held.keys);
  };

  return {
    get: (environmentId) => environments.get(environmentId)?.snapshot,
    key: (hash) => byHash.get(hash),
    holder: (keyId) => byId.get(keyId),
    takeUsedKeys() {
      const used = [...byId.values()].filter((entry) => entry.used);
      for (const entry of used) entry.used = false;
      return used.map(({ principal }) => principal.keyId);
    },
    environmentIds: () => [...environments.keys()],
    keysRevision: (environmentId) => environments.get(environmentId)?.keysRevision,

    onChange(listener) {
      changeListeners.add(listener);
      return () => changeListeners.delete(listener);
    },

    onKeysGone(listener) {
      goneListeners.add(listener);
      return () => goneListeners.delete(listener);
    },

    apply(environmentId, changes) {
      const snapshot = environments.get(environmentId)?.snapshot;
      if (!snapshot) return false;
      const applied: FlagChange[] = [];
      let complete = true;
      for (const change of changes) {
        if (change.revision <= snapshot.revision) continue;
        if (change.revision !== snapshot.revision + 1) {
          complete = false;
          break;
        }
        snapshot.apply(change);
        applied.push(change);
      }
      if (applied.length > 0) tellChange(snapshot, applied);
      return complete;
    },

    replace({ environmentId, name }, list, wentBack) {
      const held = environments.get(environmentId);
      if (!held) {
        const snapshot = createSnapshot(environmentId, name, list, counterOf);
        environments.set(environmentId, { snapshot, keysRevision: undefined, keys: new Map() });
        tellChange(snapshot, undefined);
      } else if (wentBack || list.revision > held.snapshot.revision) {
        held.snapshot.replace(list);
        tellChange(held.snapshot, undefined);
      }
    },

    setKeys(environmentId, keysRevision, holders) {
      const held = environments.get(environmentId);
      if (!held) return;
      const keys = new Map<string, Entry>();
      for (const { hash, principal } of holders) {
        if (revokedHere.has(principal.keyId)) continue;
        const text = Buffer.from(hash).toString("base64");
        const entry = held.keys.get(text) ?? { hash, principal, good: true, used: false };
        keys.set(text, entry);
        byHash.set(text, entry);
        byId.set(principal.keyId, entry);
      }
      const before = held.keys;
      held.keys = keys;
      held.keysRevision = keysRevision;
      drop([...before].filter(([text]) => !keys.has(text)));
    },

    revoke(keyId) {
      revokedHere.add(keyId);
      for (const { keys } of environments.values()) {
        const found = [...keys].filter(([, { principal }]) => principal.keyId === keyId);
        for (const [text] of found) keys.delete(text);
        drop(found);
      }
    },

    forget,
  };
};
