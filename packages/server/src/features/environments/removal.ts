// Removes environments: closed at once, deleted in parts. Any instance continues what another has begun, and removes what has
// expired.

import { type Actor, halyard, operator, type Requester } from "../../platform/auth/principal.ts";
import type { Clock, Store, Transaction } from "../../platform/database/store.ts";
import {
  type Environment,
  listEnvironments,
  listUnfinishedEnvironments,
  type UnfinishedEnvironment,
} from "../../platform/environments.ts";
import { conflict, notFound, ok, type Result } from "../../platform/errors.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { closeEnvironment, deleteEnvironmentPart } from "./removal-queries.ts";
import { isOverdue } from "./rules.ts";

/** Few enough that nothing else waits long, and far from any time limit of a statement. */
export const rowsAtOnce = 1_000;
/** What a request waits for; the rest is deleted in the background. */
const partsWithin = 10;

export interface EnvironmentRemoval {
  /**
   * With everything in it, a part at a time; what was interrupted is continued by the next call. Refused while it holds
   * flags, unless `withFlags` is set.
   */
  remove(
    name: string,
    withFlags: boolean,
    onProgress?: (rows: number) => void,
  ): Promise<Result<Environment>>;
  /** By somebody else than the operator, who alone removes the last one: closed at once, and perhaps not gone yet. */
  removeFor(
    requester: Requester,
    name: string,
    withFlags: boolean,
  ): Promise<Result<{ readonly isGone: boolean }>>;
  /** A part of what is closed, expired or copied by nobody any more; false when there is nothing. */
  continueNext(): Promise<boolean>;
}

export const isTaken = ({ name, state }: UnfinishedEnvironment): Result<never> =>
  conflict(
    state === "deleting"
      ? `The environment "${name}" is being deleted; its name is free once that is done.`
      : `The environment "${name}" is being created.`,
  );

/** Nobody but the operator gets rid of a protected environment alone. */
export const isProtectedYet = (name: string): Result<never> =>
  conflict(
    `The environment "${name}" is protected: take the protection off first, which another person approves.`,
  );

export const createEnvironmentRemoval = (store: Store, clock: Clock): EnvironmentRemoval => {
  const deletePart = (id: number): Promise<number> =>
    store.transact(async (transaction) => {
      await transaction.lockEnvironment(id);
      return deleteEnvironmentPart(transaction, id, rowsAtOnce, clock());
    });

  /** Within a transaction that is alone: nobody removes another one at the same moment. */
  const close = async (
    transaction: Transaction,
    environment: Environment,
    actor: Actor,
    withFlags: boolean,
  ): Promise<Result<Environment>> => {
    const { id, name } = environment;
    // Counted under the lock: a flag may be created at the same moment.
    const held = (await transaction.lockEnvironment(id))?.state;
    if (!held) return notFound("The environment", name);
    if (held.isProtected && actor !== operator && actor !== halyard) return isProtectedYet(name);
    if (held.flagCount > 0 && !withFlags) {
      return conflict(
        `The environment "${name}" holds ${held.flagCount} flag${held.flagCount === 1 ? "" : "s"}; deleting it deletes them, its webhooks, keys and history.`,
      );
    }
    await closeEnvironment(transaction, environment, clock(), actor);
    return ok(environment);
  };

  /** One that is being deleted is found too. */
  const find = async (transaction: Transaction, name: string) => {
    const known = await listEnvironments(transaction);
    const unfinished = await listUnfinishedEnvironments(transaction);
    const found =
      known.find((environment) => environment.name === name) ??
      unfinished.find(
        (environment) => environment.name === name && environment.state === "deleting",
      );
    return { found, isLast: known.length === 1 && found === known[0] };
  };

  const expire = (id: number): Promise<void> =>
    store.transact(async (transaction) => {
      await transaction.alone();
      const known = await listEnvironments(transaction);
      const found = known.find((environment) => environment.id === id);
      // Somebody may have kept it since; and one that nobody could replace stays.
      if (!found || !isOverdue(found, clock()) || known.length === 1) return;
      await close(transaction, found, halyard, true);
    });

  return {
    async remove(name, withFlags, onProgress) {
      const closed = await store.transact(async (transaction) => {
        await transaction.alone();
        const { found } = await find(transaction, name);
        return found
          ? close(transaction, found, operator, withFlags)
          : notFound("The environment", name);
      });
      if (!closed.ok) return closed;
      let rows = 0;
      for (;;) {
        const deleted = await deletePart(closed.value.id);
        if (deleted === 0) return closed;
        rows += deleted;
        onProgress?.(rows);
      }
    },

    async removeFor(requester, name, withFlags) {
      const closed = await transactFor(store, requester, async (transaction) => {
        await transaction.alone();
        const { found, isLast } = await find(transaction, name);
        if (!found) return notFound("The environment", name);
        if (isLast) {
          return conflict(
            `The environment "${name}" is the last one; only the operator can delete it, on the server's machine with halyard environments delete --data FOLDER.`,
          );
        }
        return close(transaction, found, requester.actor, withFlags);
      });
      if (!closed.ok) return closed;
      for (let part = 0; part < partsWithin; part += 1) {
        if ((await deletePart(closed.value.id)) === 0) return ok({ isGone: true });
      }
      return ok({ isGone: false });
    },

    async continueNext() {
      const now = clock();
      const unfinished = await listUnfinishedEnvironments(store);
      const next = unfinished.find(
        ({ state, ...each }) => state === "deleting" || isOverdue(each, now),
      );
      if (next) {
        await deletePart(next.id);
        return true;
      }
      const known = await listEnvironments(store);
      const expired = known.length > 1 && known.find((each) => isOverdue(each, now));
      if (expired) await expire(expired.id);
      return expired !== false && expired !== undefined;
    },
  };
};
