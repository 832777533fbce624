// Sessions of the dashboard in SQL.
import { type Selectable, sql } from "kysely";
import type { Db, Tx } from "../database/db.ts";
import type { Tables } from "../database/schema/tables.ts";
import type { LinkKeys, SessionHolder, SignInMethod, StoredSession } from "./session.ts";

const columns = [
  "hash",
  "sessions.id",
  "key_ids",
  "user_id",
  "link_keys",
  "method",
  "sessions.created_at",
  "sessions.signed_in_at",
  "sessions.rights_at",
  "address",
  "agent",
  "provider_token",
  "used_at",
  "ends_at",
  "users.rights_at as person_rights_at",
] as const;

interface SessionRow extends Selectable<Tables["sessions"]> {
  /** Null when no person has signed in. */
  readonly person_rights_at: number | null;
}

const sessionOf = (row: SessionRow): StoredSession => {
  return {
    hash: row.hash,
    id: row.id,
    keyIds: JSON.parse(row.key_ids) as string[],
    userId: row.user_id,
    link: row.link_keys === null ? null : (JSON.parse(row.link_keys) as LinkKeys),
    method: row.method as SignInMethod,
    createdAt: new Date(row.created_at),
    signedInAt: new Date(row.signed_in_at),
    address: row.address,
    agent: row.agent,
    providerToken: row.provider_token,
    usedAt: new Date(row.used_at),
    endsAt: new Date(row.ends_at),
    hasNewRights: row.rights_at !== row.person_rights_at,
  };
};

const sessions = ({ database }: Db) =>
  database.selectFrom("sessions").leftJoin("users", "users.id", "sessions.user_id").select(columns);

export const findSession = async (db: Db, hash: Uint8Array): Promise<StoredSession | undefined> => {
  const row = await sessions(db).where("hash", "=", hash).executeTakeFirst();
  return row && sessionOf(row);
};

/** Newest first. */
export const listSessions = async (db: Db, userId: string): Promise<readonly StoredSession[]> => {
  const own = await sessions(db)
    .where("user_id", "=", userId)
    .orderBy("sessions.created_at", "desc")
    .orderBy("sessions.id")
    // One that was given a new token a moment ago is there twice.
    .orderBy("ends_at")
    .execute();
  return own.map(sessionOf);
};

export const updateSessionUse = async (
  { database }: Db,
  hash: Uint8Array,
  at: Date,
): Promise<void> => {
  await database
    .updateTable("sessions")
    .set({ used_at: at.getTime() })
    .where("hash", "=", hash)
    .execute();
};

const linkJson = ({ link }: Pick<StoredSession, "link">) => link && JSON.stringify(link);

const rightsOf = (userId: string | null) =>
  sql<number | null>`(select rights_at from users where users.id = ${userId})`;

/** Also deletes those that have ended. */
export const insertSession = async (
  { database }: Tx,
  session: Omit<StoredSession, "hasNewRights">,
  now: Date,
): Promise<void> => {
  await database.deleteFrom("sessions").where("ends_at", "<=", now.getTime()).execute();
  await database
    .insertInto("sessions")
    .values({
      hash: session.hash,
      id: session.id,
      key_ids: JSON.stringify(session.keyIds),
      user_id: session.userId,
      link_keys: linkJson(session),
      method: session.method,
      created_at: session.createdAt.getTime(),
      signed_in_at: session.signedInAt.getTime(),
      address: session.address,
      agent: session.agent,
      provider_token: session.providerToken,
      used_at: session.usedAt.getTime(),
      ends_at: session.endsAt.getTime(),
      rights_at: rightsOf(session.userId),
    })
    .execute();
};

/** From now on it ends then; false when its end is no longer the one that was read. */
export const shortenSession = async (
  { database }: Tx,
  { hash, endsAt }: Pick<StoredSession, "hash" | "endsAt">,
  until: Date,
): Promise<boolean> => {
  const shortened = await database
    .updateTable("sessions")
    .set({ ends_at: until.getTime() })
    .where("hash", "=", hash)
    .where("ends_at", "=", endsAt.getTime())
    .returning("id")
    .executeTakeFirst();
  return shortened !== undefined;
};

export const updateSessionKeys = async (
  { database }: Tx,
  hash: Uint8Array,
  { keyIds, link }: Pick<SessionHolder, "keyIds" | "link">,
): Promise<void> => {
  await database
    .updateTable("sessions")
    .set({ key_ids: JSON.stringify(keyIds), link_keys: linkJson({ link }) })
    .where("hash", "=", hash)
    .execute();
};

export const deleteSession = async ({ database }: Tx, hash: Uint8Array): Promise<void> => {
  await database.deleteFrom("sessions").where("hash", "=", hash).execute();
};

/** Those of a person: one by its id, all but the one with this hash, or all but the newest. */
export const deleteSessions = async (
  { database }: Tx,
  userId: string,
  which: { readonly id: string } | { readonly except?: Uint8Array } | { readonly beyond: number },
): Promise<void> => {
  let own = database.deleteFrom("sessions").where("user_id", "=", userId);
  if ("id" in which) own = own.where("id", "=", which.id);
  if ("except" in which && which.except) own = own.where("hash", "!=", which.except);
  if ("beyond" in which) {
    const newest = database
      .selectFrom("sessions")
      .select("hash")
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .limit(which.beyond);
    own = own.where("hash", "not in", newest);
  }
  await own.execute();
};
