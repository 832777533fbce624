// Reads history as it is verified and exported: entries with what the chain runs over, and the checkpoints among them.
import {
  type ExportedCheckpoint,
  type ExportedEntry,
  textDigest,
} from "@halyard/core/history/chain";
import { sql } from "kysely";
import type { Db } from "../../platform/database/db.ts";
import { storedColumns, storedOf } from "../../platform/database/schema/history-row.ts";
import { sha256 } from "../../platform/text-hash.ts";
import type { ChainPart } from "../../writes/history-entry.ts";

/** Histories are also verified where not every secret is at hand. */
type Rows = Pick<Db, "database">;

/** Entries of a part, and what may be added to the last one while it is read. */
const [maxEntries, maxAdded] = [1_000, 500];
/** A part ends with the entry that exceeds this. */
const maxBytes = 8 * 1_024 * 1_024;

const size = sql<number>`coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)`;

/** The last entry of the part; undefined when it is the last part. */
const lastOf = async (
  { database }: Rows,
  environmentId: number,
  after: number,
): Promise<number | undefined> => {
  const rows = await database
    .selectFrom("history")
    .select(["id", size.as("size")])
    .where("environment_id", "=", environmentId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(maxEntries)
    .execute();
  let bytes = 0;
  const last = rows.find((row) => {
    bytes += Number(row.size);
    return bytes > maxBytes;
  });
  return last?.id ?? (rows.length === maxEntries ? rows.at(-1)?.id : undefined);
};

/** One statement, so that the head and the entries are of the same moment. */
const readEntries = async (
  { database }: Rows,
  environmentId: number,
  after: number,
  last: number | undefined,
) =>
  database
    .selectFrom("environments")
    .leftJoin("history", (join) => {
      const later = join
        .onRef("history.environment_id", "=", "environments.id")
        .on("history.id", ">", after);
      return last === undefined ? later : later.on("history.id", "<=", last);
    })
    .select(["environments.name as environment", "environments.chain as head"])
    .select(["history.digest", "history.chain"])
    .select(storedColumns.map((column) => `history.${column}` as const))
    .where("environments.id", "=", environmentId)
    .orderBy("history.id")
    .limit(maxEntries + maxAdded)
    .execute();

type Row = Awaited<ReturnType<typeof readEntries>>[number];
type EntryRow = { readonly [K in keyof Row]: K extends "id" ? number : Row[K] };

const entryOf = (row: EntryRow): ExportedEntry => {
  const stored = storedOf(row as Parameters<typeof storedOf>[0]);
  return {
    type: "entry",
    ...stored,
    environment: row.environment,
    beforeDigest: textDigest(stored.before, sha256),
    afterDigest: textDigest(stored.after, sha256),
    digest: row.digest,
    chain: row.chain,
  };
};

interface ReadCheckpoint {
  readonly row: number;
  /** Of the entry. */
  readonly id: number;
  readonly checkpoint: ExportedCheckpoint;
}

const readCheckpoints = async (
  { database }: Rows,
  environmentId: number,
  after: number,
  last: number | undefined,
): Promise<readonly ReadCheckpoint[]> => {
  const rows = await database
    .selectFrom("history_checkpoints")
    .select(["id", "entry_id", "statement", "key_id", "hmac"])
    .where("environment_id", "=", environmentId)
    .where("entry_id", ">", after)
    .$if(last !== undefined, (all) => all.where("entry_id", "<=", last ?? 0))
    .orderBy("entry_id")
    .orderBy("id")
    .execute();
  return rows.map(({ id, entry_id, statement, key_id, hmac }) => ({
    row: id,
    id: entry_id,
    checkpoint: { type: "checkpoint", id: entry_id, statement, keyId: key_id, hmac },
  }));
};

const rowsOf = (checkpoints: readonly { readonly row: number }[]): string =>
  checkpoints.map(({ row }) => row).join();

/** What can be verified, after an entry's number, oldest first. Undefined when the environment is gone. */
export const findChainPart = async (
  db: Rows,
  environmentId: number,
  after: number,
): Promise<ChainPart | undefined> => {
  for (;;) {
    const last = await lastOf(db, environmentId, after);
    const before = await readCheckpoints(db, environmentId, after, last);
    const rows = await readEntries(db, environmentId, after, last);
    const checkpoints = await readCheckpoints(db, environmentId, after, last);
    // Entries may have been deleted meanwhile, or redacted.
    if (rowsOf(before) !== rowsOf(checkpoints)) continue;
    const [first] = rows;
    if (!first) return undefined;
    const entries = rows.filter((row): row is EntryRow => row.id !== null).map(entryOf);
    const next = rows.length === maxEntries + maxAdded ? entries.at(-1)?.id : last;
    const shown = checkpoints
      .filter(({ id }) => next === undefined || id <= next)
      .map(({ checkpoint }) => checkpoint);
    const parts = [...shown, ...entries].sort(
      (a, b) => a.id - b.id || (a.type === b.type ? 0 : a.type === "checkpoint" ? -1 : 1),
    );
    return { environment: first.environment, parts, next, head: first.head };
  }
};
