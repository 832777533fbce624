// An environment as it was, from the revisions in its history.
import type { PastReads } from "../../domain/history.ts";
import type { Database } from "../schema/tables.ts";

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

export const pastReads = (database: Database): PastReads => ({
  async revisionAt(environmentId, at) {
    const row = await database
      .selectFrom("history")
      .select(({ fn }) => fn.max("revision").as("revision"))
      .where("environment_id", "=", environmentId)
      .where("at", "<=", at.getTime())
      .executeTakeFirst();
    return row?.revision ?? 0;
  },

  async revisionsAfter(environmentId, revision) {
    const row = await database
      .selectFrom("history")
      .select(({ fn }) => fn.countAll().as("count"))
      .where("environment_id", "=", environmentId)
      .where("revision", ">", revision)
      .executeTakeFirst();
    return Number(row?.count ?? 0);
  },

  async changesOf(environmentId, kind, key, revision, limit) {
    const rows = await database
      .selectFrom("history")
      .select(["version", "before", "after"])
      .where("environment_id", "=", environmentId)
      .where("subject", "=", kind)
      .where("subject_id", "=", key)
      .where("revision", ">", revision)
      .orderBy("id")
      .$if(limit !== undefined, (query) => query.limit(limit ?? 1))
      .execute();
    return rows.map(({ version, before, after }) => ({
      version: version ?? 0,
      before: parsed(before),
      after: parsed(after),
    }));
  },
});
