// Failed evaluations: one row for each API key, error, flag key and program, added to by every instance.
import type { Db } from "../../platform/database/db.ts";
import { actorOf } from "../../platform/database/schema/history-row.ts";
import { batchesOf } from "../../platform/database/schema/id-list.ts";
import {
  type EvaluationErrorCode,
  maxErrorsOfKey,
  type NewProgramErrors,
  type StoredProgramErrors,
} from "./counts.ts";

/** Failed evaluations since a time that still fail, the latest first. */
export const listEvaluationErrors = async (
  { database }: Db,
  environmentId: number,
  since: Date,
  limit: number,
): Promise<readonly StoredProgramErrors[]> => {
  const rows = await database
    .selectFrom("evaluation_errors as error")
    .leftJoin("flags", (join) =>
      join
        .onRef("flags.environment_id", "=", "error.environment_id")
        .onRef("flags.key", "=", "error.flag_key"),
    )
    // The creation or deletion that decides whether the key has a flag.
    .leftJoin("history as last", (join) =>
      join.on((row) =>
        row(
          "last.id",
          "=",
          row
            .selectFrom("history")
            .select("history.id")
            .whereRef("history.environment_id", "=", "error.environment_id")
            .where("history.subject", "=", "flag")
            .whereRef("history.subject_id", "=", "error.flag_key")
            .where((history) =>
              history.or([history("before", "is", null), history("after", "is", null)]),
            )
            .orderBy("history.id", "desc")
            .limit(1),
        ),
      ),
    )
    .select(["error.code", "error.flag_key", "error.program", "error.count", "error.last_at"])
    .select(["last.at", "last.after", "last.actor_key_id", "last.actor_name"])
    .select(["last.actor_user_id", "last.actor_user_name"])
    .where("error.environment_id", "=", environmentId)
    .where("error.last_at", ">=", since.getTime())
    // Whether the key has a flag decides which error still holds.
    .where((row) =>
      row.or([
        row.and([row("error.code", "=", "FLAG_NOT_FOUND"), row("flags.key", "is", null)]),
        row.and([row("error.code", "=", "TYPE_MISMATCH"), row("flags.key", "is not", null)]),
      ]),
    )
    // Errors from before the flag was created or deleted don't count.
    .where((row) =>
      row.or([row("last.at", "is", null), row("error.last_at", ">=", row.ref("last.at"))]),
    )
    .orderBy("error.last_at", "desc")
    .orderBy("error.flag_key")
    .limit(limit)
    .execute();
  return rows.map(({ code, flag_key, program, count, last_at, at, after, ...actor }) => ({
    code: code as EvaluationErrorCode,
    flagKey: flag_key,
    ...{ program, count },
    lastAt: new Date(last_at),
    deletion:
      at === null || after !== null || actor.actor_name === null
        ? null
        : { at: new Date(at), actor: actorOf({ ...actor, actor_name: actor.actor_name }) },
  }));
};

/** Adds to what is stored and deletes the oldest rows over the limit of each API key. An environment that is gone is ignored. */
export const addEvaluationErrors = async (
  db: Db,
  environmentId: number,
  errors: readonly NewProgramErrors[],
): Promise<void> => {
  // Writers of one environment take turns, so that they can't deadlock.
  const environment = await db.database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .$call(db.locked)
    .executeTakeFirst();
  if (!environment) return;
  for (const part of batchesOf(errors)) await insertErrors(db, environmentId, part);
  for (const keyId of new Set(errors.map((error) => error.keyId))) {
    await deleteOverLimit(db, environmentId, keyId);
  }
};

const insertErrors = async (
  { database }: Db,
  environmentId: number,
  errors: readonly NewProgramErrors[],
): Promise<void> => {
  await database
    .insertInto("evaluation_errors")
    .values(
      errors.map(({ keyId, code, flagKey, program, count, lastAt }) => ({
        environment_id: environmentId,
        key_id: keyId,
        flag_key: flagKey,
        last_at: lastAt.getTime(),
        ...{ code, program, count },
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["environment_id", "key_id", "code", "flag_key", "program"])
        .doUpdateSet((row) => ({
          count: row("evaluation_errors.count", "+", row.ref("excluded.count")),
          last_at: row
            .case()
            .when("excluded.last_at", ">", row.ref("evaluation_errors.last_at"))
            .then(row.ref("excluded.last_at"))
            .else(row.ref("evaluation_errors.last_at"))
            .end(),
        })),
    )
    .execute();
};

const deleteOverLimit = async (
  { database }: Db,
  environmentId: number,
  keyId: string,
): Promise<void> => {
  const ofKey = () =>
    database
      .selectFrom("evaluation_errors")
      .where("environment_id", "=", environmentId)
      .where("key_id", "=", keyId);
  await database
    .deleteFrom("evaluation_errors")
    .where("environment_id", "=", environmentId)
    .where("key_id", "=", keyId)
    .where((row) =>
      row(
        row.refTuple("code", "flag_key", "program"),
        "in",
        ofKey()
          .select(["code", "flag_key", "program"])
          .orderBy("last_at", "desc")
          .orderBy("flag_key")
          .orderBy("program")
          // SQLite has no offset without a limit.
          .limit(maxErrorsOfKey * 2)
          .offset(maxErrorsOfKey)
          .$asTuple("code", "flag_key", "program"),
      ),
    )
    .execute();
};

/** Deletes the failed evaluations of one environment that are older than `before`; true when there may be more. */
export const pruneEvaluationErrors = async (
  { database, locked }: Db,
  before: number,
): Promise<boolean> => {
  const oldest = await database
    .selectFrom("evaluation_errors")
    .select("environment_id")
    .where("last_at", "<", before)
    .orderBy("last_at")
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return false;
  // As the writers of these rows do, so that this can't deadlock with them.
  await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", oldest.environment_id)
    .$call(locked)
    .execute();
  await database
    .deleteFrom("evaluation_errors")
    .where("environment_id", "=", oldest.environment_id)
    .where("last_at", "<", before)
    .execute();
  return true;
};
