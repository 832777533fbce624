// Writes the attempts of a batch, and what became of their deliveries.
import { sql } from "kysely";
import type { DatabaseTraits } from "../../../platform/database/schema/dialect.ts";
import { rowsToWrite } from "../../../platform/database/schema/prepared.ts";
import type { Database } from "../../../platform/database/schema/tables.ts";
import type { DeliveryResult } from "../outbox.ts";

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
  database: Database,
  traits: DatabaseTraits,
  results: readonly DeliveryResult[],
  now: number,
): Promise<void> => {
  if (results.length === 0) return;
  await insertAttempts(
    database,
    traits,
    results.map(({ claim: { position, attempts }, attempt }) => ({
      ...attempt,
      position,
      number: attempts + 1,
      at: attempt.at.getTime(),
    })),
  );
  await updateDeliveries(
    database,
    traits,
    results.map(({ claim: { position }, decision }) => ({
      position,
      state: states[decision.kind],
      settled_at: decision.kind === "retry" ? null : now,
    })),
  );
};
