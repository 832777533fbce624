// Claims due deliveries for one worker: the oldest of each ordering queue at most, under a lease.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import type { Callback, Claim, Claimed, ClaimRequest } from "../../domain/webhooks/outbox.ts";
import { furthestRetry } from "../../domain/webhooks/retry.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { idList } from "../schema/id-list.ts";
import type { Database, Tables } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";

/** No worker holds the queue: its lease has expired, or ends so late that the clock was set back since. */
export const isFree =
  (now: number, leaseLength: number) =>
  (queue: ExpressionBuilder<Tables, "lanes">): Expression<SqlBool> =>
    queue.or([
      queue("lanes.lease_until", "<=", now),
      queue("lanes.lease_until", ">", now + 2 * leaseLength),
    ]);

/** A queue is due when its time has come, or lies so far ahead that it was planned before the clock went back. */
export const dueRanges = (now: number) =>
  [
    ["<=", now],
    [">", now + furthestRetry],
  ] as const;

const attemptsOfOldest = (queue: ExpressionBuilder<Tables, "lanes">) =>
  queue
    .selectFrom("deliveries")
    .select("deliveries.attempts")
    .whereRef("deliveries.lane_id", "=", "lanes.id")
    .where("deliveries.state", "=", sql.lit("pending"))
    .orderBy("deliveries.position")
    .limit(1);

export const claim = async (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
  { wanted, held, probing, leaseId, leaseUntil, leaseLength }: ClaimRequest,
  now: number,
): Promise<Claimed> => {
  if (wanted.size === 0) return { claims: [], callbacks: new Map(), unreadable: [] };
  const { callbacks, unreadable } = await readCallbacks(database, secrets, [...wanted.keys()], now);
  // What all webhooks share is built once.
  const free = database
    .selectFrom("lanes")
    .select("id")
    // Implied by the next line, but without it neither database uses the index of due queues.
    .where("due_at", "is not", null)
    .where((queue) =>
      queue.or(dueRanges(now).map(([operator, time]) => queue("due_at", operator, time))),
    )
    .where(isFree(now, leaseLength))
    .orderBy("priority");
  const due = (webhookId: string, count: number) => {
    const own = held.get(webhookId) ?? [];
    return (
      free
        .where("webhook_id", "=", webhookId)
        .$if(own.length > 0, (query) => query.where("id", "not in", idList(own)))
        // A flag that the receiver always rejects must not use up the probes of the others.
        .$if(probing?.has(webhookId) ?? false, (query) => query.orderBy(attemptsOfOldest))
        .orderBy("due_at")
        .limit(count)
        .$call(traits.lockedIfFree)
        .execute()
    );
  };
  const found = await Promise.all(
    [...wanted].filter(([id]) => callbacks.has(id)).map(([id, count]) => due(id, count)),
  );
  const queueIds = found.flat().map(({ id }) => id);
  if (queueIds.length === 0) return { claims: [], callbacks, unreadable };
  await database
    .updateTable("lanes")
    .set({ lease_id: leaseId, lease_until: leaseUntil })
    .where("id", "in", idList(queueIds))
    .execute();
  const rows = await database
    .selectFrom("deliveries")
    .innerJoin("events", "events.id", "deliveries.event_id")
    .select([
      "deliveries.position",
      "deliveries.id",
      "deliveries.lane_id",
      "deliveries.webhook_id",
      "deliveries.attempts",
      "events.id as event_id",
      "events.type",
      "events.body",
    ])
    .where("deliveries.position", "in", (inner) =>
      inner
        .selectFrom("deliveries as pending")
        .select(({ fn }) => fn.min("pending.position").as("position"))
        .where("pending.lane_id", "in", idList(queueIds))
        .where("pending.state", "=", sql.lit("pending"))
        .groupBy("pending.lane_id"),
    )
    .execute();
  const claims = rows.map(
    (row): Claim => ({
      queueId: row.lane_id,
      leaseId,
      position: row.position,
      deliveryId: row.id,
      webhookId: row.webhook_id,
      attempts: row.attempts,
      event: { id: row.event_id, type: row.type, body: row.body },
    }),
  );
  // Sent as they were found: what has priority first.
  const places = new Map(queueIds.map((id, place) => [id, place]));
  const placeOf = ({ queueId }: Claim): number => places.get(queueId) ?? 0;
  claims.sort((a, b) => placeOf(a) - placeOf(b));
  return { claims, callbacks, unreadable };
};

/** The active ones of these webhooks, with their secrets. */
const readCallbacks = async (
  database: Database,
  secrets: SecretCipher,
  ids: readonly string[],
  now: number,
): Promise<Pick<Claimed, "callbacks" | "unreadable">> => {
  const rows = await database
    .selectFrom("webhooks")
    .select([
      "id",
      "environment_id",
      "url",
      "secret",
      "previous_secret",
      "previous_until",
      "failing_since",
      "cloud_events",
    ])
    .where("id", "in", idList(ids))
    .where("active", "=", 1)
    .execute();
  const callbacks = new Map<string, Callback>();
  const unreadable: string[] = [];
  for (const row of rows) {
    const previous = (row.previous_until ?? 0) > now ? row.previous_secret : null;
    try {
      callbacks.set(row.id, {
        webhookId: row.id,
        environmentId: row.environment_id,
        url: row.url,
        failingSince: row.failing_since,
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
