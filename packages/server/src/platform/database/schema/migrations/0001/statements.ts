// What the parts of the first schema have in common.
import { type RawBuilder, sql } from "kysely";

export type Statement = RawBuilder<unknown>;

/** Deleted with its environment. */
export const environmentColumn: Statement = sql`environment_id bigint not null
  references environments (id) on delete cascade`;
