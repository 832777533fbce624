// Writes down what became of claims, and how their webhooks are doing.
import { type Kysely, sql } from "kysely";
import type { NewHistoryEntry } from "../domain/history.ts";
import type { Claim, Settlement, WebhookHealth } from "../ports.ts";
import { historyRow } from "./history-row.ts";
import { idList } from "./id-list.ts";
import type { Tables } from "./tables.ts";

export const settle = async (
  database: Kysely<Tables>,
  settlements: readonly Settlement[],
  now: number,
): Promise<void> => {
  const held = await heldBy(database, settlements);
  await writeAttempts(database, held, now);
  await openLanes(database, held, now);
};

export const release = async (
  database: Kysely<Tables>,
  claims: readonly Claim[],
): Promise<void> => {
  for (const { laneId, leaseId } of claims) {
    await database
      .updateTable("lanes")
      .set({ lease_id: null, lease_until: 0 })
      .where("id", "=", laneId)
      .where("lease_id", "=", leaseId)
      .execute();
  }
};

/** The settlements whose lease nobody has taken over. */
const heldBy = async (
  database: Kysely<Tables>,
  settlements: readonly Settlement[],
): Promise<Settlement[]> => {
  if (settlements.length === 0) return [];
  const rows = await database
    .selectFrom("lanes")
    .select(["id", "lease_id"])
    .where("id", "in", idList(settlements.map(({ claim: { laneId } }) => laneId)))
    .execute();
  const leases = new Map(rows.map(({ id, lease_id }) => [id, lease_id]));
  return settlements.filter(({ claim: { laneId, leaseId } }) => leases.get(laneId) === leaseId);
};

const positionsOf = (settlements: readonly Settlement[]): number[] =>
  settlements.map(({ claim: { position } }) => position);

const writeAttempts = async (
  database: Kysely<Tables>,
  settlements: readonly Settlement[],
  now: number,
): Promise<void> => {
  if (settlements.length === 0) return;
  await database
    .insertInto("attempts")
    .values(
      settlements.map(({ claim: { position, attempts }, attempt }) => ({
        ...attempt,
        position,
        number: attempts + 1,
        at: attempt.at.getTime(),
      })),
    )
    .execute();
  const states = { delivered: "delivered", failed: "failed", retry: "pending" } as const;
  for (const [kind, state] of Object.entries(states)) {
    const those = settlements.filter(({ verdict }) => verdict.kind === kind);
    if (those.length === 0) continue;
    await database
      .updateTable("deliveries")
      .set(({ eb }) => ({
        state,
        attempts: eb("attempts", "+", 1),
        settled_at: state === "pending" ? null : now,
      }))
      .where("position", "in", idList(positionsOf(those)))
      .execute();
  }
};

/** Ends the leases: a lane goes on with its next delivery at once, waits for a retry, or is idle. */
const openLanes = async (
  database: Kysely<Tables>,
  settlements: readonly Settlement[],
  now: number,
): Promise<void> => {
  const free = { lease_id: null, lease_until: 0 } as const;
  const finished: number[] = [];
  for (const { claim: settled, verdict } of settlements) {
    if (verdict.kind !== "retry") {
      finished.push(settled.laneId);
      continue;
    }
    await database
      .updateTable("lanes")
      .set({ ...free, due_at: verdict.at, not_before: verdict.notBefore })
      .where("id", "=", settled.laneId)
      .execute();
  }
  if (finished.length === 0) return;
  await database
    .updateTable("lanes")
    .set((lane) => ({
      ...free,
      not_before: 0,
      due_at: lane
        .case()
        .when(
          lane.exists(
            lane
              .selectFrom("deliveries")
              .select("deliveries.position")
              .whereRef("deliveries.lane_id", "=", "lanes.id")
              .where("deliveries.state", "=", sql.lit("pending")),
          ),
        )
        .then(now)
        .else(null)
        .end(),
    }))
    .where("id", "in", idList(finished))
    .execute();
};

export const writeHealth = async (
  database: Kysely<Tables>,
  { webhookId, failingSince, deactivate, recovered }: WebhookHealth,
  now: number,
): Promise<void> => {
  const outage = recovered ? await outageOf(database, webhookId, now) : 0;
  await database
    .updateTable("webhooks")
    .set({ failing_since: failingSince })
    .where("id", "=", webhookId)
    .execute();
  if (deactivate !== null) await switchOff(database, webhookId, deactivate, now);
  if (!recovered) return;
  await database
    .updateTable("lanes")
    .set((lane) => ({
      due_at: lane.case().when("not_before", ">", now).then(lane.ref("not_before")).else(now).end(),
    }))
    .where("webhook_id", "=", webhookId)
    .where("due_at", ">", now)
    .where("due_at", "<=", now + waitAfterOutage * outage)
    .execute();
};

/**
 * What failed in an outage waits for at most so many times the outage's length, by the schedule and its jitter. What
 * waits for longer failed before it, and would fail again: bringing that forward too would use up its attempts.
 */
const waitAfterOutage = 10;
const shortestOutage = 1_000;

/** How long the webhook has failed, in milliseconds. */
const outageOf = async (database: Kysely<Tables>, id: string, now: number): Promise<number> => {
  const row = await database
    .selectFrom("webhooks")
    .select("failing_since")
    .where("id", "=", id)
    .executeTakeFirst();
  return Math.max(now - (row?.failing_since ?? now), shortestOutage);
};

const switchOff = async (
  database: Kysely<Tables>,
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
    actor: { keyId: null, name: "halyard" },
    actions: ["webhook.deactivated"],
    before: { ...shown, active: true },
    after: { ...shown, active: false, reason },
  };
  await database
    .insertInto("history")
    .values(historyRow(row.environment_id, entry, null))
    .execute();
};
