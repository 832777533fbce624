// History, its checkpoints, and the indexes that its filters read.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import { environmentColumn, type Statement } from "./statements.ts";

export const historyTables = ({ identity, text }: Dialect): Statement[] => [
  sql`create table history (
    id ${identity},
    ${environmentColumn},
    revision bigint,
    subject ${text} not null,
    subject_id ${text} not null,
    version bigint,
    at bigint not null,
    actor_key_id text,
    actor_name text not null,
    actor_user_id text,
    actor_user_name text,
    actions text not null,
    before text,
    after text,
    level integer,
    reason text,
    review text,
    digest text,
    chain text
  )`,
  sql`create unique index history_by_revision on history (environment_id, revision)`,
  sql`create index history_by_environment on history (environment_id, id)`,
  sql`create index history_by_subject on history (environment_id, subject, subject_id, id)`,
  sql`create index history_without_flags on history (environment_id, subject, id)
    where revision is null`,
  sql`create index history_of_creations on history (environment_id, subject, subject_id, id)
    where before is null`,

  // Each filter has an index in the order of the page, so that its first page reads what it shows and nothing else.
  sql`create index history_by_time on history (environment_id, at, id)`,
  sql`create index history_by_kind_and_time on history (environment_id, subject, at, id)`,
  sql`create index history_by_actor_name on history (environment_id, actor_name, at, id)`,
  sql`create index history_by_actor_key on history (environment_id, actor_key_id, at, id)`,
  sql`create index history_by_actor_user on history (environment_id, actor_user_id, at, id)
    where actor_user_id is not null`,
  sql`create index history_of_deletions on history (environment_id, at, id) where after is null`,
  sql`create index history_of_deletions_by_kind on history (environment_id, subject, at, id)
    where after is null`,

  sql`create table history_checkpoints (
    id ${identity},
    ${environmentColumn},
    entry_id bigint not null,
    kind text not null,
    statement text not null,
    key_id text not null,
    hmac text not null
  )`,
  sql`create index history_checkpoints_by_entry on history_checkpoints (environment_id, entry_id, id)`,
];
