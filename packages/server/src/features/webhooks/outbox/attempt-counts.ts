// Counts the attempts of each webhook in slots of ten minutes, so that its health is read from a few rows.
import { sql } from "kysely";
import type { DatabaseTraits } from "../../../platform/database/schema/dialect.ts";
import { rowsToWrite } from "../../../platform/database/schema/prepared.ts";
import type { Database } from "../../../platform/database/schema/tables.ts";
import type { DeliveryResult } from "../outbox.ts";

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

const columns = [
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
      .columns(columns)
      .expression(sql`select ${sql.join(columns.map(column))} ${from} where true`)
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
  database: Database,
  traits: DatabaseTraits,
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
  await addCounts(database, traits, rows);
};

/** True when there may be more. */
export const pruneAttemptCounts = async (database: Database, before: number): Promise<boolean> => {
  const deleted = await sql`delete from attempt_counts where (webhook_id, slot) in
    (select webhook_id, slot from attempt_counts where slot < ${before} limit ${pruneBatch})`.execute(
    database,
  );
  return Number(deleted.numAffectedRows ?? 0) === pruneBatch;
};
