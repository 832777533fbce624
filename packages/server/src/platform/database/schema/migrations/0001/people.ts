// Accounts, their identities and sessions, and which accounts belong to one human.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import type { Statement } from "./statements.ts";

export const peopleTables = ({ bytes, text }: Dialect): Statement[] => [
  sql`create table users (
    id ${text} primary key,
    name text not null,
    email text,
    email_key ${text} unique,
    owner integer not null,
    owner_from_group integer not null default 0,
    created_at bigint not null,
    signed_in_at bigint,
    rights_at bigint not null,
    password text,
    totp ${bytes},
    totp_step bigint not null default 0,
    recovery text
  )`,
  sql`create table identities (
    issuer ${text} not null,
    subject ${text} not null,
    user_id ${text} not null references users (id) on delete cascade,
    constraint identities_key primary key (issuer, subject)
  )`,
  sql`create index identities_by_user on identities (user_id)`,

  sql`create table sign_in_links (
    hash ${bytes} primary key,
    key_ids text not null,
    user_id ${text},
    invited_by ${text},
    expires_at bigint not null
  )`,
  sql`create table sessions (
    hash ${bytes} primary key,
    id ${text} not null,
    key_ids text not null,
    user_id ${text},
    link_keys text,
    method text not null,
    created_at bigint not null,
    signed_in_at bigint not null,
    rights_at bigint,
    address text,
    agent text,
    provider_token ${bytes},
    used_at bigint not null,
    ends_at bigint not null
  )`,
  sql`create index sessions_by_end on sessions (ends_at)`,
  sql`create index sessions_by_user on sessions (user_id)`,

  // What belongs to the whole store: one row.
  sql`create table installation (
    id ${text} primary key,
    address_key ${bytes} not null
  )`,
  sql`create table user_addresses (
    user_id ${text} not null references users (id) on delete cascade,
    hash ${text} not null,
    since bigint not null,
    constraint user_addresses_key primary key (user_id, hash)
  )`,
  sql`create index user_addresses_by_hash on user_addresses (hash)`,
  // Rows outlive their account, so that removing it doesn't separate it from the others.
  sql`create table linked_accounts (
    user_id ${text} primary key,
    human ${text} not null
  )`,
  sql`create index linked_accounts_by_human on linked_accounts (human)`,
];
