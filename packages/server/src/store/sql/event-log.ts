// The log of events in SQL, by their numbers.
import type { EventLogReads } from "../../domain/history.ts";
import type { Database } from "../schema/tables.ts";

export const eventLogReads = (database: Database): EventLogReads => ({
  async eventLog(environmentId, { limit, after, since }) {
    const events = database
      .selectFrom("events")
      .select(["sequence", "body"])
      .where("environment_id", "=", environmentId)
      // Tests have no number.
      .where("sequence", "is not", null)
      .limit(limit);
    const shown = (rows: readonly { sequence: number | null; body: Uint8Array }[]) =>
      rows.map(({ sequence, body }) => ({ sequence: sequence ?? 0, body }));
    if (after === undefined && since === undefined) {
      return shown(await events.orderBy("sequence", "desc").execute()).reverse();
    }
    // By time and not by number: that is where an index leads.
    const first =
      since &&
      (await events
        .clearLimit()
        .limit(1)
        .where("created_at", ">=", since.getTime())
        .orderBy("created_at")
        .orderBy("sequence")
        .executeTakeFirst());
    if (since && !first) return [];
    const from = Math.max((after ?? 0) + 1, first?.sequence ?? 0);
    return shown(await events.where("sequence", ">=", from).orderBy("sequence").execute());
  },
});
