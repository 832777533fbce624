// API keys in SQL, as far as more than one feature needs them.
import type { Db, Tx } from "../database/db.ts";
import { percentOf } from "../database/schema/percent.ts";
import { dateOf } from "../database/schema/times.ts";
import type { ApiKey, ApiKeyIn } from "./api-key.ts";
import { keyLimits } from "./key-limits.ts";
import type { KeyRole } from "./principal.ts";

const validKeys = ({ database }: Db) =>
  database
    .selectFrom("api_keys")
    .leftJoin("users", "users.id", "api_keys.user_id")
    .select(["api_keys.id", "api_keys.name", "role", "api_keys.created_at", "last_used_at"])
    .select(["expires_at", "origins", "writes_directly", "created_by", "user_id", "max_flips"])
    .select(["users.name as user_name", "environment_id"])
    .where("revoked_at", "is", null)
    .where("kind", "=", "key");

type Row = Awaited<ReturnType<ReturnType<typeof validKeys>["execute"]>>[number];

const keyOf = (row: Row): ApiKey => ({
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

/** Those that are not revoked, oldest first. */
export const listKeys = async (db: Db, environmentId: number): Promise<readonly ApiKey[]> => {
  const rows = await validKeys(db)
    .where("environment_id", "=", environmentId)
    .orderBy("api_keys.created_at")
    .orderBy("api_keys.id")
    .execute();
  return rows.map(keyOf);
};

/** A key of any environment that isn't revoked. */
export const findKey = async (db: Db, id: string): Promise<ApiKeyIn | undefined> => {
  const row = await validKeys(db).where("api_keys.id", "=", id).executeTakeFirst();
  return row && { ...keyOf(row), environmentId: row.environment_id };
};

/** Every instance reads the keys of the environment again. */
export const countKeyChange = async (
  { database, dialect }: Tx,
  environmentId: number,
): Promise<void> => {
  await database
    .updateTable("environments")
    .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
    .where("id", "=", environmentId)
    .execute();
  await dialect.notify(database);
};

export const updateWritesDirectly = async (
  tx: Tx,
  environmentId: number,
  keyId: string,
  writesDirectly: boolean,
): Promise<void> => {
  await tx.database
    .updateTable("api_keys")
    .set({ writes_directly: writesDirectly ? 1 : 0 })
    .where("environment_id", "=", environmentId)
    .where("id", "=", keyId)
    .execute();
  await countKeyChange(tx, environmentId);
  tx.signal.accessChanged = true;
};

/** Keys are sorted, so that two instances cannot deadlock. */
export const updateKeyUse = async (
  { database }: Db,
  keyIds: readonly string[],
  at: Date,
): Promise<void> => {
  for (const id of keyIds.toSorted()) {
    await database
      .updateTable("api_keys")
      .set({ last_used_at: at.getTime() })
      .where("id", "=", id)
      .execute();
  }
};
