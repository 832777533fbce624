// Locks an environment for a change, and reads what every change needs.
import type { Dialect } from "../platform/database/schema/dialect.ts";
import { percentOf } from "../platform/database/schema/percent.ts";
import { prepared, type Value } from "../platform/database/schema/prepared.ts";
import type { Database } from "../platform/database/schema/tables.ts";
import { readWebhooks, webhookOf } from "../platform/database/schema/webhook-row.ts";
import type { Locked } from "../platform/database/store.ts";

const lockRow = prepared((database, value: Value<{ environmentId: number }>, dialect: Dialect) =>
  database
    .selectFrom("environments")
    .select(["id", "name", "revision", "sequence", "flag_count as flagCount"])
    .select(["segment_count as segmentCount", "definition_bytes as definitionBytes"])
    .select("definition_work as definitionWork")
    .select(["protected", "max_flips", "chain", "changed_at as changedAt"])
    .where("id", "=", value("environmentId"))
    .$call(dialect.locked),
);

/** Undefined when the environment is gone. */
export const lockEnvironment = async (
  database: Database,
  dialect: Dialect,
  environmentId: number,
): Promise<Locked | undefined> => {
  // The second is begun after the lock, so that it reads what was committed while the lock was waited for.
  const [[row], webhooks] = await Promise.all([
    lockRow.run(database, { environmentId }, dialect),
    readWebhooks.run(database, { environmentId }),
  ]);
  if (!row) return undefined;
  return {
    state: {
      id: row.id,
      name: row.name,
      revision: row.revision,
      sequence: row.sequence,
      flagCount: row.flagCount,
      segmentCount: row.segmentCount,
      definitionBytes: row.definitionBytes,
      definitionWork: row.definitionWork,
      changedAt: row.changedAt,
      isProtected: row.protected === 1,
      maxFlips: percentOf(row.max_flips),
      chain: row.chain,
    },
    webhooks: webhooks.map(webhookOf),
  };
};
