// The running instances: one row each, which it writes itself and others read.
import type { InstanceReads, InstanceWrites } from "../../evaluation/clients/report.ts";
import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import type { Database, Transact } from "../../platform/database/schema/tables.ts";

export const instanceReads = (database: Database, { now }: DatabaseTraits): InstanceReads => ({
  async instances() {
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
  },
});

export const instanceWrites = ({ now }: DatabaseTraits, transact: Transact): InstanceWrites => ({
  writeInstance: ({ id, name, version, startedAt }, clock, body) =>
    transact(async (database) => {
      await database
        .insertInto("instances")
        .values({ id, name, version, started_at: startedAt, seen_at: now, clock, body })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: now, clock, body }))
        .execute();
    }),

  touchInstance: (id, clock) =>
    transact(async (database) => {
      const updated = await database
        .updateTable("instances")
        .set({ seen_at: now, clock })
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst();
      return updated !== undefined;
    }),

  deleteInstances: (silentFor, name) =>
    transact(async (database) => {
      await database
        .deleteFrom("instances")
        .where(({ eb }) => eb("seen_at", "<", eb(now, "-", silentFor)))
        .$if(name !== undefined, (rest) => rest.where("name", "=", name ?? ""))
        .execute();
    }),
});
