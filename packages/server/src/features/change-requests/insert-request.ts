// Writes a new change request, within a transaction.
import type { ApiKey } from "../../platform/auth/api-key.ts";
import { findKey } from "../../platform/auth/key-queries.ts";
import type { Caller, EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Clock, NewIds, Transaction } from "../../platform/database/store.ts";
import { conflict, noEnvironment, ok, type Result } from "../../platform/errors.ts";
import { createAnnounce } from "./announce.ts";
import {
  identityOf,
  maxOpenRequests,
  operatorIdentity,
  type ProposedOperation,
  type RequestRow,
  titleOf,
  withinPreview,
} from "./change-request.ts";
import { countPendingRequests, insertChangeRequest } from "./queries.ts";
import { type ShownRequest, showRequest } from "./show.ts";

export interface ProposalOptions {
  readonly applyAt?: Date | null;
}

/** The person or key that proposes; and the person who issued the key. */
const authorsOf = (
  { actor, role }: Pick<Caller, "actor" | "role">,
  key: ApiKey | undefined,
): readonly string[] => {
  const issuer = key?.createdBy ?? null;
  const isByLink = key !== undefined && role === "owner" && key.role !== "owner";
  return [
    ...new Set([
      identityOf(actor),
      ...(issuer === null ? [] : [issuer]),
      ...(isByLink ? [operatorIdentity] : []),
    ]),
  ];
};

/** Under the lock of the environment. */
export const checkOpenRequests = async (
  transaction: Transaction,
  { id, name }: EnvironmentRef,
): Promise<Result<void>> =>
  (await countPendingRequests(transaction, id)) < maxOpenRequests
    ? ok(undefined)
    : conflict(
        `The environment "${name}" has ${maxOpenRequests} open change requests, the maximum; refuse or withdraw some first.`,
      );

export const createInsertRequest = (clock: Clock, newIds: NewIds) => {
  const announce = createAnnounce(clock, newIds);

  return async (
    transaction: Transaction,
    caller: Caller,
    operations: readonly ProposedOperation[],
    { applyAt = null }: ProposalOptions = {},
  ): Promise<Result<ShownRequest>> => {
    const { actor, environment, reason } = caller;
    const [locked, key] = await Promise.all([
      transaction.lockEnvironment(environment.id),
      actor.keyId === null ? undefined : findKey(transaction, actor.keyId),
    ]);
    if (!locked) return noEnvironment;
    const possible = await checkOpenRequests(transaction, environment);
    if (!possible.ok) return possible;
    const now = clock();
    const request: RequestRow = {
      id: newIds.changeRequest(),
      state: "open",
      title: titleOf(operations),
      reason: reason ?? null,
      author: actor,
      authors: authorsOf(caller, key),
      createdAt: now,
      updatedAt: now,
      applyAt,
      appliedAt: null,
      appliedRevision: null,
      closedBy: null,
      bypass: null,
      operations: withinPreview(operations),
    };
    await insertChangeRequest(transaction, environment.id, request);
    await announce(transaction, locked, "change_request.created", request, {
      actor,
      reason,
    });
    return showRequest(transaction, environment.id, request.id);
  };
};
