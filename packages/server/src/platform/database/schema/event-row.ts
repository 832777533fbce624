// An event as a row.
import { prepared, type Value } from "./prepared.ts";

export interface NewEventRow {
  readonly environmentId: number;
  /** Null for a test, which is not part of the environment's sequence. */
  readonly sequence: number | null;
  readonly id: string;
  readonly type: string;
  /** What its deliveries are ordered by; null for a test. */
  readonly orderingKey: string | null;
  readonly createdAt: number;
  readonly body: Uint8Array;
}

export const insertEventRow = prepared((database, value: Value<NewEventRow>) =>
  database.insertInto("events").values({
    environment_id: value("environmentId"),
    sequence: value("sequence"),
    id: value("id"),
    type: value("type"),
    ordering_key: value("orderingKey"),
    created_at: value("createdAt"),
    body: value("body"),
  }),
);
