// Sign-in links and sessions in SQL. Whoever deletes the row of a link has used it, so that nobody else can.
import { type Selectable, sql } from "kysely";
import type {
  LinkKeys,
  SessionWrites,
  SignInLinkReads,
  SignInLinkWrites,
  SignInMethod,
  StoredSession,
} from "../../../platform/auth/session.ts";
import type { SameSelect } from "../../../platform/database/schema/dialect.ts";
import type { Database, Tables } from "../../../platform/database/schema/tables.ts";
import type { Reader } from "../../../platform/database/store.ts";

export const signInLinkReads = (
  database: Database,
  lock: SameSelect = (query) => query,
): SignInLinkReads => ({
  async invitation(hash, now) {
    const row = await database
      .selectFrom("sign_in_links")
      .select(["user_id", "invited_by", "expires_at"])
      .where("hash", "=", hash)
      .$call(lock)
      .executeTakeFirst();
    return row?.user_id && row.expires_at > now.getTime()
      ? { userId: row.user_id, invitedBy: row.invited_by }
      : undefined;
  },
});

export const signInLinkWrites = (database: Database): SignInLinkWrites => ({
  async insertSignInLink({ hash, keyIds, userId, invitedBy, expiresAt }, now) {
    await database.deleteFrom("sign_in_links").where("expires_at", "<=", now.getTime()).execute();
    await database
      .insertInto("sign_in_links")
      .values({
        hash,
        key_ids: JSON.stringify(keyIds),
        user_id: userId,
        invited_by: invitedBy,
        expires_at: expiresAt.getTime(),
      })
      .execute();
  },

  async takeSignInLink(hash, now) {
    const row = await database
      .deleteFrom("sign_in_links")
      .where("hash", "=", hash)
      // An invitation is not a key: it is accepted in another place.
      .where("user_id", "is", null)
      .returning(["key_ids", "expires_at"])
      .executeTakeFirst();
    return row && row.expires_at > now.getTime()
      ? (JSON.parse(row.key_ids) as string[])
      : undefined;
  },

  async deleteInvitations(userId) {
    await database.deleteFrom("sign_in_links").where("user_id", "=", userId).execute();
  },
});

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

const rows = (database: Database) =>
  database.selectFrom("sessions").leftJoin("users", "users.id", "sessions.user_id").select(columns);

export const readSession =
  (database: Database): Reader["session"] =>
  async (hash) => {
    const row = await rows(database).where("hash", "=", hash).executeTakeFirst();
    return row && sessionOf(row);
  };

export const sessionsOf =
  (database: Database): Reader["sessionsOf"] =>
  async (userId) => {
    const own = await rows(database)
      .where("user_id", "=", userId)
      .orderBy("sessions.created_at", "desc")
      .orderBy("sessions.id")
      // One that was given a new token a moment ago is there twice.
      .orderBy("ends_at")
      .execute();
    return own.map(sessionOf);
  };

export const writeSessionUse = async (
  database: Database,
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

export const sessionWrites = (database: Database): SessionWrites => ({
  async insertSession(session, now) {
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
  },

  async shortenSession({ hash, endsAt }, until) {
    const shortened = await database
      .updateTable("sessions")
      .set({ ends_at: until.getTime() })
      .where("hash", "=", hash)
      .where("ends_at", "=", endsAt.getTime())
      .returning("id")
      .executeTakeFirst();
    return shortened !== undefined;
  },

  async updateSessionKeys(hash, { keyIds, link }) {
    await database
      .updateTable("sessions")
      .set({ key_ids: JSON.stringify(keyIds), link_keys: linkJson({ link }) })
      .where("hash", "=", hash)
      .execute();
  },

  async deleteSession(hash) {
    await database.deleteFrom("sessions").where("hash", "=", hash).execute();
  },

  async deleteSessionsOf(userId, which) {
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
  },
});
