// The accounts of people in SQL.
import { type Selectable, sql } from "kysely";
import type { Db, Tx } from "../../platform/database/db.ts";
import type { Tables } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import { countAccessChange, listRoles } from "./access-queries.ts";
import { rememberAddress } from "./address-hashes.ts";
import { auditUser } from "./audit-user.ts";
import { listLinked, listWithSameAddress } from "./one-human-queries.ts";
import { emailKeyOf, type Identity, type NewUser, type User } from "./user.ts";

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

const listProviders = async ({ database }: Db, userIds: readonly string[]) => {
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

const withParts = async (db: Db, rows: readonly UserRow[]): Promise<readonly User[]> => {
  const ids = rows.map(({ id }) => id);
  const roles = await listRoles(db, ids);
  const providers = await listProviders(db, ids);
  const linked = await listLinked(db, ids);
  const sharing = await listWithSameAddress(db, ids);
  return rows.map((row) =>
    userOf(row, {
      roles: roles.get(row.id) ?? {},
      providers: providers.get(row.id) ?? [],
      linked: linked.get(row.id) ?? [],
      sameAddress: sharing.get(row.id) ?? [],
    }),
  );
};

const withPartsOf = async (db: Db, row: UserRow | undefined): Promise<User | undefined> =>
  row && (await withParts(db, [row]))[0];

const users = ({ database }: Db) =>
  database
    .selectFrom("users")
    .select(columns.map((column) => `users.${column}` as const))
    .select([isSet("password").as("has_password"), isSet("recovery").as("has_second_factor")]);

/** By name. */
export const listUsers = async (db: Db): Promise<readonly User[]> =>
  withParts(db, await users(db).orderBy("name").orderBy("id").execute());

export const findUser = async (db: Db, id: string): Promise<User | undefined> =>
  withPartsOf(db, await users(db).where("id", "=", id).executeTakeFirst());

/** `emailKey` is the address as `emailKeyOf` writes it. */
export const findUserByEmail = async (db: Db, emailKey: string): Promise<User | undefined> =>
  withPartsOf(db, await users(db).where("email_key", "=", emailKey).executeTakeFirst());

export const findUserByIdentity = async (
  db: Db,
  { issuer, subject }: Identity,
): Promise<User | undefined> => {
  const row = await users(db)
    .innerJoin("identities", "identities.user_id", "users.id")
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
  return withPartsOf(db, row);
};

/** Remembers the address that the account has now. */
const rememberOwnAddress = async (tx: Tx, id: string, at: Date): Promise<void> => {
  const row = await tx.database
    .selectFrom("users")
    .select("email")
    .where("id", "=", id)
    .executeTakeFirst();
  if (row?.email != null) await rememberAddress(tx, id, row.email, at);
};

export const insertUser = async (
  tx: Tx,
  { id, name, email, isOwner }: NewUser,
  at: Date,
): Promise<void> => {
  auditUser(tx, "created", id);
  await tx.database
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
  await rememberOwnAddress(tx, id, at);
};

export const updateUser = async (
  tx: Tx,
  id: string,
  change: Partial<Pick<User, "name" | "email" | "isOwner" | "isOwnerFromGroup" | "signedInAt">>,
  at: Date,
): Promise<void> => {
  const { signedInAt, ...audited } = change;
  const { name, email, isOwner, isOwnerFromGroup } = audited;
  if (Object.keys(audited).length > 0) auditUser(tx, "updated", id);
  // The address until now too: the hashes may not have been made yet.
  if (email !== undefined) await rememberOwnAddress(tx, id, at);
  await tx.database
    .updateTable("users")
    .set({
      ...(name !== undefined && { name }),
      ...(email !== undefined && {
        email,
        email_key: email === null ? null : emailKeyOf(email),
      }),
      // A change that says nothing of groups is made by hand.
      ...(isOwner !== undefined && {
        owner: isOwner ? 1 : 0,
        owner_from_group: isOwnerFromGroup ? 1 : 0,
        rights_at: at.getTime(),
      }),
      ...(signedInAt !== undefined && { signed_in_at: signedInAt?.getTime() ?? null }),
    })
    .where("id", "=", id)
    .execute();
  if (email !== undefined) await rememberOwnAddress(tx, id, at);
  // Every instance has names and addresses in memory.
  if (name !== undefined || email !== undefined) await countAccessChange(tx);
};

/** With their sessions, their keys and their access. */
export const deleteUser = async (tx: Tx, id: string): Promise<void> => {
  const { database, signal } = tx;
  auditUser(tx, "deleted", id);
  // Environments before their keys, as every other transaction locks them: otherwise they would wait for each other.
  await countAccessChange(tx);
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
};

export const insertIdentity = async (
  { database }: Tx,
  userId: string,
  { issuer, subject }: Identity,
): Promise<void> => {
  await database.insertInto("identities").values({ issuer, subject, user_id: userId }).execute();
};
