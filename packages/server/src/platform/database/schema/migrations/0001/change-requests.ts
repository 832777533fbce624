// Change requests, their approvals and comments.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import type { Statement } from "./statements.ts";

export const changeRequestTables = ({ text }: Dialect): Statement[] => [
  sql`create table change_requests (
    id ${text} primary key,
    environment_id bigint not null references environments (id),
    state text not null,
    title text not null,
    reason text,
    author text not null,
    authors text not null,
    created_at bigint not null,
    updated_at bigint not null,
    apply_at bigint,
    applied_at bigint,
    applied_revision bigint,
    closed_by text,
    bypass text,
    summary text not null,
    operations text not null
  )`,
  sql`create index change_requests_by_time on change_requests (environment_id, created_at, id)`,
  sql`create index change_requests_by_state on change_requests (environment_id, state, created_at, id)`,
  sql`create index change_requests_due on change_requests (apply_at) where state = 'approved'`,

  sql`create table change_request_entries (
    request_id ${text} not null references change_requests (id) on delete cascade,
    number integer not null,
    kind text not null,
    at bigint not null,
    actor text not null,
    text text,
    voided integer not null default 0,
    constraint change_request_entries_key primary key (request_id, number)
  )`,
];
