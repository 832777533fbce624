// The chain of history in SQL: its head in the row of the environment, under whose lock every entry is appended.
import { genesis } from "@halyard/core/history/chain";
import { sql } from "kysely";
import {
  type ChainedEntry,
  type ChainHead,
  chainEntry,
  chainStored,
} from "../../domain/history/chained-entry.ts";
import type { NewHistoryEntry } from "../../domain/history.ts";
import type { DatabaseTraits } from "./dialect.ts";
import { insertHistory, storedColumns, storedOf } from "./history-row.ts";
import type { Database } from "./tables.ts";

/** Rows chained in one statement. */
const batch = 500;

const writeChains = async (
  database: Database,
  rows: readonly (ChainedEntry & { readonly id: number })[],
): Promise<void> => {
  const values = rows.map(({ id, digest, chain }) => sql`(${sql.lit(id)}, ${digest}, ${chain})`);
  await sql`with part(id, digest, chain) as (values ${sql.join(values)})
    update history set digest = part.digest, chain = part.chain
    from part where history.id = part.id`.execute(database);
};

const writeHead = async (
  database: Database,
  environmentId: number,
  chain: string,
): Promise<void> => {
  await database
    .updateTable("environments")
    .set({ chain })
    .where("id", "=", environmentId)
    .execute();
};

/** Chains what is there without a place in the chain, after an entry's number; returns the head and their number. */
export const chainRows = async (
  database: Database,
  environmentId: number,
  head: ChainHead,
  after: number,
  onProgress: (rows: number) => void = () => {},
): Promise<{ readonly head: ChainHead; readonly rows: number }> => {
  let { chain } = head;
  let last = after;
  let count = 0;
  for (;;) {
    const found = await database
      .selectFrom("history")
      .select(storedColumns)
      .where("environment_id", "=", environmentId)
      .where("id", ">", last)
      .orderBy("id")
      .limit(batch)
      .execute();
    if (found.length === 0) break;
    const chained = found.map((row) => {
      const entry = chainStored({ ...head, chain }, storedOf(row));
      chain = entry.chain;
      return entry;
    });
    await writeChains(database, chained);
    count += found.length;
    onProgress(found.length);
    last = found.at(-1)?.id ?? last;
    if (found.length < batch) break;
  }
  await writeHead(database, environmentId, chain);
  return { head: { ...head, chain }, rows: count };
};

/**
 * The first entry without a place in the chain: written by an older version beside this one, or by a restore. A statement of
 * its own, begun right after the one that locks the environment: PostgreSQL reads the subqueries of a locking statement
 * as of before it waited, and would miss what the one before has written.
 */
export const firstUnchained = (database: Database, environmentId: number) =>
  database
    .selectFrom("history")
    .select("history.id")
    .where("environment_id", "=", environmentId)
    .where("chain", "is", null)
    .orderBy("id")
    .limit(1);

/** The head, once everything up to it is chained. Under the lock of the environment. */
export const wholeHead = async (
  database: Database,
  environmentId: number,
  { name, chain }: { name: string; chain: string | null },
  unchained: number | null | undefined,
): Promise<ChainHead> => {
  const head = { name, chain: chain ?? genesis };
  if (unchained == null) return head;
  const last = await database
    .selectFrom("history")
    .select(({ fn }) => fn.max("id").as("id"))
    .where("environment_id", "=", environmentId)
    .where("chain", "is not", null)
    .executeTakeFirst();
  // One that is older than the last chained one has lost its place: verification tells.
  if ((last?.id ?? 0) > unchained) return head;
  return (await chainRows(database, environmentId, head, unchained - 1)).head;
};

/** Undefined when the environment is gone. */
export const lockHead = async (
  database: Database,
  traits: DatabaseTraits,
  environmentId: number,
): Promise<ChainHead | undefined> => {
  const [row, first] = await Promise.all([
    database
      .selectFrom("environments")
      .select(["name", "chain"])
      .where("id", "=", environmentId)
      .$call(traits.locked)
      .executeTakeFirst(),
    firstUnchained(database, environmentId).executeTakeFirst(),
  ]);
  return row && wholeHead(database, environmentId, row, first?.id);
};

/** Under the lock of the environment; returns the head after it. */
export const appendEntry = async (
  database: Database,
  environmentId: number,
  head: ChainHead,
  entry: NewHistoryEntry,
): Promise<ChainHead> => {
  const chained = chainEntry(head, entry);
  await writeHead(database, environmentId, chained.chain);
  await insertHistory.run(database, { environmentId, ...chained });
  return { ...head, chain: chained.chain };
};
