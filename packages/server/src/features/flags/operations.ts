// Operations on flags: what they read under the lock, and what they decide.

import type { Transaction } from "../../platform/database/store.ts";
import { notFound, ok, type Result } from "../../platform/errors.ts";
import { checkPrecondition, type Precondition } from "../../platform/precondition.ts";
import type { VersionedFlag } from "../../writes/change.ts";
import type { Decide, Decided, OperationOf } from "../../writes/operation.ts";
import { decideCreate, decideDelete, decidePatch } from "./rules.ts";

const checkCurrent = (
  current: VersionedFlag | undefined,
  key: string,
  precondition: Precondition,
): Result<VersionedFlag> => {
  if (!current) return notFound("The flag", key);
  const { flag, version } = current;
  const holds = checkPrecondition(`The flag "${key}"`, version, flag, precondition);
  return holds.ok ? ok(current) : holds;
};

export const prepareFlag = async (
  transaction: Transaction,
  environmentId: number,
  operation: OperationOf<"flag">,
): Promise<Decide> => {
  const { key, action } = operation;
  const [current, lastVersion] =
    action === "create"
      ? await Promise.all([
          transaction.flag(environmentId, key),
          transaction.lastVersion(environmentId, "flag", key),
        ])
      : [await transaction.flag(environmentId, key), 0];

  const decide = (
    state: Parameters<Decide>[0],
    precondition: Precondition,
  ): Result<Decided["decision"]> => {
    if (action === "create") return decideCreate(state, current, lastVersion, operation.body);
    const holds = checkCurrent(current, key, precondition);
    if (!holds.ok) return holds;
    return action === "patch"
      ? decidePatch(holds.value, operation.body)
      : ok(decideDelete(holds.value));
  };

  return async (state, precondition) => {
    const decided = decide(state, precondition);
    if (!decided.ok) return decided;
    const decision = decided.value;
    const value =
      decision?.kind === "flag"
        ? decision.after && {
            flag: decision.after,
            version: decision.version,
            level: decision.level,
          }
        : current;
    return ok({ decision, version: current?.version ?? null, value });
  };
};
