// Locks an environment for a change, and reads what every change needs.
import type { EnvironmentState } from "../../domain/change.ts";
import type { Locked } from "../../ports.ts";
import { firstUnchained, wholeHead } from "../schema/chain.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { percentOf } from "../schema/percent.ts";
import { prepared } from "../schema/prepared.ts";
import type { Database } from "../schema/tables.ts";
import { type WebhookRow, webhookColumns, webhookOf } from "../schema/webhook-row.ts";

const lockRow = prepared(
  (database, { environmentId }: { environmentId: number }, traits: DatabaseTraits) =>
    database
      .selectFrom("environments")
      .select(["id", "name", "revision", "sequence", "flag_count as flagCount"])
      .select(["segment_count as segmentCount", "definition_bytes as definitionBytes"])
      .select(["protected", "max_flips", "chain"])
      // A store from before this column, or a commit by an older version, has it in the history alone.
      .select((environment) =>
        environment.fn
          .coalesce(
            "changed_at",
            environment
              .selectFrom("history")
              .select("at")
              .whereRef("history.environment_id", "=", "environments.id")
              .whereRef("history.revision", "=", "environments.revision"),
          )
          .as("changedAt"),
      )
      .where("id", "=", environmentId)
      .$call(traits.locked),
);

/** A row for each webhook, or one without. Begun after the lock: see `firstUnchained`. */
const readUnderLock = prepared((database, { environmentId }: { environmentId: number }) =>
  database
    .selectFrom("environments")
    .leftJoin("webhooks", "webhooks.environment_id", "environments.id")
    .select(webhookColumns.map((column) => `webhooks.${column}` as const))
    .select(firstUnchained(database, environmentId).as("unchained"))
    .where("environments.id", "=", environmentId)
    .orderBy("webhooks.created_at")
    .orderBy("webhooks.id"),
);

export interface LockedRow extends Locked {
  /** Every entry of its history is in the chain. */
  readonly isWhole: boolean;
}

/** Undefined when the environment is gone. */
export const lockEnvironment = async (
  database: Database,
  traits: DatabaseTraits,
  environmentId: number,
): Promise<LockedRow | undefined> => {
  const [[row], rows] = await Promise.all([
    lockRow.run(database, { environmentId }, traits),
    readUnderLock.run(database, { environmentId }),
  ]);
  if (!row) return undefined;
  const unchained = rows[0]?.unchained;
  const { chain } = await wholeHead(database, environmentId, row, unchained);
  return {
    isWhole: unchained === null,
    state: {
      id: row.id,
      name: row.name,
      revision: row.revision,
      sequence: row.sequence,
      flagCount: row.flagCount,
      segmentCount: row.segmentCount,
      definitionBytes: row.definitionBytes,
      changedAt: row.changedAt,
      isProtected: row.protected === 1,
      maxFlips: percentOf(row.max_flips),
      chain,
    },
    webhooks: rows
      .filter((each): each is typeof each & WebhookRow => each.id !== null)
      .map(webhookOf),
  };
};

const lockInState = prepared((database, state: EnvironmentState, traits: DatabaseTraits) =>
  database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", state.id)
    .where("sequence", "=", state.sequence)
    .where("chain", "=", state.chain)
    .$call(traits.locked),
);

/** Begun after the lock, as `readUnderLock` is. What is being removed goes without entries. */
const stillWhole = prepared((database, { id }: EnvironmentState) =>
  database
    .selectFrom("environments")
    .select("environments.id")
    .where("environments.id", "=", id)
    .where((found) => found.not(found.exists(firstUnchained(database, id))))
    .where((found) =>
      found.not(
        found.exists(database.selectFrom("removed_environments").select("id").where("id", "=", id)),
      ),
    ),
);

/**
 * Locks the environment and insists that it is in this state: then its flags, settings and webhooks are as they were in it,
 * because each change of them has an entry in the chain.
 */
export const lockUnchanged = async (
  database: Database,
  traits: DatabaseTraits,
  insist: NonNullable<DatabaseTraits["insist"]>,
  state: EnvironmentState,
): Promise<void> => {
  await Promise.all([
    insist(database, lockInState.fill(database, state, traits)),
    insist(database, stillWhole.fill(database, state)),
  ]);
};
