// Who holds a key: from memory, and by looking once when memory does not know it.
import { timingSafeEqual } from "node:crypto";
import type { Principal } from "../domain/principal.ts";
import type { ChangeFeed } from "../evaluation/change-feed.ts";
import type { KeyEntry, Snapshots } from "../evaluation/snapshots.ts";

/** So many keys are recognised by their text, without hashing it again. */
const maxKnown = 10_000;

export interface ApiKeyCache {
  /** This key when it was good before and still is, without any waiting. Who keeps the entry sees when it is revoked. */
  known(text: string): Readonly<KeyEntry> | undefined;
  /** Who holds this key; undefined when nobody does. A key that was issued elsewhere a moment ago is found too. */
  principal(text: string): Promise<Principal | undefined>;
  /** Whether the key with this id is still good. */
  isGood(keyId: string): boolean;
  /** Who holds the key with this id, found also when it was issued elsewhere a moment ago. */
  holder(keyId: string): Promise<Principal | undefined>;
}

export const createApiKeyCache = (
  snapshots: Snapshots,
  feed: Pick<ChangeFeed, "catchUp">,
  hashKey: (text: string) => Uint8Array,
): ApiKeyCache => {
  const byText = new Map<string, KeyEntry>();

  const find = (hash: Uint8Array): KeyEntry | undefined => {
    // Found by its hash: an unknown id and a wrong secret are the same miss.
    const entry = snapshots.key(Buffer.from(hash).toString("base64"));
    return timingSafeEqual(entry?.hash ?? new Uint8Array(hash.length), hash) ? entry : undefined;
  };

  const known = (text: string): KeyEntry | undefined => {
    const entry = byText.get(text);
    if (!entry) return undefined;
    if (entry.good) {
      entry.used = true;
      return entry;
    }
    byText.delete(text);
    return undefined;
  };

  return {
    known,

    async principal(text) {
      const already = known(text);
      if (already) return already.principal;
      const hash = hashKey(text);
      let entry = find(hash);
      if (!entry) {
        await feed.catchUp();
        entry = find(hash);
      }
      if (!entry) return undefined;
      if (byText.size >= maxKnown) byText.clear();
      byText.set(text, entry);
      entry.used = true;
      return entry.principal;
    },

    isGood: (keyId) => snapshots.holder(keyId) !== undefined,

    async holder(keyId) {
      if (!snapshots.holder(keyId)) await feed.catchUp();
      const entry = snapshots.holder(keyId);
      if (entry) entry.used = true;
      return entry?.principal;
    },
  };
};
