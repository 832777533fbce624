// Writes the attempts of a batch and the new state of their deliveries, and counts the attempts of each webhook in slots of ten minutes,
// so that its health is read from a few rows.
import { sql } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import { rowsToWrite } from "../../../platform/database/schema/prepared.ts";
import type { DeliveryResult } from "./batch.ts";

const states = { delivered: "delivered", failed: "failed", retry: "pending" } as const;

const insertAttempts = rowsToWrite(
  {
    numbers: ["position", "number", "at", "milliseconds", "status"],
    texts: ["error", "response"],
  },
  (_, { column, from }) =>
    sql`insert into attempts (position, number, at, milliseconds, status, error, response)
    select ${column("position")}, ${column("number")}, ${column("at")}, ${column("milliseconds")},
      ${column("status")}, ${column("error")}, ${column("response")} ${from}`,
);

const updateDeliveries = rowsToWrite(
  { numbers: ["position", "settled_at"], texts: ["state"] },
  (_, { column, from, isRowOf }) =>
    sql`update deliveries
    set state = ${column("state")}, attempts = attempts + 1, settled_at = ${column("settled_at")}
    ${from} where ${isRowOf("deliveries", "position")}`,
);

export const writeAttempts = async (
  { database, dialect }: Db,
  results: readonly DeliveryResult[],
  now: number,
): Promise<void> => {
  if (results.length === 0) return;
  await insertAttempts(
    database,
    dialect,
    results.map(({ claim: { position, attempts }, attempt }) => ({
      ...attempt,
      position,
      number: attempts + 1,
      at: attempt.at.getTime(),
    })),
  );
  await updateDeliveries(
    database,
    dialect,
    results.map(({ claim: { position }, decision }) => ({
      position,
      state: states[decision.kind],
      settled_at: decision.kind === "retry" ? null : now,
    })),
  );
};

const slotLength = 600_000;
/** Rows deleted in one transaction. */
const pruneBatch = 500;

interface Counts {
  succeeded: number;
  failed: number;
  last_success_at: number | null;
  last_failure_at: number | null;
  last_error: string | null;
}

const countColumns = [
  ...(["webhook_id", "slot", "succeeded", "failed"] as const),
  ...(["last_success_at", "last_failure_at", "last_error"] as const),
];

const addCounts = rowsToWrite(
  {
    numbers: ["slot", "succeeded", "failed", "last_success_at", "last_failure_at"],
    texts: ["webhook_id", "last_error"],
  },
  (database, { column, from }) =>
    database
      .insertInto("attempt_counts")
      .columns(countColumns)
      .expression(sql`select ${sql.join(countColumns.map(column))} ${from} where true`)
      .onConflict((conflict) =>
        conflict.columns(["webhook_id", "slot"]).doUpdateSet((row) => ({
          succeeded: row("attempt_counts.succeeded", "+", row.ref("excluded.succeeded")),
          failed: row("attempt_counts.failed", "+", row.ref("excluded.failed")),
          last_success_at: row.fn.coalesce(
            "excluded.last_success_at",
            "attempt_counts.last_success_at",
          ),
          last_failure_at: row.fn.coalesce(
            "excluded.last_failure_at",
            "attempt_counts.last_failure_at",
          ),
          last_error: row.fn.coalesce("excluded.last_error", "attempt_counts.last_error"),
        })),
      ),
);

export const countAttempts = async (
  { database, dialect }: Db,
  results: readonly DeliveryResult[],
  now: number,
): Promise<void> => {
  if (results.length === 0) return;
  const webhooks = new Map<string, Counts>();
  for (const { claim, attempt } of results) {
    const counts = webhooks.get(claim.webhookId) ?? {
      succeeded: 0,
      failed: 0,
      last_success_at: null,
      last_failure_at: null,
      last_error: null,
    };
    if (attempt.error === null) {
      counts.succeeded += 1;
      counts.last_success_at = attempt.at.getTime();
    } else {
      counts.failed += 1;
      counts.last_failure_at = attempt.at.getTime();
      counts.last_error = attempt.error;
    }
    webhooks.set(claim.webhookId, counts);
  }
  const slot = Math.floor(now / slotLength) * slotLength;
  const rows = [...webhooks]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([webhook_id, counts]) => ({ webhook_id, slot, ...counts }));
  await addCounts(database, dialect, rows);
};

/** True when there may be more. */
export const pruneAttemptCounts = async ({ database }: Db, before: number): Promise<boolean> => {
  const deleted = await sql`delete from attempt_counts where (webhook_id, slot) in
    (select webhook_id, slot from attempt_counts where slot < ${before} limit ${pruneBatch})`.execute(
    database,
  );
  return Number(deleted.numAffectedRows ?? 0) === pruneBatch;
};
