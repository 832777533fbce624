// Events, webhooks, and the deliveries between them.
import { sql } from "kysely";
import type { Dialect } from "../../dialect.ts";
import { environmentColumn, type Statement } from "./statements.ts";

export const deliveryTables = ({ bytes, identity, text }: Dialect): Statement[] => [
  sql`create table events (
    id ${text} primary key,
    ${environmentColumn},
    sequence bigint,
    type text not null,
    ordering_key ${text},
    created_at bigint not null,
    body ${bytes} not null
  )`,
  sql`create unique index events_by_sequence on events (environment_id, sequence)`,
  sql`create index events_by_time on events (created_at)`,
  sql`create index events_by_environment_and_time on events (environment_id, created_at)`,

  sql`create table webhooks (
    id ${text} primary key,
    ${environmentColumn},
    url text not null,
    events text not null,
    active integer not null,
    secret ${bytes} not null,
    previous_secret ${bytes},
    previous_until bigint,
    failing_since bigint,
    failing_counted_at bigint,
    failing_for bigint,
    cloud_events integer not null,
    created_at bigint not null
  )`,
  sql`create index webhooks_by_environment on webhooks (environment_id)`,

  sql`create table delivery_queues (
    id ${identity},
    webhook_id ${text} not null references webhooks (id) on delete cascade,
    ordering_key ${text} not null,
    priority integer not null,
    due_at bigint,
    not_before bigint not null default 0,
    lease_id ${text},
    lease_until bigint not null
  )`,
  sql`create unique index delivery_queues_by_key
    on delivery_queues (webhook_id, ordering_key, priority)`,
  sql`create index delivery_queues_due on delivery_queues (webhook_id, priority, due_at)
    where due_at is not null`,

  sql`create table deliveries (
    position ${identity},
    id ${text} not null unique,
    webhook_id ${text} not null references webhooks (id) on delete cascade,
    queue_id bigint not null,
    event_id ${text} not null references events (id) on delete cascade,
    sequence bigint,
    kind text not null,
    state ${text} not null,
    attempts integer not null,
    created_at bigint not null,
    settled_at bigint
  )`,
  sql`create index deliveries_by_event on deliveries (event_id)`,
  sql`create index deliveries_by_webhook on deliveries (webhook_id, position)`,
  sql`create index deliveries_pending on deliveries (queue_id, position) where state = 'pending'`,
  sql`create index deliveries_pending_by_webhook on deliveries (webhook_id, position)
    where state = 'pending'`,
  sql`create index deliveries_retrying on deliveries (webhook_id, position)
    where state = 'pending' and attempts > 0`,
  sql`create index deliveries_failed on deliveries (webhook_id, position) where state = 'failed'`,

  sql`create table attempts (
    position bigint not null references deliveries (position) on delete cascade,
    number integer not null,
    at bigint not null,
    milliseconds integer not null,
    status integer,
    error text,
    response text,
    constraint attempts_key primary key (position, number)
  )`,
  // Without a reference to webhooks, so that recording an outcome and deleting the webhook don't wait for each other. What is left
  // over is deleted by its age.
  sql`create table attempt_counts (
    webhook_id ${text} not null,
    slot bigint not null,
    succeeded bigint not null,
    failed bigint not null,
    last_success_at bigint,
    last_failure_at bigint,
    last_error text,
    constraint attempt_counts_key primary key (webhook_id, slot)
  )`,
  sql`create index attempt_counts_by_slot on attempt_counts (slot)`,

  sql`create table replays (
    webhook_id ${text} primary key references webhooks (id) on delete cascade,
    reached bigint not null,
    last_sequence bigint not null,
    from_time bigint,
    to_time bigint,
    replayed bigint not null,
    through_sequence bigint,
    state text not null,
    started_at bigint not null,
    ended_at bigint
  )`,
];
