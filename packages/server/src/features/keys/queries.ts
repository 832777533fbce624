// The reads and writes of ports.ts that concern API keys.
import { keyLimits } from "../../platform/auth/key-limits.ts";
import type { KeyRole } from "../../platform/auth/principal.ts";
import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import { percentOf, storedPercent } from "../../platform/database/schema/percent.ts";
import type { Database } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import type { Reader, Transaction } from "../../platform/database/store.ts";

export const apiKeyReads = (database: Database): Pick<Reader, "keys" | "apiKey"> => {
  const keys = () =>
    database
      .selectFrom("api_keys")
      .leftJoin("users", "users.id", "api_keys.user_id")
      .select(["api_keys.id", "api_keys.name", "role", "api_keys.created_at", "last_used_at"])
      .select(["expires_at", "origins", "writes_directly", "created_by", "user_id", "max_flips"])
      .select(["users.name as user_name", "environment_id"])
      .where("revoked_at", "is", null)
      .where("kind", "=", "key");
  type Row = Awaited<ReturnType<ReturnType<typeof keys>["execute"]>>[number];
  const keyOf = (row: Row) => ({
    id: row.id,
    name: row.name,
    role: row.role as KeyRole,
    ...keyLimits(row),
    createdAt: new Date(row.created_at),
    lastUsedAt: dateOf(row.last_used_at),
    user: row.user_id === null ? null : { id: row.user_id, name: row.user_name ?? "" },
    writesDirectly: row.writes_directly === 1,
    maxFlips: percentOf(row.max_flips),
    createdBy: row.created_by,
  });

  return {
    async keys(environmentId) {
      const rows = await keys()
        .where("environment_id", "=", environmentId)
        .orderBy("api_keys.created_at")
        .orderBy("api_keys.id")
        .execute();
      return rows.map(keyOf);
    },

    async apiKey(id) {
      const row = await keys().where("api_keys.id", "=", id).executeTakeFirst();
      return row && { ...keyOf(row), environmentId: row.environment_id };
    },
  };
};

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
