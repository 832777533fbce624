// The chain of history in SQL: its head in the row of the environment, under whose lock every entry is appended.
import { type ChainHead, chainEntry } from "../../../writes/chained-entry.ts";
import type { NewHistoryEntry } from "../../../writes/history-entry.ts";
import type { Dialect } from "./dialect.ts";
import { insertHistory } from "./history-row.ts";
import { send } from "./kysely-on.ts";
import type { Database } from "./tables.ts";

/** Undefined when the environment is gone. */
export const lockHead = (
  database: Database,
  dialect: Dialect,
  environmentId: number,
): Promise<ChainHead | undefined> => {
  return database
    .selectFrom("environments")
    .select(["name", "chain"])
    .where("id", "=", environmentId)
    .$call(dialect.locked)
    .executeTakeFirst();
};

/** Under the lock of the environment; returns the head after it. */
export const appendEntry = async (
  database: Database,
  environmentId: number,
  head: ChainHead,
  entry: NewHistoryEntry,
): Promise<ChainHead> => {
  const chained = chainEntry(head, entry);
  await send(
    database,
    database
      .updateTable("environments")
      .set({ chain: chained.chain })
      .where("id", "=", environmentId),
  );
  await insertHistory.send(database, { environmentId, ...chained });
  return { ...head, chain: chained.chain };
};
