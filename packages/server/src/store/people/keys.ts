// The writes of ports.ts that concern API keys.
import type { Transaction } from "../../ports.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { storedPercent } from "../schema/percent.ts";
import type { Database } from "../schema/tables.ts";

export const keyWrites = (
  database: Database,
  traits: DatabaseTraits,
  revokedKeys: string[],
): Pick<Transaction, "insertKey" | "revokeKey" | "keyIssuedIn"> => {
  const countKeyChange = async (environmentId: number): Promise<void> => {
    await database
      .updateTable("environments")
      .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
      .where("id", "=", environmentId)
      .execute();
    await traits.notify(database);
  };

  return {
    async insertKey(key) {
      await database
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
      await countKeyChange(key.environmentId);
    },

    async revokeKey(environmentId, id, at, kept) {
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
      await countKeyChange(environmentId);
      revokedKeys.push(id);
    },

    async keyIssuedIn(hash) {
      const row = await database
        .selectFrom("api_keys")
        .select(["environment_id", "revoked_at"])
        .where("hash", "=", hash)
        .executeTakeFirst();
      return row && { environmentId: row.environment_id, revoked: row.revoked_at !== null };
    },
  };
};
