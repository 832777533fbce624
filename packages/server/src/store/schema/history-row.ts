// A history entry as a row.
import type { Selectable } from "kysely";
import type { ChainedEntry, StoredEntry } from "../../domain/history/chained-entry.ts";
import { prepared } from "./prepared.ts";
import type { Tables } from "./tables.ts";

export const historyRow = (environmentId: number, entry: ChainedEntry) => ({
  environment_id: environmentId,
  revision: entry.revision,
  subject: entry.subject,
  subject_id: entry.subjectId,
  version: entry.version,
  at: entry.at,
  actor_key_id: entry.actorKeyId,
  actor_name: entry.actorName,
  actor_user_id: entry.actorUserId,
  actor_user_name: entry.actorUserName,
  reason: entry.reason,
  actions: entry.actions,
  before: entry.before,
  after: entry.after,
  level: entry.level,
  review: entry.review,
  digest: entry.digest,
  chain: entry.chain,
});

export const insertHistory = prepared(
  (database, values: ChainedEntry & { readonly environmentId: number }) =>
    database.insertInto("history").values(historyRow(values.environmentId, values)),
);

/** What the chain runs over, and the number that orders it. */
export const storedColumns = [
  ...(["id", "revision", "subject", "subject_id", "version", "at", "actor_key_id"] as const),
  ...(["actor_name", "actor_user_id", "actor_user_name", "reason", "actions"] as const),
  ...(["before", "after", "level", "review"] as const),
] as const;

type StoredRow = Pick<Selectable<Tables["history"]>, (typeof storedColumns)[number]>;

export const storedOf = (row: StoredRow): StoredEntry & { readonly id: number } => ({
  id: row.id,
  revision: row.revision,
  subject: row.subject,
  subjectId: row.subject_id,
  version: row.version,
  at: row.at,
  actorKeyId: row.actor_key_id,
  actorName: row.actor_name,
  actorUserId: row.actor_user_id,
  actorUserName: row.actor_user_name,
  reason: row.reason,
  review: row.review,
  actions: row.actions,
  level: row.level,
  before: row.before,
  after: row.after,
});
