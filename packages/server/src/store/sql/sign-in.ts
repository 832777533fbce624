// One-time sign-in links in SQL: whoever deletes the row has used it, so that nobody else can.
import type { SignInLink } from "../../domain/sign-in-link.ts";
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
