// Records the outcomes of claimed deliveries and the health of their webhooks.
import { sql } from "kysely";
import { halyard } from "../../../platform/auth/principal.ts";
import type { Db } from "../../../platform/database/db.ts";
import { appendEntry, lockHead } from "../../../platform/database/schema/chain.ts";
import type { Dialect } from "../../../platform/database/schema/dialect.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import { prepared, rowsToWrite, type Value } from "../../../platform/database/schema/prepared.ts";
import type { Database } from "../../../platform/database/schema/tables.ts";
import type { NewHistoryEntry } from "../../../writes/history-entry.ts";
import { countAttempts, writeAttempts } from "./attempt-queries.ts";
import type { Claim, DeliveryBatch, DeliveryResult, WebhookHealth } from "./batch.ts";
import { oldestPending } from "./oldest-pending.ts";

/** What a batch records. */
export type Outcomes = Omit<DeliveryBatch, "claim">;

/** Locks the rows concerned; returns the outcomes whose lease no other worker has taken over. */
export const lockHeld = async (db: Db, outcomes: Outcomes): Promise<Outcomes> => {
  const [, , leases] = await Promise.all([
    lockEnvironments(db, outcomes),
    lockWebhooks(db, outcomes),
    lockLeases(db, outcomes),
  ]);
  const isHeld = ({ queueId, leaseId }: Claim) => leases.get(queueId) === leaseId;
  return {
    ...outcomes,
    results: outcomes.results.filter(({ claim }) => isHeld(claim)),
    released: outcomes.released.filter(isHeld),
  };
};

/** Whoever deactivates a webhook writes history, under the lock of its environment: before all others, as everybody takes it. */
const lockEnvironments = async ({ database, dialect }: Db, { health }: Outcomes): Promise<void> => {
  const ids = health.flatMap(({ webhookId, deactivate }) => (deactivate ? [webhookId] : []));
  if (!dialect.locksRows || ids.length === 0) return;
  await database
    .selectFrom("environments")
    .select("id")
    .where("id", "in", (environment) =>
      environment
        .selectFrom("webhooks")
        .select("webhooks.environment_id")
        .where("webhooks.id", "in", idList(ids)),
    )
    .orderBy("name")
    .$call(dialect.locked)
    .execute();
};

const lockWebhooks = async ({ database, dialect }: Db, { health }: Outcomes): Promise<void> => {
  if (!dialect.locksRows || health.length === 0) return;
  await database
    .selectFrom("webhooks")
    .select("id")
    .where("id", "in", idList(health.map(({ webhookId }) => webhookId)))
    .orderBy("id")
    .$call(dialect.locked)
    .execute();
};

const selectLeases = (database: Database, dialect: Dialect) =>
  database
    .selectFrom("delivery_queues")
    .select(["id", "lease_id"])
    .orderBy("webhook_id")
    .orderBy("ordering_key")
    .orderBy("priority")
    .$call(dialect.locked);

const leasesOf = prepared((database, value: Value<{ ids: unknown }>, dialect: Dialect) =>
  selectLeases(database, dialect).where(dialect.isIn("id", value("ids"))),
);

/** With those that writeHealth makes due earlier. */
const leasesAround = prepared(
  (database, value: Value<{ ids: unknown; recovered: unknown; now: number }>, dialect: Dialect) =>
    selectLeases(database, dialect).where((queue) =>
      queue.or([
        dialect.isIn("id", value("ids")),
        queue.and([
          dialect.isIn("webhook_id", value("recovered")),
          queue("due_at", ">", value("now")),
        ]),
      ]),
    ),
);

const lockLeases = async (
  { database, dialect }: Db,
  { results, released, health, now }: Outcomes,
): Promise<ReadonlyMap<number, string | null>> => {
  const claims = [...results.map(({ claim }) => claim), ...released];
  const recovered = health.flatMap((each) => (each.recovered ? [each.webhookId] : []));
  const isWide = dialect.locksRows && recovered.length > 0;
  if (claims.length === 0 && !isWide) return new Map();
  const ids = dialect.list(claims.map(({ queueId }) => queueId));
  const rows = await (isWide
    ? leasesAround.run(database, { ids, recovered: dialect.list(recovered), now }, dialect)
    : leasesOf.run(database, { ids }, dialect));
  return new Map(rows.map(({ id, lease_id }) => [id, lease_id]));
};

export const writeOutcomes = async (
  db: Db,
  { results, released, health, now }: Outcomes,
): Promise<void> => {
  await writeAttempts(db, results, now);
  await reopenQueues(db, results, now);
  await release(db, released);
  for (const each of health) await writeHealth(db, each, now);
  // Last, and sorted: nothing else is waited for while these rows are locked.
  await countAttempts(db, results, now);
};

const noLease = { lease_id: null, lease_until: 0 } as const;

const releaseQueues = prepared((database, value: Value<{ ids: unknown }>, dialect: Dialect) =>
  database
    .updateTable("delivery_queues")
    .set(noLease)
    .where(dialect.isIn("id", value("ids"))),
);

const release = async ({ database, dialect }: Db, claims: readonly Claim[]): Promise<void> => {
  if (claims.length === 0) return;
  const ids = dialect.list(claims.map(({ queueId }) => queueId));
  await releaseQueues.send(database, { ids }, dialect);
};

const postponeQueues = rowsToWrite(
  { numbers: ["id", "due_at", "not_before"], texts: [] },
  (_, { column, from, isRowOf }) =>
    sql`update delivery_queues set lease_id = null, lease_until = 0, due_at = ${column("due_at")},
      not_before = ${column("not_before")} ${from} where ${isRowOf("delivery_queues", "id")}`,
);

const continueQueues = prepared(
  (database, value: Value<{ ids: unknown; now: number }>, dialect: Dialect) =>
    database
      .updateTable("delivery_queues")
      .set((queue) => ({
        ...noLease,
        not_before: 0,
        due_at: queue
          .case()
          .when(oldestPending(queue), "is not", null)
          .then(sql<number>`cast(${value("now")} as bigint)`)
          .else(null)
          .end(),
      }))
      .where(dialect.isIn("id", value("ids"))),
);

/** Ends the leases: a queue continues with its next delivery at once, waits for a retry, or is idle. */
const reopenQueues = async (
  { database, dialect }: Db,
  results: readonly DeliveryResult[],
  now: number,
): Promise<void> => {
  const finished: number[] = [];
  const waiting: { id: number; due_at: number; not_before: number }[] = [];
  for (const { claim, decision } of results) {
    if (decision.kind !== "retry") finished.push(claim.queueId);
    else waiting.push({ id: claim.queueId, due_at: decision.at, not_before: decision.notBefore });
  }
  if (waiting.length > 0) await postponeQueues(database, dialect, waiting);
  if (finished.length > 0) {
    await continueQueues.send(database, { ids: dialect.list(finished), now }, dialect);
  }
};

const writeHealth = async (
  db: Db,
  { webhookId, failing, deactivate, recovered }: WebhookHealth,
  now: number,
): Promise<void> => {
  const { database } = db;
  const outage = recovered ? await outageOf(db, webhookId, now) : 0;
  await database
    .updateTable("webhooks")
    // One that is deactivated stays failing, whatever the requests beside the last one came to.
    .set({
      failing_since: failing?.since ?? (deactivate === null ? null : now),
      failing_counted_at: failing?.countedAt ?? null,
      failing_for: failing?.lasted ?? null,
    })
    .where("id", "=", webhookId)
    .where("active", "=", 1)
    .execute();
  if (deactivate !== null) await switchOff(db, webhookId, deactivate, now);
  if (!recovered) return;
  await database
    .updateTable("delivery_queues")
    .set((queue) => ({
      due_at: queue
        .case()
        .when("not_before", ">", now)
        .then(queue.ref("not_before"))
        .else(now)
        .end(),
    }))
    .where("webhook_id", "=", webhookId)
    .where("due_at", ">", now)
    .where("due_at", "<=", now + waitAfterOutage * outage)
    .execute();
};

/**
 * By the schedule and its jitter, what failed during an outage waits at most this many times as long as the outage. What
 * waits longer failed before it and would fail again: an earlier attempt would only use up its attempts.
 */
const waitAfterOutage = 10;
const shortestOutage = 1_000;

/** Milliseconds for which the webhook has been failing. */
const outageOf = async ({ database }: Db, id: string, now: number): Promise<number> => {
  const row = await database
    .selectFrom("webhooks")
    .select("failing_since")
    .where("id", "=", id)
    .executeTakeFirst();
  return Math.max(now - (row?.failing_since ?? now), shortestOutage);
};

const switchOff = async (
  { database, dialect }: Db,
  id: string,
  reason: string,
  now: number,
): Promise<void> => {
  const row = await database
    .updateTable("webhooks")
    .set({ active: 0 })
    .where("id", "=", id)
    .where("active", "=", 1)
    .returning(["environment_id", "url", "events"])
    .executeTakeFirst();
  if (!row) return;
  const shown = { id, url: row.url, events: JSON.parse(row.events) as unknown };
  const entry: NewHistoryEntry = {
    subject: "webhook",
    subjectId: id,
    version: null,
    at: new Date(now),
    actor: halyard,
    actions: ["webhook.deactivated"],
    before: { ...shown, active: true },
    after: { ...shown, active: false, reason },
  };
  const head = await lockHead(database, dialect, row.environment_id);
  if (head) await appendEntry(database, row.environment_id, head, entry);
};
