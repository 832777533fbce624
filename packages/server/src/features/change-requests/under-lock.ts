// A change request under the lock of its environment, and how it ends without being applied.

import type { Author, Caller } from "../../platform/auth/principal.ts";
import type { Clock, Locked, Store, Transaction } from "../../platform/database/store.ts";
import { fail, noEnvironment, notFound, type Result } from "../../platform/errors.ts";
import { transactFor } from "../../writes/transact-for.ts";
import type { Announce } from "./announce.ts";
import { NotApplied } from "./apply-request.ts";
import { type ChangeRequest, checkPending, isRequestId } from "./change-request.ts";
import { findChangeRequest, insertComment, updateChangeRequest } from "./queries.ts";

export type Callback<T> = (
  transaction: Transaction,
  request: ChangeRequest,
  locked: Locked,
) => Promise<Result<T>>;

export const missing = (id: string): Result<never> => notFound("The change request", id);

export const underLock = async <T>(
  transaction: Transaction,
  environmentId: number,
  id: string,
  callback: Callback<T>,
): Promise<Result<T>> => {
  if (!isRequestId(id)) return missing(id);
  const [locked, request] = await Promise.all([
    transaction.lockEnvironment(environmentId),
    findChangeRequest(transaction, environmentId, id),
  ]);
  if (!locked) return noEnvironment;
  return request ? callback(transaction, request, locked) : missing(id);
};

export type OnPending = <T>(
  caller: Caller,
  id: string,
  callback: Callback<T>,
) => Promise<Result<T>>;

/** In a transaction of its own, while something can still become of the request. */
export const createOnPending =
  (store: Store): OnPending =>
  async (caller, id, callback) => {
    try {
      return await transactFor(store, caller, (transaction) =>
        underLock(transaction, caller.environment.id, id, async (own, request, locked) => {
          const pending = checkPending(request);
          return pending.ok ? callback(own, request, locked) : pending;
        }),
      );
    } catch (error) {
      // What was not applied whole has not happened at all.
      if (error instanceof NotApplied) return fail(error.failure);
      throw error;
    }
  };

/** Nothing follows any more. */
export const createClose =
  (clock: Clock, announce: Announce) =>
  async (
    transaction: Transaction,
    locked: Locked,
    request: ChangeRequest,
    state: "refused" | "withdrawn",
    author: Author,
    comment?: string,
  ): Promise<void> => {
    const now = clock();
    const { actor } = author;
    if (comment !== undefined) {
      await insertComment(transaction, request.id, { actor, at: now, text: comment });
    }
    const closed = { ...request, state, closedBy: actor, updatedAt: now };
    await updateChangeRequest(transaction, closed);
    await announce(transaction, locked, `change_request.${state}`, closed, author, {
      before: request,
      ...(comment !== undefined && { comment }),
    });
  };
