// People in SQL. Their access to an environment is a row among its keys, so that instances follow it as they follow keys.
import { type Selectable, sql } from "kysely";
import type { PersonRole } from "../../platform/auth/principal.ts";
import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import type { Database, Tables } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import type { SecretCipher } from "../../platform/database/secrets/secret-cipher.ts";
import { oneHumanReads, oneHumanWrites } from "./one-human.ts";
import { emailKeyOf, type User, type UserReads, type UserWrites } from "./user.ts";

/** Without what they prove who they are with. */
const columns = [
  "id",
  "name",
  "email",
  "owner",
  "owner_from_group",
  "created_at",
  "signed_in_at",
  "rights_at",
] as const;

interface UserRow extends Pick<Selectable<Tables["users"]>, (typeof columns)[number]> {
  readonly has_password: number;
  /** Without recovery codes it is not on yet. */
  readonly has_second_factor: number;
}

const isSet = (column: "password" | "recovery") =>
  sql<number>`case when ${sql.ref(`users.${column}`)} is null then 0 else 1 end`;

type UserParts = Pick<User, "roles" | "providers" | "linked" | "sameAddress">;

const userOf = (row: UserRow, parts: UserParts): User => ({
  id: row.id,
  name: row.name,
  email: row.email,
  isOwner: row.owner === 1,
  isOwnerFromGroup: row.owner_from_group === 1,
  createdAt: new Date(row.created_at),
  signedInAt: dateOf(row.signed_in_at),
  rightsAt: new Date(row.rights_at),
  hasPassword: row.has_password === 1,
  hasSecondFactor: row.has_second_factor === 1,
  ...parts,
});

export const userReads = (database: Database): UserReads => {
  const access = () =>
    database
      .selectFrom("api_keys")
      .innerJoin("environments", "environments.id", "api_keys.environment_id")
      .where("api_keys.kind", "=", "access")
      .where("api_keys.revoked_at", "is", null);

  const providersOf = async (userIds: readonly string[]) => {
    const byUser = new Map<string, string[]>();
    if (userIds.length === 0) return byUser;
    const rows = await database
      .selectFrom("identities")
      .select(["user_id", "issuer"])
      .$if(userIds.length === 1, (all) => all.where("user_id", "=", userIds[0] ?? ""))
      .orderBy("issuer")
      .execute();
    for (const { user_id, issuer } of rows) {
      byUser.set(user_id, [...new Set([...(byUser.get(user_id) ?? []), issuer])]);
    }
    return byUser;
  };

  const rolesOf = async (userIds: readonly string[]) => {
    const byUser = new Map<string, Record<string, PersonRole>>();
    if (userIds.length === 0) return byUser;
    const rows = await access()
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

  const human = oneHumanReads(database);
  const whole = async (rows: readonly UserRow[]): Promise<readonly User[]> => {
    const ids = rows.map(({ id }) => id);
    const roles = await rolesOf(ids);
    const providers = await providersOf(ids);
    const linked = await human.linkedWith(ids);
    const sharing = await human.withSameAddress(ids);
    return rows.map((row) =>
      userOf(row, {
        roles: roles.get(row.id) ?? {},
        providers: providers.get(row.id) ?? [],
        linked: linked.get(row.id) ?? [],
        sameAddress: sharing.get(row.id) ?? [],
      }),
    );
  };
  const read = async (row: UserRow | undefined): Promise<User | undefined> =>
    row && (await whole([row]))[0];

  const users = () =>
    database
      .selectFrom("users")
      .select(columns.map((column) => `users.${column}` as const))
      .select([isSet("password").as("has_password"), isSet("recovery").as("has_second_factor")]);
  return {
    async users() {
      return whole(await users().orderBy("name").orderBy("id").execute());
    },
    user: async (id) => read(await users().where("id", "=", id).executeTakeFirst()),
    userByEmail: async (emailKey) =>
      read(await users().where("email_key", "=", emailKey).executeTakeFirst()),
    async userByIdentity({ issuer, subject }) {
      const row = await users()
        .innerJoin("identities", "identities.user_id", "users.id")
        .where("issuer", "=", issuer)
        .where("subject", "=", subject)
        .executeTakeFirst();
      return read(row);
    },
    async accessOf(userId) {
      const rows = await access()
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
    },
  };
};

export const userWrites = (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
  signal: { readonly revokedKeys: string[]; accessChanged: boolean },
): UserWrites => {
  const human = oneHumanWrites(database, secrets);
  /** The one that the account has now. */
  const rememberOwn = async (id: string, at: Date): Promise<void> => {
    const row = await database
      .selectFrom("users")
      .select("email")
      .where("id", "=", id)
      .executeTakeFirst();
    if (row?.email != null) await human.rememberAddress(id, row.email, at);
  };
  /** Every instance reads the keys and the people of these environments again. */
  const countAccessChange = async (environmentId?: number): Promise<void> => {
    if (traits.locksRows && environmentId === undefined) {
      // By name, as everybody takes several of them.
      await database
        .selectFrom("environments")
        .select("id")
        .orderBy("name")
        .$call(traits.locked)
        .execute();
    }
    await database
      .updateTable("environments")
      .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
      .$if(environmentId !== undefined, (all) => all.where("id", "=", environmentId ?? 0))
      .execute();
    await traits.notify(database);
    signal.accessChanged = true;
  };

  return {
    async insertUser({ id, name, email, isOwner }, at) {
      await database
        .insertInto("users")
        .values({
          id,
          name,
          email,
          email_key: email === null ? null : emailKeyOf(email),
          owner: isOwner ? 1 : 0,
          created_at: at.getTime(),
          signed_in_at: null,
          rights_at: at.getTime(),
          password: null,
          totp: null,
          recovery: null,
        })
        .execute();
      await rememberOwn(id, at);
    },

    async updateUser(id, { name, email, isOwner, isOwnerFromGroup, signedInAt }, at) {
      // The address until now too: the hashes may not have been made yet.
      if (email !== undefined) await rememberOwn(id, at);
      await database
        .updateTable("users")
        .set({
          ...(name !== undefined && { name }),
          ...(email !== undefined && {
            email,
            email_key: email === null ? null : emailKeyOf(email),
          }),
          // Whoever says nothing of groups gives it, or takes it, by hand.
          ...(isOwner !== undefined && {
            owner: isOwner ? 1 : 0,
            owner_from_group: isOwnerFromGroup ? 1 : 0,
            rights_at: at.getTime(),
          }),
          ...(signedInAt !== undefined && { signed_in_at: signedInAt?.getTime() ?? null }),
        })
        .where("id", "=", id)
        .execute();
      if (email !== undefined) await rememberOwn(id, at);
      // Others have them in memory.
      if (name !== undefined || email !== undefined) await countAccessChange();
    },

    async deleteUser(id) {
      // Before its keys, as everybody else locks them: otherwise they would wait for each other.
      await countAccessChange();
      const keys = await database
        .deleteFrom("api_keys")
        .where("user_id", "=", id)
        .returning("id")
        .execute();
      for (const table of ["sessions", "sign_in_links", "identities", "user_addresses"] as const) {
        await database.deleteFrom(table).where("user_id", "=", id).execute();
      }
      await database.deleteFrom("users").where("id", "=", id).execute();
      signal.revokedKeys.push(...keys.map((key) => key.id));
    },

    async insertIdentity(userId, { issuer, subject }) {
      await database
        .insertInto("identities")
        .values({ issuer, subject, user_id: userId })
        .execute();
    },

    async setAccess(userId, environmentId, access, at) {
      // First, as in deleteUser.
      await countAccessChange(environmentId);
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
    },
  };
};
