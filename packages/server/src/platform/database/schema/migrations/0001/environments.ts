// Environments, their API keys, and what instances tell each other.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import { environmentColumn, type Statement } from "./statements.ts";

export const environmentTables = ({ bytes, identity, text }: Dialect): Statement[] => [
  sql`create table environments (
    id ${identity},
    name ${text} not null unique,
    revision bigint not null,
    sequence bigint not null,
    flag_count integer not null,
    segment_count integer not null default 0,
    definition_bytes bigint not null default 0,
    definition_work bigint not null default 0,
    keys_revision bigint not null default 0,
    chain text not null,
    created_at bigint not null,
    changed_at bigint,
    label text,
    protected integer not null default 0,
    max_flips integer,
    expires_at bigint,
    copy_of bigint
  )`,
  sql`create table removed_environments (
    id bigint primary key,
    name ${text} not null,
    flags integer not null,
    webhooks integer not null,
    keys integer not null,
    began_at bigint not null,
    ended_at bigint,
    actor text not null
  )`,

  // A person's access to an environment is a key without a text.
  sql`create table api_keys (
    id ${text} primary key,
    ${environmentColumn},
    kind text not null default 'key',
    name ${text} not null,
    role text not null,
    hash ${bytes} not null unique,
    given integer not null default 0,
    origins text,
    user_id ${text},
    from_group integer not null default 0,
    hand_role text,
    writes_directly integer not null default 0,
    max_flips integer,
    created_by ${text},
    created_at bigint not null,
    last_used_at bigint,
    expires_at bigint,
    revoked_at bigint
  )`,
  sql`create index api_keys_by_environment on api_keys (environment_id)`,
  sql`create index api_keys_by_user on api_keys (user_id)`,

  sql`create table idempotency_records (
    key_id ${text} not null references api_keys (id) on delete cascade,
    name ${text} not null,
    fingerprint text not null,
    sealed ${bytes} not null,
    expires_at bigint not null,
    constraint idempotency_records_key primary key (key_id, name)
  )`,
  sql`create index idempotency_records_by_expiry on idempotency_records (expires_at)`,
  sql`create index idempotency_records_by_key_and_expiry on idempotency_records (key_id, expires_at)`,

  sql`create table instances (
    id ${text} primary key,
    name text not null,
    version text not null,
    started_at bigint not null,
    seen_at bigint not null,
    clock bigint not null,
    body text not null
  )`,
];
