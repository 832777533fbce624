// Flags, segments, how often flags are evaluated, and evaluations that failed.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import { environmentColumn, type Statement } from "./statements.ts";

export const flagTables = ({ text }: Dialect): Statement[] => [
  sql`create table flags (
    ${environmentColumn},
    key ${text} not null,
    type text not null,
    enabled integer not null,
    thousandths integer,
    description text,
    definition text,
    level integer,
    version bigint not null,
    constraint flags_key primary key (environment_id, key)
  )`,
  sql`create table flag_references (
    ${environmentColumn},
    flag_key ${text} not null,
    kind ${text} not null,
    key ${text} not null,
    variant text,
    constraint flag_references_key primary key (environment_id, flag_key, kind, key)
  )`,
  sql`create index flag_references_by_key on flag_references (environment_id, kind, key)`,

  sql`create table segments (
    ${environmentColumn},
    key ${text} not null,
    description text,
    condition text,
    include_count integer not null,
    exclude_count integer not null,
    version integer not null,
    constraint segments_key primary key (environment_id, key)
  )`,
  sql`create table segment_members (
    ${environmentColumn},
    segment_key ${text} not null,
    list ${text} not null,
    member ${text} not null,
    constraint segment_members_key primary key (environment_id, segment_key, list, member)
  )`,

  sql`create table usage (
    ${environmentColumn},
    flag_key ${text} not null,
    hour bigint not null,
    on_count bigint not null,
    off_count bigint not null,
    last_at bigint not null,
    constraint usage_key primary key (environment_id, flag_key, hour)
  )`,
  sql`create index usage_by_hour on usage (environment_id, hour)`,
  sql`create table usage_counts (
    ${environmentColumn},
    flag_key ${text} not null,
    hour bigint not null,
    kind ${text} not null,
    name ${text} not null,
    count bigint not null,
    constraint usage_counts_key primary key (environment_id, flag_key, hour, kind, name)
  )`,
  sql`create index usage_counts_by_hour on usage_counts (environment_id, hour)`,
  sql`create table evaluation_errors (
    ${environmentColumn},
    key_id ${text} not null,
    code ${text} not null,
    flag_key ${text} not null,
    program ${text} not null,
    count bigint not null,
    last_at bigint not null,
    constraint evaluation_errors_key primary key (environment_id, key_id, code, flag_key, program)
  )`,
  sql`create index evaluation_errors_by_time on evaluation_errors (last_at)`,
];
