// The access of people in SQL: a row among the keys of an environment, so that instances follow it as they follow keys.
import type { PersonRole } from "../../platform/auth/principal.ts";
import type { Db, Tx } from "../../platform/database/db.ts";
import type { Access } from "./user.ts";

const validAccess = ({ database }: Db) =>
  database
    .selectFrom("api_keys")
    .innerJoin("environments", "environments.id", "api_keys.environment_id")
    .where("api_keys.kind", "=", "access")
    .where("api_keys.revoked_at", "is", null);

/** The roles of all people, or of one when their id alone is given; those of owners are left out. */
export const listRoles = async (
  db: Db,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, PersonRole>>>> => {
  const byUser = new Map<string, Record<string, PersonRole>>();
  if (userIds.length === 0) return byUser;
  const rows = await validAccess(db)
    .select(["api_keys.user_id", "api_keys.role", "environments.name"])
    .$if(userIds.length === 1, (all) => all.where("api_keys.user_id", "=", userIds[0] ?? ""))
    .orderBy("environments.name")
    .execute();
  for (const { user_id, role, name } of rows) {
    if (user_id === null || role === "owner") continue;
    const roles = byUser.get(user_id) ?? {};
    roles[name] = role as PersonRole;
    byUser.set(user_id, roles);
  }
  return byUser;
};

export const listAccess = async (db: Db, userId: string): Promise<readonly Access[]> => {
  const rows = await validAccess(db)
    .select(["api_keys.id", "api_keys.environment_id", "api_keys.role"])
    .select(["api_keys.from_group", "api_keys.hand_role"])
    .where("api_keys.user_id", "=", userId)
    .execute();
  return rows.map(({ id, environment_id, role, from_group, hand_role }) => ({
    id,
    userId,
    environmentId: environment_id,
    role: role as PersonRole | "owner",
    isFromGroup: from_group === 1,
    handRole: hand_role as PersonRole | "owner" | null,
  }));
};

/** Every instance reads the keys and the people of these environments again: of one, or of all. */
export const countAccessChange = async (
  { database, dialect, signal }: Tx,
  environmentId?: number,
): Promise<void> => {
  if (dialect.locksRows && environmentId === undefined) {
    // By name: every transaction that locks several environments does so in this order.
    await database
      .selectFrom("environments")
      .select("id")
      .orderBy("name")
      .$call(dialect.locked)
      .execute();
  }
  await database
    .updateTable("environments")
    .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
    .$if(environmentId !== undefined, (all) => all.where("id", "=", environmentId ?? 0))
    .execute();
  await dialect.notify(database);
  signal.accessChanged = true;
};

/** In the place of what they had there; null takes it away. */
export const setAccess = async (
  tx: Tx,
  userId: string,
  environmentId: number,
  access: (Pick<Access, "id" | "role" | "isFromGroup"> & Partial<Pick<Access, "handRole">>) | null,
  at: Date,
): Promise<void> => {
  const { database, signal } = tx;
  // First, as in deleteUser.
  await countAccessChange(tx, environmentId);
  const before = await database
    .deleteFrom("api_keys")
    .where("user_id", "=", userId)
    .where("environment_id", "=", environmentId)
    .where("kind", "=", "access")
    .returning("id")
    .execute();
  signal.revokedKeys.push(...before.map((key) => key.id));
  if (access) {
    await database
      .insertInto("api_keys")
      .values({
        id: access.id,
        environment_id: environmentId,
        name: "access",
        role: access.role,
        // Not the hash of any text.
        hash: new TextEncoder().encode(`access ${access.id}`),
        created_at: at.getTime(),
        revoked_at: null,
        expires_at: null,
        origins: null,
        user_id: userId,
        kind: "access",
        given: 0,
        from_group: access.isFromGroup ? 1 : 0,
        hand_role: access.handRole ?? null,
      })
      .execute();
  }
  await database
    .updateTable("users")
    .set({ rights_at: at.getTime() })
    .where("id", "=", userId)
    .execute();
};
