// One-time sign-in links in SQL: whoever deletes the row has used it, so that nobody else can.
import type { Kysely } from "kysely";
import type { SignInLinkWrites } from "../../domain/sign-in-link.ts";
import type { Tables } from "../schema/tables.ts";

export const signInWrites = (database: Kysely<Tables>): SignInLinkWrites => ({
  async insertSignInLink({ hash, keyIds, expiresAt }, now) {
    await database.deleteFrom("sign_in_links").where("expires_at", "<=", now.getTime()).execute();
    await database
      .insertInto("sign_in_links")
      .values({ hash, key_ids: JSON.stringify(keyIds), expires_at: expiresAt.getTime() })
      .execute();
  },

  async takeSignInLink(hash, now) {
    const row = await database
      .deleteFrom("sign_in_links")
      .where("hash", "=", hash)
      .returning(["key_ids", "expires_at"])
      .executeTakeFirst();
    return row && row.expires_at > now.getTime()
      ? (JSON.parse(row.key_ids) as string[])
      : undefined;
  },
});
