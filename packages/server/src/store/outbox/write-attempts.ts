// Writes the attempts of a batch, and what became of their deliveries.

import { sql } from "kysely";
import type { DeliveryResult } from "../../domain/webhooks/outbox.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { rowsToWrite } from "../schema/prepared.ts";
import type { Database } from "../schema/tables.ts";

const states = { delivered: "delivered", failed: "failed", retry: "pending" } as const;

const attemptColumns = {
  numbers: ["position", "number", "at", "milliseconds", "status", "settled_at"],
  texts: ["error", "response", "state"],
};

const insertAttempts = rowsToWrite(
  attemptColumns,
  (_, { column, from }) =>
    sql`insert into attempts (position, number, at, milliseconds, status, error, response)
    select ${column("position")}, ${column("number")}, ${column("at")}, ${column("milliseconds")},
      ${column("status")}, ${column("error")}, ${column("response")} ${from}`,
);

const updateDeliveries = rowsToWrite(
  attemptColumns,
  (_, { column, from }) =>
    sql`update deliveries
    set state = ${column("state")}, attempts = attempts + 1, settled_at = ${column("settled_at")}
    ${from} where deliveries.position = ${column("position")}`,
);

export const writeAttempts = async (
  database: Database,
  traits: DatabaseTraits,
  results: readonly DeliveryResult[],
  now: number,
): Promise<void> => {
  if (results.length === 0) return;
  const rows = results.map(({ claim: { position, attempts }, attempt, decision }) => ({
    ...attempt,
    position,
    number: attempts + 1,
    at: attempt.at.getTime(),
    state: states[decision.kind],
    settled_at: decision.kind === "retry" ? null : now,
  }));
  await insertAttempts(database, traits, rows);
  await updateDeliveries(database, traits, rows);
};
