// Who holds a key: from memory, and by looking once when memory does not know it.
import { timingSafeEqual } from "node:crypto";
import type { KeyEntry, KeyTable } from "./key-table.ts";
import type { Principal } from "./principal.ts";

/** This many keys are recognised by their text, without hashing it again. */
const maxTexts = 10_000;

export interface ApiKeyCache {
  /** This key when it was valid before and still is, without waiting. Who keeps the entry sees when it is revoked. */
  known(text: string): Readonly<KeyEntry> | undefined;
  /** This key, valid or expired; undefined when there is none. Finds a key that another instance has just issued. */
  find(text: string): Promise<Readonly<KeyEntry> | undefined>;
  isValid(keyId: string): boolean;
  /** The same as `holder`, from memory alone. */
  knownHolder(keyId: string): Principal | undefined;
  /** Where a person has access, and what they may do there; from memory alone. */
  accessOf(userId: string): readonly Principal[];
  /** Who holds the key with this id. Finds a key that another instance has just issued. */
  holder(keyId: string): Promise<Principal | undefined>;
  /** When it resolves, keys and people are as they were in the store at the call. */
  readonly catchUp: () => Promise<void>;
}

export interface ApiKeyCacheDependencies {
  readonly table: KeyTable;
  /** Brings the table up to date. */
  readonly catchUp: () => Promise<void>;
  readonly hashKey: (text: string) => Uint8Array;
}

export const createApiKeyCache = ({
  table,
  catchUp,
  hashKey,
}: ApiKeyCacheDependencies): ApiKeyCache => {
  const byText = new Map<string, KeyEntry>();

  const byHash = (hash: Uint8Array): KeyEntry | undefined => {
    // Found by its hash: an unknown id and a wrong secret are the same miss.
    const entry = table.byHash(Buffer.from(hash).toString("base64"));
    return timingSafeEqual(entry?.hash ?? new Uint8Array(hash.length), hash) ? entry : undefined;
  };

  const known = (text: string): KeyEntry | undefined => {
    const entry = byText.get(text);
    if (!entry) return undefined;
    if (entry.isValid) {
      entry.wasUsed = true;
      return entry;
    }
    byText.delete(text);
    return undefined;
  };

  return {
    known,
    catchUp,

    async find(text) {
      const already = known(text);
      if (already) return already;
      const hash = hashKey(text);
      let entry = byHash(hash);
      if (!entry) {
        await catchUp();
        entry = byHash(hash);
      }
      if (!entry?.isValid) return entry;
      if (byText.size >= maxTexts) byText.clear();
      byText.set(text, entry);
      entry.wasUsed = true;
      return entry;
    },

    isValid: (keyId) => table.byId(keyId) !== undefined,
    accessOf(userId) {
      return table.byUser(userId).map(({ principal }) => principal);
    },
    knownHolder: (keyId) => table.byId(keyId)?.principal,

    async holder(keyId) {
      if (!table.byId(keyId)) await catchUp();
      const entry = table.byId(keyId);
      if (entry) entry.wasUsed = true;
      return entry?.principal;
    },
  };
};
