// The health of webhooks in SQL: counts are bounded, and every one of them has an index.
import { type ExpressionBuilder, sql } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";
import { dateOf } from "../../../platform/database/schema/times.ts";
import {
  type BlockingDelivery,
  blockingLimit,
  countLimit,
  type DeliveryHealth,
} from "./health-rules.ts";

const hour = 3_600_000;
const day = 24 * hour;

type OfWebhook = ExpressionBuilder<Tables, "webhooks">;

const inState = (webhook: OfWebhook, state: "pending" | "failed") =>
  webhook
    .selectFrom("deliveries")
    .whereRef("deliveries.webhook_id", "=", "webhooks.id")
    .where("deliveries.state", "=", sql.lit(state));

const positionsOf = (webhook: OfWebhook, state: "pending" | "failed") =>
  inState(webhook, state).select("deliveries.position").limit(sql.lit(countLimit));

const retryingOf = (webhook: OfWebhook) =>
  positionsOf(webhook, "pending").where("deliveries.attempts", ">", sql.lit(0));

const busyQueues = (webhook: OfWebhook) =>
  webhook
    .selectFrom("delivery_queues")
    .whereRef("delivery_queues.webhook_id", "=", "webhooks.id")
    .where("delivery_queues.due_at", "is not", null);

const lastCounts = (webhook: OfWebhook, column: "last_success_at" | "last_failure_at") =>
  webhook
    .selectFrom("attempt_counts")
    .whereRef("attempt_counts.webhook_id", "=", "webhooks.id")
    .where(`attempt_counts.${column}`, "is not", null)
    .orderBy("attempt_counts.slot", "desc")
    .limit(1);

/** The last deactivation by Halyard, of a webhook that is still deactivated. */
const deactivationOf = (webhook: OfWebhook) =>
  webhook
    .selectFrom("history")
    .select("history.after")
    .where("webhooks.active", "=", 0)
    .where("webhooks.failing_since", "is not", null)
    .whereRef("history.environment_id", "=", "webhooks.environment_id")
    .where("history.subject", "=", "webhook")
    .whereRef("history.subject_id", "=", "webhooks.id")
    .where("history.actions", "=", JSON.stringify(["webhook.deactivated"]))
    .orderBy("history.id", "desc")
    .limit(1);

const reasonIn = (after: string | null): string | null => {
  const { reason = null } = JSON.parse(after ?? "{}") as { reason?: string };
  return reason;
};

const none = { hourSucceeded: 0, hourFailed: 0, daySucceeded: 0, dayFailed: 0 };

const totalsOf = async ({ database }: Db, ids: readonly string[], now: number) => {
  if (ids.length === 0) return new Map<string, typeof none>();
  const rows = await database
    .selectFrom("attempt_counts")
    .select((counts) => {
      const within = (column: "succeeded" | "failed", since: number) =>
        counts.fn.sum(
          counts.case().when("slot", ">", since).then(counts.ref(column)).else(0).end(),
        );
      return [
        "webhook_id",
        within("succeeded", now - hour).as("hourSucceeded"),
        within("failed", now - hour).as("hourFailed"),
        counts.fn.sum("succeeded").as("daySucceeded"),
        counts.fn.sum("failed").as("dayFailed"),
      ];
    })
    .where("webhook_id", "in", idList(ids))
    .where("slot", ">", now - day)
    .groupBy("webhook_id")
    .execute();
  return new Map(
    rows.map((row) => [
      row.webhook_id,
      {
        hourSucceeded: Number(row.hourSucceeded),
        hourFailed: Number(row.hourFailed),
        daySucceeded: Number(row.daySucceeded),
        dayFailed: Number(row.dayFailed),
      },
    ]),
  );
};

/** Of every webhook of an environment, oldest first, or of one. */
export const listHealth = async (
  db: Db,
  environmentId: number,
  now: Date,
  webhookId?: string,
): Promise<readonly DeliveryHealth[]> => {
  const rows = await db.database
    .selectFrom("webhooks")
    .select((webhook) => {
      const counted = (of: ReturnType<typeof positionsOf>) =>
        webhook.selectFrom(of.as("counted")).select((row) => row.fn.countAll().as("count"));
      return [
        "webhooks.id",
        "webhooks.active",
        "webhooks.failing_since",
        deactivationOf(webhook).as("deactivation"),
        counted(positionsOf(webhook, "pending")).as("pending"),
        counted(retryingOf(webhook)).as("retrying"),
        counted(positionsOf(webhook, "failed")).as("failed"),
        inState(webhook, "pending")
          .select("deliveries.created_at")
          .orderBy("deliveries.position")
          .limit(1)
          .as("oldest_pending_at"),
        busyQueues(webhook)
          .select((queue) => queue.fn.countAll().as("count"))
          .as("queues"),
        busyQueues(webhook)
          .select((queue) => queue.fn.min("delivery_queues.due_at").as("due_at"))
          .as("due_at"),
        lastCounts(webhook, "last_success_at")
          .select("attempt_counts.last_success_at")
          .as("last_success_at"),
        lastCounts(webhook, "last_failure_at")
          .select("attempt_counts.last_failure_at")
          .as("last_failure_at"),
        lastCounts(webhook, "last_failure_at").select("attempt_counts.last_error").as("last_error"),
      ];
    })
    .where("webhooks.environment_id", "=", environmentId)
    .$if(webhookId !== undefined, (rest) => rest.where("webhooks.id", "=", webhookId ?? ""))
    .orderBy("webhooks.created_at")
    .orderBy("webhooks.id")
    .execute();
  const totals = await totalsOf(
    db,
    rows.map(({ id }) => id),
    now.getTime(),
  );
  return rows.map((row): DeliveryHealth => {
    const total = totals.get(row.id) ?? none;
    const pending = Number(row.pending);
    return {
      webhookId: row.id,
      active: row.active === 1,
      failingSince: dateOf(row.failing_since),
      deactivatedFor: reasonIn(row.deactivation),
      pending,
      retrying: Number(row.retrying),
      // Of each queue all but the first wait for another.
      heldBack: Math.max(0, pending - Number(row.queues)),
      failed: Number(row.failed),
      oldestPendingAt: dateOf(row.oldest_pending_at),
      dueAt: dateOf(row.due_at === null ? null : Number(row.due_at)),
      lastHour: { succeeded: total.hourSucceeded, failed: total.hourFailed },
      lastDay: { succeeded: total.daySucceeded, failed: total.dayFailed },
      lastSuccessAt: dateOf(row.last_success_at),
      lastFailureAt: dateOf(row.last_failure_at),
      lastError: row.last_error,
    };
  });
};

/** The oldest deliveries that are retried. */
export const listBlocking = async (
  { database }: Db,
  webhookId: string,
): Promise<readonly BlockingDelivery[]> => {
  const rows = await database
    .selectFrom("deliveries")
    .innerJoin("events", "events.id", "deliveries.event_id")
    .leftJoin("delivery_queues", "delivery_queues.id", "deliveries.queue_id")
    .leftJoin("attempts", (join) =>
      join
        .onRef("attempts.position", "=", "deliveries.position")
        .onRef("attempts.number", "=", "deliveries.attempts"),
    )
    .select((delivery) => [
      "deliveries.id",
      "deliveries.attempts",
      "events.ordering_key",
      "delivery_queues.due_at",
      "attempts.error",
      delivery
        .selectFrom(
          delivery
            .selectFrom("deliveries as later")
            .select("later.position")
            .whereRef("later.queue_id", "=", "deliveries.queue_id")
            .where("later.state", "=", sql.lit("pending"))
            .whereRef("later.position", ">", "deliveries.position")
            .limit(sql.lit(countLimit))
            .as("behind"),
        )
        .select((row) => row.fn.countAll().as("count"))
        .as("held_back"),
    ])
    .where("deliveries.webhook_id", "=", webhookId)
    .where("deliveries.state", "=", sql.lit("pending"))
    .where("deliveries.attempts", ">", sql.lit(0))
    .orderBy("deliveries.position")
    .limit(blockingLimit)
    .execute();
  return rows.map((row) => ({
    deliveryId: row.id,
    orderingKey: row.ordering_key,
    attempts: row.attempts,
    error: row.error,
    dueAt: dateOf(row.due_at),
    heldBack: Number(row.held_back),
  }));
};
