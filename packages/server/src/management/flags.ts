// Changes of flags: one, or several together, in one transaction.
import type { CreateFlag, PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import type { EnvironmentState, FlagDecision, VersionedFlag } from "../domain/change.ts";
import {
  checkPrecondition,
  decideCreate,
  decideDelete,
  decidePatch,
  type Precondition,
} from "../domain/change-flag.ts";
import type { Caller } from "../domain/principal.ts";
import {
  environmentGone,
  type Failure,
  fail,
  noEnvironment,
  notFound,
  ok,
  type Result,
} from "../errors.ts";
import type { Clock, NewIds, Store, Transaction } from "../ports.ts";
import { createCommit, type Locked } from "./commit.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "./idempotency.ts";

export interface FlagPatch {
  readonly key: string;
  readonly patch: PatchFlag;
  readonly precondition: Precondition;
}

/** Why several changes were refused, and which of them it was. */
export interface RefusedPatch {
  readonly index: number;
  readonly failure: Failure;
}

export interface Flags {
  create(
    caller: Caller,
    request: CreateFlag,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedFlag>>;
  patch(
    caller: Caller,
    key: string,
    patch: PatchFlag,
    precondition: Precondition,
  ): Promise<Result<VersionedFlag>>;
  /** All of them in their order, or none. `describe` says which of them was refused. */
  patchAll(
    caller: Caller,
    patches: readonly FlagPatch[],
    describe: (refused: RefusedPatch) => Failure,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<readonly VersionedFlag[]>>;
  remove(caller: Caller, key: string, precondition: Precondition): Promise<Result<void>>;
}

/** Ends the transaction, so that nothing of it happens. */
class Refusal extends Error {
  readonly refused: RefusedPatch;
  constructor(refused: RefusedPatch) {
    super("refused");
    this.refused = refused;
  }
}

export const createFlags = (store: Store, clock: Clock, newIds: NewIds): Flags => {
  const commit = createCommit(clock, newIds);

  /** Sent together to save round trips, and executed in this order: the reads happen under the lock. */
  const lockWith = async <T>(
    transaction: Transaction,
    environmentId: number,
    read: () => Promise<T>,
  ): Promise<{ readonly locked: Locked | undefined; readonly found: T }> => {
    const [state, found, webhooks] = await Promise.all([
      transaction.lockEnvironment(environmentId),
      read(),
      transaction.webhooks(environmentId),
    ]);
    return { locked: state && { state, webhooks }, found };
  };

  const onFlag = <T>(
    caller: Caller,
    key: string,
    precondition: Precondition,
    work: (
      current: VersionedFlag,
      commitChange: (decision: FlagDecision) => Promise<Result<EnvironmentState>>,
    ) => Promise<Result<T>>,
  ): Promise<Result<T>> =>
    store.transact(async (transaction) => {
      const { id } = caller.environment;
      const { locked, found: current } = await lockWith(transaction, id, () =>
        transaction.flag(id, key),
      );
      if (!locked) return noEnvironment;
      const holds = checkCurrent(current, key, precondition);
      if (!holds.ok) return holds;
      return work(holds.value, (decision) => commit(transaction, locked, caller, decision));
    });

  const patchOne = async (
    current: VersionedFlag,
    patch: PatchFlag,
    commitChange: (decision: FlagDecision) => Promise<Result<EnvironmentState>>,
  ): Promise<Result<VersionedFlag>> => {
    const decision = decidePatch(current, patch);
    if (!decision.ok) return decision;
    if (!decision.value) return ok(current);
    const committed = await commitChange(decision.value);
    return committed.ok ? versioned(decision.value) : committed;
  };

  return {
    create: (caller, request, once) =>
      store.transact((transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const { id } = caller.environment;
          const { locked, found } = await lockWith(transaction, id, () =>
            Promise.all([
              transaction.flag(id, request.key),
              transaction.lastVersion(id, "flag", request.key),
            ]),
          );
          if (!locked) return noEnvironment;
          const decision = decideCreate(locked.state, ...found, request);
          if (!decision.ok) return decision;
          const committed = await commit(transaction, locked, caller, decision.value);
          return committed.ok ? versioned(decision.value) : committed;
        }),
      ),

    async patch(caller, key, patch, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(caller, key, precondition, (current, commitChange) =>
        patchOne(current, patch, commitChange),
      );
    },

    async patchAll(caller, patches, describe, once) {
      const work = async (transaction: Transaction): Promise<Result<readonly VersionedFlag[]>> => {
        const { id } = caller.environment;
        const { locked } = await lockWith(transaction, id, async () => undefined);
        if (!locked) throw new Refusal({ index: 0, failure: environmentGone });
        let { state } = locked;
        const done: VersionedFlag[] = [];
        for (const [index, { key, patch, precondition }] of patches.entries()) {
          const current = await transaction.flag(id, key);
          const holds = checkCurrent(current, key, precondition);
          const patched = holds.ok
            ? await patchOne(holds.value, patch, async (decision) => {
                const committed = await commit(transaction, { ...locked, state }, caller, decision);
                if (committed.ok) state = committed.value;
                return committed;
              })
            : holds;
          if (!patched.ok) throw new Refusal({ index, failure: patched.failure });
          done.push(patched.value);
        }
        return ok(done);
      };
      try {
        return await store.transact((transaction) =>
          runIdempotent(transaction, once, clock, () => work(transaction)),
        );
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { result: fail(describe(error.refused)), repeated: false };
      }
    },

    async remove(caller, key, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(caller, key, precondition, async (current, commitChange) => {
        const committed = await commitChange(decideDelete(current));
        return committed.ok ? ok(undefined) : committed;
      });
    },
  };
};

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

const versioned = ({ after, version, level, key }: FlagDecision): Result<VersionedFlag> =>
  after ? ok({ flag: after, version, level }) : notFound("The flag", key);
