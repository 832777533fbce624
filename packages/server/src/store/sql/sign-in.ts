// Sign-in links and sessions in SQL. Whoever deletes the row of a link has used it, so that nobody else can.
import type { SessionWrites, SignInLink } from "../../domain/sign-in.ts";
import type { Reader } from "../../ports.ts";
import type { Database } from "../schema/tables.ts";

export const insertSignInLink = async (
  database: Database,
  { hash, keyIds, expiresAt }: SignInLink,
  now: Date,
): Promise<void> => {
  await database.deleteFrom("sign_in_links").where("expires_at", "<=", now.getTime()).execute();
  await database
    .insertInto("sign_in_links")
    .values({ hash, key_ids: JSON.stringify(keyIds), expires_at: expiresAt.getTime() })
    .execute();
};

export const takeSignInLink = async (
  database: Database,
  hash: Uint8Array,
  now: Date,
): Promise<readonly string[] | undefined> => {
  const row = await database
    .deleteFrom("sign_in_links")
    .where("hash", "=", hash)
    .returning(["key_ids", "expires_at"])
    .executeTakeFirst();
  return row && row.expires_at > now.getTime() ? (JSON.parse(row.key_ids) as string[]) : undefined;
};

export const readSession =
  (database: Database): Reader["session"] =>
  async (hash) => {
    const row = await database
      .selectFrom("sessions")
      .select(["key_ids", "used_at", "ends_at"])
      .where("hash", "=", hash)
      .executeTakeFirst();
    return (
      row && {
        hash,
        keyIds: JSON.parse(row.key_ids) as string[],
        usedAt: new Date(row.used_at),
        endsAt: new Date(row.ends_at),
      }
    );
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
  async insertSession({ hash, keyIds, usedAt, endsAt }, now) {
    await database.deleteFrom("sessions").where("ends_at", "<=", now.getTime()).execute();
    await database
      .insertInto("sessions")
      .values({
        hash,
        key_ids: JSON.stringify(keyIds),
        used_at: usedAt.getTime(),
        ends_at: endsAt.getTime(),
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
});
