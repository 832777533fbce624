// The API keys of every environment in memory, by hash and by id. The change feed keeps it current.

import type { Replica } from "../database/replica.ts";
import type { Clock, KeyHolder, Store } from "../database/store.ts";
import { isExpired } from "./api-key.ts";

export interface KeyEntry extends KeyHolder {
  /** Turns false when the key is revoked or expires, for those who have kept the entry. */
  readonly isValid: boolean;
  /** Set by whoever accepts the key. */
  wasUsed: boolean;
}

export interface KeyTable extends Replica {
  /** The key with this hash, in base64; also one that has expired, so that its holder can be told. */
  byHash(hash: string): KeyEntry | undefined;
  /** The key with this id, as long as it is valid. */
  byId(keyId: string): KeyEntry | undefined;
  /** What a person may do, an entry for each environment that they have access to. */
  byUser(userId: string): readonly KeyEntry[];
  /** Ids of the keys that were used since the last call. */
  drainUsedKeys(): readonly string[];
  /** Called with the ids of keys that were revoked, have expired, or whose environment is gone. */
  onEnded(listener: (keyIds: ReadonlySet<string>) => void): () => void;
}

interface Entry extends KeyEntry {
  isRevoked: boolean;
}

interface EnvironmentKeys {
  readonly revision: number;
  readonly byHash: ReadonlyMap<string, Entry>;
}

/** A key may do less, or more, when its person does; and people change their names. */
const isSame = ({ principal: before }: KeyHolder, { principal: after }: KeyHolder): boolean =>
  before.role === after.role &&
  before.writesDirectly === after.writesDirectly &&
  before.actor.name === after.actor.name &&
  before.actor.user?.name === after.actor.user?.name &&
  before.actor.user?.email === after.actor.user?.email;

/** The same holder; events tell the address of an actor who has one. */
const withEmail = (holder: KeyHolder): KeyHolder => {
  const { principal, email } = holder;
  const { user } = principal.actor;
  if (!user || email === null) return holder;
  const actor = { ...principal.actor, user: { ...user, email } };
  return { ...holder, principal: { ...principal, actor } };
};

export const createKeyTable = (
  store: Pick<Store, "keyHolders">,
  clock: Clock,
  { eventEmails = false }: { readonly eventEmails?: boolean } = {},
): KeyTable => {
  const environments = new Map<number, EnvironmentKeys>();
  const byHash = new Map<string, Entry>();
  const byId = new Map<string, Entry>();
  const byUser = new Map<string, Set<Entry>>();
  /** A key that was revoked here stays so, whatever a read that began before says. */
  const revokedHere = new Set<string>();
  /** Those that expire and have not expired yet. */
  const expiring = new Set<Entry>();
  const listeners = new Set<(keyIds: ReadonlySet<string>) => void>();

  const entryOf = ({ hash, principal, accessOf, email }: KeyHolder): Entry => {
    const entry: Entry = {
      hash,
      principal,
      accessOf,
      email,
      isRevoked: false,
      wasUsed: false,
      get isValid() {
        return !this.isRevoked && !(principal.expiresAt !== null && isExpired(principal, clock()));
      },
    };
    if (principal.expiresAt !== null) expiring.add(entry);
    return entry;
  };

  const tell = (gone: ReadonlySet<string>): void => {
    if (gone.size > 0) for (const listener of listeners) listener(gone);
  };

  const tellExpired = (): void => {
    const gone = [...expiring].filter((entry) => !entry.isValid);
    for (const entry of gone) expiring.delete(entry);
    tell(new Set(gone.map(({ principal }) => principal.keyId)));
  };

  const drop = (entries: Iterable<readonly [string, Entry]>) => {
    const gone = new Set<string>();
    for (const [hash, entry] of entries) {
      if (entry.isRevoked) continue;
      entry.isRevoked = true;
      expiring.delete(entry);
      // A key whose rights have changed has a new entry already.
      if (byHash.get(hash) === entry) byHash.delete(hash);
      if (byId.get(entry.principal.keyId) === entry) byId.delete(entry.principal.keyId);
      const own = byUser.get(entry.accessOf ?? "");
      own?.delete(entry);
      if (entry.accessOf !== null && own?.size === 0) byUser.delete(entry.accessOf);
      gone.add(entry.principal.keyId);
    }
    tell(gone);
  };

  const replace = (environmentId: number, revision: number, holders: readonly KeyHolder[]) => {
    const before = environments.get(environmentId)?.byHash ?? new Map<string, Entry>();
    const keys = new Map<string, Entry>();
    for (const read of holders) {
      const holder = eventEmails ? withEmail(read) : read;
      const { hash, principal } = holder;
      if (revokedHere.has(principal.keyId)) continue;
      const text = Buffer.from(hash).toString("base64");
      const known = before.get(text);
      const entry = known && isSame(known, holder) ? known : entryOf(holder);
      keys.set(text, entry);
      byHash.set(text, entry);
      byId.set(principal.keyId, entry);
      if (entry.accessOf !== null) {
        const own = byUser.get(entry.accessOf) ?? new Set();
        byUser.set(entry.accessOf, own.add(entry));
      }
    }
    environments.set(environmentId, { revision, byHash: keys });
    drop([...before].filter(([text, entry]) => keys.get(text) !== entry));
  };

  return {
    byHash: (hash) => byHash.get(hash),
    byId(keyId) {
      const entry = byId.get(keyId);
      return entry?.isValid ? entry : undefined;
    },
    byUser: (userId) => [...(byUser.get(userId) ?? [])].filter(({ isValid }) => isValid),
    drainUsedKeys() {
      const used = [...byId.values()].filter((entry) => entry.wasUsed);
      for (const entry of used) entry.wasUsed = false;
      return used.map(({ principal }) => principal.keyId);
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    beginPoll() {
      // Looked at often, also while the store cannot be read.
      tellExpired();
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

    apply({ revokedKeys, accessChanged }) {
      for (const keyId of revokedKeys) {
        revokedHere.add(keyId);
        const entry = byId.get(keyId);
        if (entry) drop([[Buffer.from(entry.hash).toString("base64"), entry]]);
      }
      return !accessChanged;
    },
  };
};
