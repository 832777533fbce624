// Changes of flags, one transaction at a time.
import type { CreateFlag, PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import {
  buildEvents,
  type Decision,
  type EnvironmentState,
  type VersionedFlag,
} from "../domain/change.ts";
import {
  checkPrecondition,
  decideCreate,
  decideDelete,
  decidePatch,
  type Precondition,
} from "../domain/change-flag.ts";
import type { Actor, Caller } from "../domain/principal.ts";
import { deliveriesOf, type Webhook } from "../domain/webhooks/webhook.ts";
import { noEnvironment, notFound, ok, type Result } from "../errors.ts";
import type { Clock, NewIds, Store, Transaction } from "../ports.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "./idempotency.ts";

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
  remove(caller: Caller, key: string, precondition: Precondition): Promise<Result<void>>;
}

export const createFlags = (store: Store, clock: Clock, newIds: NewIds): Flags => {
  const commit = async (
    transaction: Transaction,
    state: EnvironmentState,
    webhooks: readonly Webhook[],
    actor: Actor,
    decision: Decision,
  ): Promise<void> => {
    const change = buildEvents(state, decision, actor, clock(), newIds.event);
    await transaction.commit(change, deliveriesOf(change, webhooks, newIds.delivery));
  };

  const onFlag = <T>(
    { actor, environment }: Caller,
    key: string,
    precondition: Precondition,
    work: (
      current: VersionedFlag,
      commitChange: (decision: Decision) => Promise<void>,
    ) => Promise<Result<T>>,
  ): Promise<Result<T>> =>
    store.transact(async (transaction) => {
      // Sent together to save round trips, and executed in this order: the reads happen under the lock.
      const [state, current, webhooks] = await Promise.all([
        transaction.lockEnvironment(environment.id),
        transaction.flag(environment.id, key),
        transaction.webhooks(environment.id),
      ]);
      if (!state) return noEnvironment;
      if (!current) return notFound("The flag", key);
      const holds = checkPrecondition(current, precondition);
      if (!holds.ok) return holds;
      return work(current, (decision) => commit(transaction, state, webhooks, actor, decision));
    });

  return {
    create: ({ actor, environment }, request, once) =>
      store.transact((transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const [state, existing, lastVersion, webhooks] = await Promise.all([
            transaction.lockEnvironment(environment.id),
            transaction.flag(environment.id, request.key),
            transaction.lastVersion(environment.id, request.key),
            transaction.webhooks(environment.id),
          ]);
          if (!state) return noEnvironment;
          const decision = decideCreate(state, existing, lastVersion, request);
          if (!decision.ok) return decision;
          await commit(transaction, state, webhooks, actor, decision.value);
          return versioned(decision.value);
        }),
      ),

    async patch(caller, key, patch, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(caller, key, precondition, async (current, commitChange) => {
        const decision = decidePatch(current, patch);
        if (!decision.ok) return decision;
        if (!decision.value) return ok(current);
        await commitChange(decision.value);
        return versioned(decision.value);
      });
    },

    async remove(caller, key, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(caller, key, precondition, async (current, commitChange) => {
        await commitChange(decideDelete(current));
        return ok(undefined);
      });
    },
  };
};

const versioned = ({ after, version, level, key }: Decision): Result<VersionedFlag> =>
  after ? ok({ flag: after, version, level }) : notFound("The flag", key);
