// A history entry as a row.
import type { Selectable } from "kysely";
import type { ChainedEntry, StoredEntry } from "../../../writes/chained-entry.ts";
import type { Actor } from "../../auth/principal.ts";
import { prepared, type Value } from "./prepared.ts";
import type { Tables } from "./tables.ts";

export const historyRow = (environmentId: number, of: Value<ChainedEntry>) => ({
  environment_id: environmentId,
  revision: of("revision"),
  subject: of("subject"),
  subject_id: of("subjectId"),
  version: of("version"),
  at: of("at"),
  actor_key_id: of("actorKeyId"),
  actor_name: of("actorName"),
  actor_user_id: of("actorUserId"),
  actor_user_name: of("actorUserName"),
  reason: of("reason"),
  actions: of("actions"),
  before: of("before"),
  after: of("after"),
  level: of("level"),
  review: of("review"),
  digest: of("digest"),
  chain: of("chain"),
});

export const insertHistory = prepared(
  (database, value: Value<ChainedEntry & { readonly environmentId: number }>) =>
    database.insertInto("history").values(historyRow(value("environmentId"), value)),
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

/** Who a row names. */
export const actorOf = (
  row: Pick<
    Selectable<Tables["history"]>,
    "actor_key_id" | "actor_name" | "actor_user_id" | "actor_user_name"
  >,
): Actor => ({
  keyId: row.actor_key_id,
  name: row.actor_name,
  ...(row.actor_user_id !== null && {
    user: { id: row.actor_user_id, name: row.actor_user_name ?? row.actor_name },
  }),
});
