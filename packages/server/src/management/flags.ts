// Flags: show them, and change them one transaction at a time.
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
import { actorOf, type Principal } from "../domain/principal.ts";
import { deliveriesOf, type Webhook } from "../domain/webhook.ts";
import { notFound, ok, type Result } from "../errors.ts";
import type { Clock, FlagList, Soon, Store, Transaction } from "../ports.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "./idempotency.ts";
import type { NewIds } from "./new-ids.ts";
import { noEnvironment } from "./no-environment.ts";

export interface Flags {
  list(principal: Principal): Soon<FlagList>;
  get(principal: Principal, key: string): Soon<Result<VersionedFlag>>;
  create(
    principal: Principal,
    request: CreateFlag,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedFlag>>;
  patch(
    principal: Principal,
    key: string,
    patch: PatchFlag,
    precondition: Precondition,
  ): Promise<Result<VersionedFlag>>;
  remove(principal: Principal, key: string, precondition: Precondition): Promise<Result<void>>;
}

export const createFlags = (store: Store, clock: Clock, newIds: NewIds): Flags => {
  /** The list of each environment as last asked for; right for as long as its revision is the current one. */
  const lists = new Map<number, FlagList>();

  const readList = async (environmentId: number): Promise<FlagList> => {
    const list = await store.flags(environmentId);
    lists.set(environmentId, list);
    return list;
  };

  const commit = async (
    transaction: Transaction,
    environment: EnvironmentState,
    webhooks: readonly Webhook[],
    principal: Principal,
    decision: Decision,
  ): Promise<void> => {
    const change = buildEvents(environment, decision, actorOf(principal), clock(), newIds.event);
    await transaction.commit(change, deliveriesOf(change, webhooks, newIds.delivery));
  };

  const onFlag = <T>(
    principal: Principal,
    key: string,
    precondition: Precondition,
    work: (
      current: VersionedFlag,
      commitChange: (decision: Decision) => Promise<void>,
    ) => Promise<Result<T>>,
  ): Promise<Result<T>> =>
    store.transact(async (transaction) => {
      const { environmentId } = principal;
      // Sent together to save round trips, and executed in this order: the reads happen under the lock.
      const [environment, current, webhooks] = await Promise.all([
        transaction.lockEnvironment(environmentId),
        transaction.flag(environmentId, key),
        transaction.webhooks(environmentId),
      ]);
      if (!environment) return noEnvironment;
      if (!current) return notFound("The flag", key);
      const holds = checkPrecondition(current, precondition);
      if (!holds.ok) return holds;
      return work(current, (decision) =>
        commit(transaction, environment, webhooks, principal, decision),
      );
    });

  return {
    list({ environmentId }) {
      const known = lists.get(environmentId);
      if (!known) return readList(environmentId);
      const current = (revision: number) =>
        revision === known.revision ? known : readList(environmentId);
      const revision = store.revision(environmentId);
      return revision instanceof Promise ? revision.then(current) : current(revision);
    },

    get({ environmentId }, key) {
      const shown = (found: VersionedFlag | undefined) =>
        found ? ok(found) : notFound("The flag", key);
      const found = isFlagKey(key) ? store.flag(environmentId, key) : undefined;
      return found instanceof Promise ? found.then(shown) : shown(found);
    },

    create: (principal, request, once) =>
      store.transact((transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const { environmentId } = principal;
          const [environment, existing, lastVersion, webhooks] = await Promise.all([
            transaction.lockEnvironment(environmentId),
            transaction.flag(environmentId, request.key),
            transaction.lastVersion(environmentId, request.key),
            transaction.webhooks(environmentId),
          ]);
          if (!environment) return noEnvironment;
          const decision = decideCreate(environment, existing, lastVersion, request);
          if (!decision.ok) return decision;
          await commit(transaction, environment, webhooks, principal, decision.value);
          return versioned(decision.value);
        }),
      ),

    async patch(principal, key, patch, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(principal, key, precondition, async (current, commitChange) => {
        const decision = decidePatch(current, patch);
        if (!decision.ok) return decision;
        if (!decision.value) return ok(current);
        await commitChange(decision.value);
        return versioned(decision.value);
      });
    },

    async remove(principal, key, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      return onFlag(principal, key, precondition, async (current, commitChange) => {
        await commitChange(decideDelete(current));
        return ok(undefined);
      });
    },
  };
};

const versioned = ({ after, version, level, key }: Decision): Result<VersionedFlag> =>
  after ? ok({ flag: after, version, level }) : notFound("The flag", key);
