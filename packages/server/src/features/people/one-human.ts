// Which accounts belong to one human: those that an owner linked, and those that have had the same address.
import type { Tx } from "../../platform/database/db.ts";
import { ensureAddressKey } from "./address-hashes.ts";
import { listRelated } from "./one-human-queries.ts";

/** All accounts that count as the same human, this one and removed ones included. */
export const sameHuman = async (tx: Tx, userId: string): Promise<ReadonlySet<string>> => {
  await ensureAddressKey(tx);
  const found = new Set([userId]);
  let last: readonly string[] = [userId];
  while (last.length > 0) {
    const related = await listRelated(tx, last);
    last = [...new Set(related)].filter((id) => !found.has(id));
    for (const id of last) found.add(id);
  }
  return found;
};
