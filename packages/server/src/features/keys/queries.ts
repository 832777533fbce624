// Issues and revokes API keys in SQL.
import type { NewKey } from "../../platform/auth/api-key.ts";
import { countKeyChange } from "../../platform/auth/key-queries.ts";
import type { Db, Tx } from "../../platform/database/db.ts";
import { storedPercent } from "../../platform/database/schema/percent.ts";

export const insertKey = async (tx: Tx, key: NewKey): Promise<void> => {
  await tx.database
    .insertInto("api_keys")
    .values({
      id: key.id,
      environment_id: key.environmentId,
      name: key.name,
      role: key.role,
      hash: key.hash,
      created_at: key.createdAt.getTime(),
      revoked_at: null,
      expires_at: key.expiresAt?.getTime() ?? null,
      origins: key.origins && JSON.stringify(key.origins),
      given: key.isGiven ? 1 : 0,
      user_id: key.user?.id ?? null,
      writes_directly: key.writesDirectly ? 1 : 0,
      max_flips: storedPercent(key.maxFlips),
      created_by: key.createdBy,
    })
    .execute();
  await countKeyChange(tx, key.environmentId);
};

/** Beyond `kept`, the keys that were revoked first are deleted. */
export const revokeKey = async (
  tx: Tx,
  environmentId: number,
  id: string,
  at: Date,
  kept: number,
): Promise<void> => {
  const { database, signal } = tx;
  await database
    .updateTable("api_keys")
    .set({ revoked_at: at.getTime() })
    .where("environment_id", "=", environmentId)
    .where("id", "=", id)
    .execute();
  const revoked = database
    .selectFrom("api_keys")
    .where("environment_id", "=", environmentId)
    .where("revoked_at", "is not", null)
    .where("given", "=", 0);
  const [oldest] = await revoked
    .select("revoked_at")
    .orderBy("revoked_at", "desc")
    .limit(1)
    .offset(kept)
    .execute();
  if (oldest) {
    await database
      .deleteFrom("api_keys")
      .where("id", "in", revoked.select("id").where("revoked_at", "<=", oldest.revoked_at))
      .execute();
  }
  await countKeyChange(tx, environmentId);
  signal.revokedKeys.push(id);
};

/** The environment where a key of this hash was ever issued, revoked or not. */
export const findIssuingEnvironment = async (
  { database }: Db,
  hash: Uint8Array,
): Promise<number | undefined> => {
  const row = await database
    .selectFrom("api_keys")
    .select("environment_id")
    .where("hash", "=", hash)
    .executeTakeFirst();
  return row?.environment_id;
};
