// Evaluations that fail because no flag has the key, or because the program expects another type: counted in memory, then stored.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { Principal } from "../../platform/auth/principal.ts";
import { startPeriodicFlush } from "../../platform/background/periodic-flush.ts";
import type { Clock, Store } from "../../platform/database/store.ts";
import type { Snapshots } from "../snapshots.ts";
import { hourLength } from "./counters.ts";
import {
  type EvaluationErrorCode,
  evaluationErrorCodes,
  type LastChange,
  maxErrorsOfKey,
  type NewProgramErrors,
} from "./counts.ts";
import { addEvaluationErrors, listEvaluationErrors } from "./error-queries.ts";

type Reporter = Pick<Principal, "keyId" | "actor" | "environment">;
type ErrorCounts = Partial<Record<EvaluationErrorCode, number | undefined>>;

/** Failed evaluations of one key, by all programs together. */
export interface EvaluationError {
  readonly key: string;
  readonly errorCode: EvaluationErrorCode;
  readonly count: number;
  readonly lastEvaluatedAt: Date;
  /** Who deleted the flag that had the key, and when. */
  readonly deletion: LastChange | null;
  /** By name. */
  readonly programs: readonly {
    readonly name: string;
    readonly count: number;
    readonly lastEvaluatedAt: Date;
  }[];
}

export interface EvaluationErrors {
  /** `program` is the name that the client reports; without one, the name of the API key is used. */
  add(reporter: Reporter, key: string, counts: ErrorCounts, program?: string): void;
  /** Within the last hours, sorted by key. */
  list(environmentId: number, hours: number): Promise<readonly EvaluationError[]>;
  close(): Promise<void>;
}

/** Rows of the newest errors that are listed. */
const maxListed = 1_000;
/** Stored of one row at once: reported counts must stay exact in a double. */
const maxCount = 1e10;

export const createEvaluationErrors = (
  store: Store,
  snapshots: Pick<Snapshots, "get">,
  clock: Clock,
  failed: (error: unknown) => void,
): EvaluationErrors => {
  /** By environment and API key; then by error, flag key and program. */
  let counted = new Map<number, Map<string, Map<string, NewProgramErrors>>>();

  const put = (environmentId: number, error: NewProgramErrors): void => {
    const { keyId, code, flagKey, program, count } = error;
    const keys = counted.get(environmentId) ?? new Map<string, Map<string, NewProgramErrors>>();
    counted.set(environmentId, keys);
    const rows = keys.get(keyId) ?? new Map<string, NewProgramErrors>();
    keys.set(keyId, rows);
    const name = `${code} ${flagKey} ${program}`;
    const known = rows.get(name);
    if (known === undefined && rows.size >= maxErrorsOfKey) return;
    rows.set(name, {
      ...error,
      count: Math.min((known?.count ?? 0) + count, maxCount),
      lastAt: known !== undefined && known.lastAt > error.lastAt ? known.lastAt : error.lastAt,
    });
  };

  const write = async (): Promise<void> => {
    const taken = [...counted];
    counted = new Map();
    for (const [index, [environmentId, keys]] of taken.entries()) {
      const errors = [...keys.values()].flatMap((rows) => [...rows.values()]);
      try {
        await store.transactAsyncCommit((db) => addEvaluationErrors(db, environmentId, errors));
      } catch (error) {
        for (const [id, left] of taken.slice(index)) {
          for (const rows of left.values()) for (const each of rows.values()) put(id, each);
        }
        throw error;
      }
    }
  };

  const { flush, close } = startPeriodicFlush(write, failed);

  return {
    add({ keyId, actor, environment }, key, counts, program = actor.name) {
      // A person who is signed in is no program.
      if (!isFlagKey(key) || actor.keyId === null) return;
      const hasFlag = snapshots.get(environment.id)?.get(key) !== undefined;
      const code = hasFlag ? "TYPE_MISMATCH" : "FLAG_NOT_FOUND";
      const count = counts[code] ?? 0;
      if (count === 0) return;
      // Two names that differ only in broken surrogates would be the same in the database.
      const name = program.toWellFormed();
      put(environment.id, {
        ...{ keyId, code, count },
        flagKey: key,
        program: name,
        lastAt: clock(),
      });
    },

    async list(environmentId, hours) {
      await flush();
      const since = new Date(clock().getTime() - hours * hourLength);
      const rows = await listEvaluationErrors(store, environmentId, since, maxListed);
      return evaluationErrorCodes
        .flatMap((code) => {
          const byKey = Map.groupBy(
            rows.filter((row) => row.code === code),
            ({ flagKey }) => flagKey,
          );
          return [...byKey].map(([key, ofKey]): EvaluationError => {
            const byProgram = Map.groupBy(ofKey, ({ program }) => program);
            return {
              ...{ key, errorCode: code, ...totalOf(ofKey) },
              deletion: ofKey[0]?.deletion ?? null,
              programs: [...byProgram]
                .map(([name, ofProgram]) => ({ name, ...totalOf(ofProgram) }))
                .sort((one, other) => (one.name < other.name ? -1 : 1)),
            };
          });
        })
        .sort((one, other) => (one.key < other.key ? -1 : 1));
    },

    close,
  };
};

const totalOf = (rows: readonly Pick<NewProgramErrors, "count" | "lastAt">[]) => ({
  count: rows.reduce((sum, { count }) => sum + count, 0),
  lastEvaluatedAt: new Date(Math.max(...rows.map(({ lastAt }) => lastAt.getTime()))),
});
