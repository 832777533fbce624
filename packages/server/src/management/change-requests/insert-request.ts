// Writes a new change request, within a transaction.
import type { ApiKey } from "../../domain/api-key.ts";
import {
  identityOf,
  maxOpenRequests,
  type ProposedOperation,
  type RequestRow,
  titleOf,
  withinPreview,
} from "../../domain/change-requests/change-request.ts";
import type { Actor, Caller } from "../../domain/principal.ts";
import { conflict, noEnvironment, type Result } from "../../errors.ts";
import type { Clock, NewIds, Transaction } from "../../ports.ts";
import { createAnnounce } from "./announce.ts";
import { type ShownRequest, showRequest } from "./show.ts";

export interface ProposalOptions {
  readonly applyAt?: Date | null;
}

/** The person or key that proposes; and the person who issued the key. */
const authorsOf = (actor: Actor, keys: readonly ApiKey[]): readonly string[] => {
  const issuer = keys.find(({ id }) => id === actor.keyId)?.createdBy ?? null;
  return [...new Set([identityOf(actor), ...(issuer === null ? [] : [issuer])])];
};

export const createInsertRequest = (clock: Clock, newIds: NewIds) => {
  const announce = createAnnounce(clock, newIds);

  return async (
    transaction: Transaction,
    { actor, environment, reason }: Caller,
    operations: readonly ProposedOperation[],
    { applyAt = null }: ProposalOptions = {},
  ): Promise<Result<ShownRequest>> => {
    const [state, keys, webhooks] = await Promise.all([
      transaction.lockEnvironment(environment.id),
      transaction.keys(environment.id),
      transaction.webhooks(environment.id),
    ]);
    if (!state) return noEnvironment;
    if ((await transaction.openRequests(environment.id)) >= maxOpenRequests) {
      return conflict(
        `The environment "${environment.name}" has ${maxOpenRequests} open change requests, the maximum; refuse or withdraw some first.`,
      );
    }
    const now = clock();
    const request: RequestRow = {
      id: newIds.changeRequest(),
      state: "open",
      title: titleOf(operations),
      reason: reason ?? null,
      author: actor,
      authors: authorsOf(actor, keys),
      createdAt: now,
      updatedAt: now,
      applyAt,
      appliedAt: null,
      appliedRevision: null,
      closedBy: null,
      bypass: null,
      operations: withinPreview(operations),
    };
    await transaction.insertChangeRequest(environment.id, request);
    await announce(transaction, { state, webhooks }, "change_request.created", request, {
      actor,
      reason,
    });
    return showRequest(transaction, environment.id, request.id);
  };
};
