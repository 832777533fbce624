// Copies the flags and segments of an environment into a new one, a few rows at a time. What is changed meanwhile is copied
// again at the end, under the lock of the source: so the copy is of one moment, and nobody waits for the rest of it.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/db.ts";
import type { Database, Tables } from "../../platform/database/schema/tables.ts";
import type { CopyPosition } from "./rules.ts";

interface CopiedTable {
  readonly name: keyof Tables;
  /** What its rows are told apart by within an environment; the first names what history has as its subject. */
  readonly key: readonly [string, ...string[]];
  readonly subject: "flag" | "segment";
  /** The columns beside. */
  readonly rest: readonly string[];
  /** Whether its rows are counted: the first version there is the first. */
  readonly hasVersion: boolean;
}

const copiedTables: readonly CopiedTable[] = [
  {
    name: "segments",
    key: ["key"],
    subject: "segment",
    rest: ["description", "condition", "include_count", "exclude_count"],
    hasVersion: true,
  },
  {
    name: "segment_members",
    key: ["segment_key", "list", "member"],
    subject: "segment",
    rest: [],
    hasVersion: false,
  },
  {
    name: "flags",
    key: ["key"],
    subject: "flag",
    rest: ["type", "enabled", "thousandths", "description", "definition", "level"],
    hasVersion: true,
  },
  {
    name: "flag_references",
    key: ["flag_key", "kind", "key"],
    subject: "flag",
    rest: ["variant"],
    hasVersion: false,
  },
];

const listOf = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));
const valuesOf = (values: readonly string[]) => sql.join(values.map((value) => sql`${value}`));

const copyRows = async (
  database: Database,
  { name, key, rest, hasVersion }: CopiedTable,
  sourceId: number,
  targetId: number,
  which: ReturnType<typeof sql>,
): Promise<number> => {
  const columns = listOf([...key, ...rest]);
  const copied = await sql`insert into ${sql.table(name)}
    (environment_id, ${columns}${hasVersion ? sql`, version` : sql``})
    select ${sql.lit(targetId)}, ${columns}${hasVersion ? sql`, 1` : sql``}
    from ${sql.table(name)} where environment_id = ${sourceId} and ${which}`.execute(database);
  return Number(copied.numAffectedRows ?? 0);
};

const setLease = ({ database }: Tx, targetId: number, until: Date, now: Date) =>
  database
    .updateTable("environments")
    .set({ expires_at: until.getTime() })
    .where("id", "=", targetId)
    .where("copy_of", "is not", null)
    .where("expires_at", ">", now.getTime())
    .returning("id");

/** After its last row: rows are copied in the order of tables and keys. */
const positionOf = async ({ database }: Tx, targetId: number): Promise<CopyPosition> => {
  for (const [index, { name, key }] of [...copiedTables.entries()].reverse()) {
    const backward = sql.join(key.map((column) => sql`${sql.ref(column)} desc`));
    const { rows } = await sql<Record<string, string>>`select ${listOf(key)}
        from ${sql.table(name)} where environment_id = ${targetId}
        order by ${backward} limit 1`.execute(database);
    const [last] = rows;
    if (last) return { table: index, after: key.map((column) => last[column] ?? "") };
  }
  return { table: 0, after: null };
};

/** Copies at most `limit` rows that come next; the position after them is undefined at the end. */
export const copyPart = async (
  { database }: Tx,
  sourceId: number,
  targetId: number,
  { table: index, after }: CopyPosition,
  limit: number,
): Promise<{ readonly rows: number; readonly next: CopyPosition | undefined }> => {
  const table = copiedTables[index];
  if (!table) return { rows: 0, next: undefined };
  const key = listOf(table.key);
  const rest = after === null ? sql`true` : sql`(${key}) > (${valuesOf(after)})`;
  const { rows: found } = await sql<Record<string, string>>`select ${key}
      from ${sql.table(table.name)} where environment_id = ${sourceId} and ${rest}
      order by ${key} limit 1 offset ${sql.lit(limit - 1)}`.execute(database);
  const last = found[0] && table.key.map((column) => found[0]?.[column] ?? "");
  const which = last ? sql`${rest} and (${key}) <= (${valuesOf(last)})` : rest;
  const rows = await copyRows(database, table, sourceId, targetId, which);
  if (last) return { rows, next: { table: index, after: last } };
  const hasMore = index + 1 < copiedTables.length;
  return { rows, next: hasMore ? { table: index + 1, after: null } : undefined };
};

/** Renews the lease that ends at `held`; false when it has ended, or another request has taken the copy over. */
export const renewCopy = async (
  tx: Tx,
  targetId: number,
  held: Date,
  until: Date,
  now: Date,
): Promise<boolean> => {
  const renewed = await setLease(tx, targetId, until, now)
    .where("expires_at", "=", held.getTime())
    .execute();
  return renewed.length > 0;
};

/** Takes over a copy whose lease has not ended, and returns where to continue and until when. Undefined when there is none. */
export const takeOverCopy = async (
  tx: Tx,
  targetId: number,
  until: Date,
  now: Date,
): Promise<{ readonly until: Date; readonly position: CopyPosition } | undefined> => {
  const held = await tx.database
    .selectFrom("environments")
    .select("expires_at")
    .where("id", "=", targetId)
    .executeTakeFirst();
  // Differs from the time of the earlier lease, so that its holder notices.
  const later = new Date(Math.max(until.getTime(), (held?.expires_at ?? 0) + 1));
  const taken = await setLease(tx, targetId, later, now).execute();
  return taken.length > 0 ? { until: later, position: await positionOf(tx, targetId) } : undefined;
};

/** Under a lock on the source: copies again what was changed after the revision, and shows the environment. */
export const showCopy = async (
  { database, dialect }: Tx,
  sourceId: number,
  targetId: number,
  revision: number,
  expiresAt: Date | null,
): Promise<void> => {
  for (const table of copiedTables) {
    const [subject] = table.key;
    const isChanged = sql`${sql.ref(subject)} in (select subject_id from history
        where environment_id = ${sourceId} and revision > ${revision} and subject = ${table.subject})`;
    await sql`delete from ${sql.table(table.name)}
        where environment_id = ${targetId} and ${isChanged}`.execute(database);
    await copyRows(database, table, sourceId, targetId, isChanged);
  }
  const count = (column: string) =>
    sql<number>`(select ${sql.ref(column)} from environments as source where source.id = ${sourceId})`;
  await database
    .updateTable("environments")
    .set({
      copy_of: null,
      expires_at: expiresAt?.getTime() ?? null,
      flag_count: count("flag_count"),
      segment_count: count("segment_count"),
      definition_bytes: count("definition_bytes"),
      definition_work: count("definition_work"),
    })
    .where("id", "=", targetId)
    .execute();
  await dialect.notify(database);
};
