// What is due, and claims of it for one worker: the oldest delivery of each ordering queue at most, under a lease.
import {
  type Expression,
  type ExpressionBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import type { Dialect } from "../../../platform/database/schema/dialect.ts";
import { prepared, type Value } from "../../../platform/database/schema/prepared.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";
import type { Backlog, Callback, Claim, Claimed, ClaimRequest } from "./batch.ts";
import { oldestPending } from "./oldest-pending.ts";
import { type Failing, furthestRetry } from "./rules.ts";

/** The times that a queue is compared with. */
interface Times {
  readonly now: number;
  /** A lease that ends after this was taken before the clock was set back. */
  readonly longestLease: number;
  /** What is due after this was planned before the clock was set back. */
  readonly latestRetry: number;
}

const timesAt = (now: number, leaseLength: number): Times => ({
  now,
  longestLease: now + 2 * leaseLength,
  latestRetry: now + furthestRetry,
});

/** No worker holds the queue. */
const isFree =
  ({ now, longestLease }: Times) =>
  (queue: ExpressionBuilder<Tables, "delivery_queues">): Expression<SqlBool> =>
    queue.or([
      queue("delivery_queues.lease_until", "<=", now),
      queue("delivery_queues.lease_until", ">", longestLease),
    ]);

/** A queue is due when its time is in one of these. */
const dueRanges = ({ now, latestRetry }: Times) =>
  [
    ["<=", now],
    [">", latestRetry],
  ] as const;

/** Active webhooks with something due. */
export const listDue = async (
  { database }: Db,
  now: number,
  leaseLength: number,
): Promise<readonly string[]> => {
  const times = timesAt(now, leaseLength);
  const rows = await database
    .selectFrom("webhooks")
    .select("webhooks.id")
    .where("webhooks.active", "=", 1)
    .where((webhook) =>
      // One look into the index for each range: a single one for both would read every queue that waits.
      webhook.or(
        dueRanges(times).map(([operator, time]) =>
          webhook.exists(
            webhook
              .selectFrom("delivery_queues")
              .select("delivery_queues.id")
              .whereRef("delivery_queues.webhook_id", "=", "webhooks.id")
              .where("delivery_queues.priority", "in", [0, 1])
              .where("delivery_queues.due_at", operator, time)
              .where(isFree(times)),
          ),
        ),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
};

/** High enough to see growth, low enough to count quickly. */
const backlogLimit = 100_000;

export const findBacklog = async ({ database }: Db, now: number): Promise<Backlog> => {
  const pending = await database
    .selectFrom((first) =>
      first
        .selectFrom("deliveries")
        .select("deliveries.position")
        .where("deliveries.state", "=", sql.lit("pending"))
        .limit(backlogLimit)
        .as("pending"),
    )
    .select((row) => row.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  const oldest = await database
    .selectFrom("webhooks")
    .innerJoin("delivery_queues", "delivery_queues.webhook_id", "webhooks.id")
    .select((queue) => queue.fn.min("delivery_queues.due_at").as("due_at"))
    .where("webhooks.active", "=", 1)
    .where("delivery_queues.due_at", "<=", now)
    .executeTakeFirst();
  const due = oldest?.due_at ?? null;
  return {
    pending: Number(pending?.count ?? 0),
    oldestDueAt: due === null ? null : Number(due),
  };
};

const attemptsOfOldest = (queue: ExpressionBuilder<Tables, "delivery_queues">) =>
  queue
    .selectFrom("deliveries")
    .select("deliveries.attempts")
    .whereRef("deliveries.queue_id", "=", "delivery_queues.id")
    .where("deliveries.state", "=", sql.lit("pending"))
    .orderBy("deliveries.position")
    .limit(1);

interface DueValues extends Times {
  readonly webhookId: string;
  readonly held: unknown;
  readonly count: number;
}

const dueQueues = (isProbing: boolean) =>
  prepared((database, value: Value<DueValues>, dialect: Dialect) => {
    const times = {
      now: value("now"),
      longestLease: value("longestLease"),
      latestRetry: value("latestRetry"),
    };
    const due = database
      .selectFrom("delivery_queues")
      .select("id")
      .where("webhook_id", "=", value("webhookId"))
      // Implied by the next line, but without it neither database uses the index of due queues.
      .where("due_at", "is not", null)
      .where((queue) =>
        queue.or(dueRanges(times).map(([operator, time]) => queue("due_at", operator, time))),
      )
      .where(isFree(times))
      .where((queue) => queue.not(dialect.isIn("id", value("held"))))
      .orderBy("priority");
    // A flag that the receiver always rejects must not use up the probes of the others.
    return (isProbing ? due.orderBy(attemptsOfOldest) : due)
      .orderBy("due_at")
      .limit(value("count"))
      .$call(dialect.lockedIfFree);
  });
const dueInOrder = dueQueues(false);
const dueToProbe = dueQueues(true);

const leaseQueues = prepared(
  (
    database,
    value: Value<{ ids: unknown; leaseId: string; leaseUntil: number }>,
    dialect: Dialect,
  ) =>
    database
      .updateTable("delivery_queues")
      .set({ lease_id: value("leaseId"), lease_until: value("leaseUntil") })
      .where(dialect.isIn("id", value("ids"))),
);

const oldestOfQueues = prepared((database, value: Value<{ ids: unknown }>, dialect: Dialect) =>
  database
    .selectFrom("delivery_queues")
    .innerJoin("deliveries", (join) => join.on("deliveries.position", "=", oldestPending))
    .innerJoin("events", "events.id", "deliveries.event_id")
    .select([
      "deliveries.position",
      "deliveries.id",
      "deliveries.queue_id",
      "deliveries.webhook_id",
      "deliveries.attempts",
      "events.id as event_id",
      "events.type",
      "events.body",
    ])
    .where(dialect.isIn("delivery_queues.id", value("ids"))),
);

export const claim = async (
  db: Db,
  { wanted, held, probing, leaseId, leaseUntil, leaseLength }: ClaimRequest,
  now: number,
): Promise<Claimed> => {
  if (wanted.size === 0) return { claims: [], callbacks: new Map(), unreadable: [] };
  const { database, dialect } = db;
  const { callbacks, unreadable } = await readCallbacks(db, wanted, now);
  const times = timesAt(now, leaseLength);
  const found = await Promise.all(
    [...wanted]
      .filter(([id]) => callbacks.has(id))
      .map(([webhookId, count]) => {
        const values = {
          ...times,
          webhookId,
          count,
          held: dialect.list(held.get(webhookId) ?? []),
        };
        const due = probing?.has(webhookId) ? dueToProbe : dueInOrder;
        return due.run(database, values, dialect);
      }),
  );
  const queueIds = found.flat().map(({ id }) => id);
  if (queueIds.length === 0) return { claims: [], callbacks, unreadable };
  const ids = dialect.list(queueIds);
  await leaseQueues.send(database, { ids, leaseId, leaseUntil }, dialect);
  const rows = await oldestOfQueues.run(database, { ids }, dialect);
  const byQueue = new Map(rows.map((row) => [row.queue_id, row]));
  // Sent as they were found: what has priority first.
  const claims = queueIds.flatMap((queueId): Claim[] => {
    const row = byQueue.get(queueId);
    if (!row) return [];
    const { position, id: deliveryId, webhook_id: webhookId, attempts } = row;
    const event = { id: row.event_id, type: row.type, body: row.body };
    return [{ queueId, leaseId, position, deliveryId, webhookId, attempts, event }];
  });
  return { claims, callbacks, unreadable };
};

const activeWebhooks = prepared((database, value: Value<{ ids: unknown }>, dialect: Dialect) =>
  database
    .selectFrom("webhooks")
    .select([
      "id",
      "environment_id",
      "url",
      "secret",
      "previous_secret",
      "previous_until",
      "failing_since",
      "failing_counted_at",
      "failing_for",
      "cloud_events",
    ])
    .where(dialect.isIn("id", value("ids")))
    .where("active", "=", 1),
);

/** Failures from before the upgrade have only the time of the first failure. */
const failingOf = (
  row: Pick<Selectable<Tables["webhooks"]>, "failing_since" | "failing_counted_at" | "failing_for">,
): Failing | null =>
  row.failing_since === null
    ? null
    : {
        since: row.failing_since,
        countedAt: row.failing_counted_at ?? row.failing_since,
        lasted: row.failing_for ?? 0,
      };

/** The active ones of these webhooks, with their secrets. */
const readCallbacks = async (
  { database, dialect, secrets }: Db,
  wanted: ClaimRequest["wanted"],
  now: number,
): Promise<Pick<Claimed, "callbacks" | "unreadable">> => {
  const rows = await activeWebhooks.run(
    database,
    { ids: dialect.list([...wanted.keys()]) },
    dialect,
  );
  const callbacks = new Map<string, Callback>();
  const unreadable: string[] = [];
  for (const row of rows) {
    const previous = (row.previous_until ?? 0) > now ? row.previous_secret : null;
    try {
      callbacks.set(row.id, {
        webhookId: row.id,
        environmentId: row.environment_id,
        url: row.url,
        failing: failingOf(row),
        cloudEvents: row.cloud_events === 1,
        secret: secrets.open(row.secret, row.id),
        previousSecret: previous === null ? undefined : secrets.open(previous, row.id),
      });
    } catch {
      // A webhook whose requests cannot be signed must not block the others.
      unreadable.push(row.id);
    }
  }
  return { callbacks, unreadable };
};
