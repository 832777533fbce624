// Replays in SQL: one row for each webhook, of its last replay.
import { type Selectable, sql } from "kysely";
import type { Db, Tx } from "../../../platform/database/db.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";
import { dateOf } from "../../../platform/database/schema/times.ts";
import type { Replay, ReplayOutcome, ReplayState, RunningReplay, Times } from "./replay-rules.ts";

const columns = [
  "webhook_id",
  "reached",
  "last_sequence",
  "from_time",
  "to_time",
  "replayed",
  "through_sequence",
  "state",
  "started_at",
  "ended_at",
] as const;

const replayOf = (row: Pick<Selectable<Tables["replays"]>, (typeof columns)[number]>): Replay => ({
  webhookId: row.webhook_id,
  reached: row.reached,
  lastSequence: row.last_sequence,
  from: dateOf(row.from_time),
  to: dateOf(row.to_time),
  replayed: row.replayed,
  throughSequence: row.through_sequence,
  state: row.state as ReplayState,
  startedAt: new Date(row.started_at),
  endedAt: dateOf(row.ended_at),
});

/** The last replay of a webhook. */
export const findReplay = async (
  { database, locked }: Db,
  webhookId: string,
): Promise<Replay | undefined> => {
  const row = await database
    .selectFrom("replays")
    .select(columns)
    .where("webhook_id", "=", webhookId)
    .$call(locked)
    .executeTakeFirst();
  return row && replayOf(row);
};

export const listRunningReplays = async ({ database }: Db): Promise<readonly RunningReplay[]> => {
  const rows = await database
    .selectFrom("replays")
    .innerJoin("webhooks", "webhooks.id", "replays.webhook_id")
    .select(["replays.webhook_id", "webhooks.environment_id"])
    .where("replays.state", "=", "running")
    .where("webhooks.active", "=", 1)
    .execute();
  return rows.map((row) => ({ webhookId: row.webhook_id, environmentId: row.environment_id }));
};

/** How many replayed deliveries of a webhook are pending, `limit` at most. */
export const countPendingReplays = async (
  { database }: Db,
  webhookId: string,
  limit: number,
): Promise<number> => {
  const rows = await database
    .selectFrom("delivery_queues")
    .innerJoin("deliveries", "deliveries.queue_id", "delivery_queues.id")
    .select("deliveries.position")
    .where("delivery_queues.webhook_id", "=", webhookId)
    .where("delivery_queues.priority", "=", 1)
    .where("delivery_queues.due_at", "is not", null)
    .where("deliveries.state", "=", sql.lit("pending"))
    .limit(limit)
    .execute();
  return rows.length;
};

/** Of the deliveries that were replayed since a time. */
export const findReplayOutcome = async (
  { database }: Db,
  webhookId: string,
  since: Date,
): Promise<ReplayOutcome> => {
  const replayed = (state: "pending" | "failed") =>
    database
      .selectFrom("deliveries")
      .select(({ fn }) => fn.countAll().as("count"))
      .where("webhook_id", "=", webhookId)
      .where("state", "=", sql.lit(state))
      .where("kind", "=", "replay")
      .where("created_at", ">=", since.getTime())
      .executeTakeFirst();
  return {
    pending: Number((await replayed("pending"))?.count ?? 0),
    failed: Number((await replayed("failed"))?.count ?? 0),
  };
};

/** The sequence numbers of the first and the last event within times; undefined when there is none. */
export const findSequencesBetween = async (
  { database }: Db,
  environmentId: number,
  { from, to }: Times,
): Promise<{ readonly first: number; readonly last: number } | undefined> => {
  const events = database
    .selectFrom("events")
    .select("sequence")
    .where("environment_id", "=", environmentId)
    .where("sequence", "is not", null)
    .limit(1);
  // By time and not by number: that is where an index leads, however many events there are.
  const first = await events
    .where("created_at", ">=", from?.getTime() ?? 0)
    .orderBy("created_at")
    .orderBy("sequence")
    .executeTakeFirst();
  const last = await events
    .where("created_at", "<=", to?.getTime() ?? Number.MAX_SAFE_INTEGER)
    .orderBy("created_at", "desc")
    .orderBy("sequence", "desc")
    .executeTakeFirst();
  const isFound = first?.sequence != null && last?.sequence != null;
  return isFound ? { first: first.sequence ?? 0, last: last.sequence ?? 0 } : undefined;
};

export const saveReplay = async ({ database }: Tx, replay: Replay): Promise<void> => {
  const row = {
    reached: replay.reached,
    last_sequence: replay.lastSequence,
    from_time: replay.from?.getTime() ?? null,
    to_time: replay.to?.getTime() ?? null,
    replayed: replay.replayed,
    through_sequence: replay.throughSequence,
    state: replay.state,
    started_at: replay.startedAt.getTime(),
    ended_at: replay.endedAt?.getTime() ?? null,
  };
  await database
    .insertInto("replays")
    .values({ webhook_id: replay.webhookId, ...row })
    .onConflict((conflict) => conflict.column("webhook_id").doUpdateSet(row))
    .execute();
};
