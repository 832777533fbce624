// Sign-in links and sessions in SQL. Whoever deletes the row of a link has used it, so that nobody else can.
import type { Selectable } from "kysely";
import type {
  SessionWrites,
  SignInLinkWrites,
  SignInMethod,
  StoredSession,
} from "../../domain/sign-in.ts";
import type { Reader } from "../../ports.ts";
import type { Database, Tables } from "../schema/tables.ts";

export const signInLinkWrites = (database: Database): SignInLinkWrites => ({
  async insertSignInLink({ hash, keyIds, userId, expiresAt }, now) {
    await database.deleteFrom("sign_in_links").where("expires_at", "<=", now.getTime()).execute();
    await database
      .insertInto("sign_in_links")
      .values({
        hash,
        key_ids: JSON.stringify(keyIds),
        user_id: userId,
        expires_at: expiresAt.getTime(),
      })
      .execute();
  },

  async takeSignInLink(hash, now) {
    const row = await database
      .deleteFrom("sign_in_links")
      .where("hash", "=", hash)
      .returning(["key_ids", "user_id", "expires_at"])
      .executeTakeFirst();
    return row && row.expires_at > now.getTime()
      ? { keyIds: JSON.parse(row.key_ids) as string[], userId: row.user_id }
      : undefined;
  },

  async deleteInvitations(userId) {
    await database.deleteFrom("sign_in_links").where("user_id", "=", userId).execute();
  },
});

const columns = [
  "hash",
  "id",
  "key_ids",
  "user_id",
  "owner",
  "method",
  "created_at",
  "signed_in_at",
  "address",
  "agent",
  "provider_token",
  "used_at",
  "ends_at",
] as const;

const sessionOf = (
  row: Pick<Selectable<Tables["sessions"]>, (typeof columns)[number]>,
): StoredSession => {
  const usedAt = new Date(row.used_at);
  return {
    hash: row.hash,
    id: row.id ?? "",
    keyIds: JSON.parse(row.key_ids) as string[],
    userId: row.user_id,
    isOwner: row.owner === 1,
    method: (row.method ?? "key") as SignInMethod,
    createdAt: row.created_at === null ? usedAt : new Date(row.created_at),
    signedInAt: row.signed_in_at === null ? usedAt : new Date(row.signed_in_at),
    address: row.address,
    agent: row.agent,
    providerToken: row.provider_token,
    usedAt,
    endsAt: new Date(row.ends_at),
  };
};

export const readSession =
  (database: Database): Reader["session"] =>
  async (hash) => {
    const row = await database
      .selectFrom("sessions")
      .select(columns)
      .where("hash", "=", hash)
      .executeTakeFirst();
    return row && sessionOf(row);
  };

export const sessionsOf =
  (database: Database): Reader["sessionsOf"] =>
  async (userId) => {
    const rows = await database
      .selectFrom("sessions")
      .select(columns)
      .where("user_id", "=", userId)
      .orderBy("created_at", "desc")
      .orderBy("id")
      .execute();
    return rows.map(sessionOf);
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
        owner: session.isOwner ? 1 : 0,
        method: session.method,
        created_at: session.createdAt.getTime(),
        signed_in_at: session.signedInAt.getTime(),
        address: session.address,
        agent: session.agent,
        provider_token: session.providerToken,
        used_at: session.usedAt.getTime(),
        ends_at: session.endsAt.getTime(),
      })
      .execute();
  },

  async updateSessionKeys(hash, keyIds) {
    await database
      .updateTable("sessions")
      .set({ key_ids: JSON.stringify(keyIds) })
      .where("hash", "=", hash)
      .execute();
  },

  async deleteSession(hash) {
    await database.deleteFrom("sessions").where("hash", "=", hash).execute();
  },

  async deleteSessionsOf(userId, which) {
    await database
      .deleteFrom("sessions")
      .where("user_id", "=", userId)
      .$if("id" in which, (own) => own.where("id", "=", "id" in which ? which.id : ""))
      .$if("except" in which, (own) =>
        own.where("hash", "!=", ("except" in which && which.except) || new Uint8Array()),
      )
      .execute();
  },
});
