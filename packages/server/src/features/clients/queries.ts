// The running instances: one row each, which it writes itself and others read.
import type { InstanceInfo, StoredInstance } from "../../evaluation/clients/report.ts";
import type { Db } from "../../platform/database/db.ts";

export const listInstances = async ({
  database,
  dialect: { now },
}: Db): Promise<readonly StoredInstance[]> => {
  const rows = await database
    .selectFrom("instances")
    .select(["id", "name", "version", "started_at", "seen_at", "clock", "body", now.as("now")])
    .execute();
  return rows.map((row) => ({
    ...{ id: row.id, name: row.name, version: row.version, body: row.body },
    startedAt: row.started_at,
    clock: row.clock,
    age: Math.max(0, row.now - row.seen_at),
  }));
};

export const saveInstance = async (
  { database, dialect: { now } }: Db,
  { id, name, version, startedAt }: InstanceInfo,
  clock: number,
  body: string,
): Promise<void> => {
  await database
    .insertInto("instances")
    .values({ id, name, version, started_at: startedAt, seen_at: now, clock, body })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: now, clock, body }))
    .execute();
};

/** A heartbeat; false when the instance has no row. */
export const touchInstance = async (
  { database, dialect: { now } }: Db,
  id: string,
  clock: number,
): Promise<boolean> => {
  const updated = await database
    .updateTable("instances")
    .set({ seen_at: now, clock })
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return updated !== undefined;
};

/** Without a heartbeat for this many milliseconds; of one name, or all. */
export const deleteInstances = async (
  { database, dialect: { now } }: Db,
  silentFor: number,
  name?: string,
): Promise<void> => {
  await database
    .deleteFrom("instances")
    .where(({ eb }) => eb("seen_at", "<", eb(now, "-", silentFor)))
    .$if(name !== undefined, (rest) => rest.where("name", "=", name ?? ""))
    .execute();
};
