// Applies a change request within a transaction: when nothing has moved on, and whoever made it may still do it.
import { actorText } from "@halyard/core/history/actor-text";
import { isExpired } from "../../platform/auth/api-key.ts";
import { findKey } from "../../platform/auth/key-queries.ts";
import {
  type Actor,
  may,
  type Review,
  type Role,
  withoutAddress,
} from "../../platform/auth/principal.ts";
import type { Clock, Locked, NewIds, Transaction } from "../../platform/database/store.ts";
import { type Failure, RolledBack } from "../../platform/errors.ts";
import { failureAt } from "../../writes/changes.ts";
import type { Planned } from "../../writes/operation.ts";
import { createOperations } from "../../writes/operations.ts";
import { roleIn } from "../people/access.ts";
import type { Announce } from "./announce.ts";
import {
  type ChangeRequest,
  movedOn,
  neededFor,
  operationOf,
  operatorIdentity,
} from "./change-request.ts";
import { updateChangeRequest } from "./queries.ts";
import { givenApprovals } from "./rules.ts";
import { withMoved } from "./show.ts";

export class NotApplied extends RolledBack {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Who applies it; and why, for an owner who does so without an approval. */
export interface Applier {
  readonly actor: Actor;
  readonly bypass?: string;
}

const namesOf = (request: ChangeRequest): readonly string[] =>
  givenApprovals(request).map(({ actor }) => actorText(actor));

export const createApplyRequest = (clock: Clock, newIds: NewIds, announce: Announce) => {
  const apply = createOperations(clock, newIds);

  /** The role of its author as it is now; undefined when they have none any more. */
  const roleOf = async (
    transaction: Transaction,
    environmentId: number,
    { author: { keyId, user }, authors }: ChangeRequest,
  ): Promise<Role | undefined> => {
    if (user) return roleIn(transaction, environmentId, user.id);
    const key = keyId === null ? undefined : await findKey(transaction, keyId);
    if (!key || isExpired(key, clock())) return undefined;
    const role = authors.includes(operatorIdentity) ? "owner" : key.role;
    // Only owners propose for other environments than that of their key.
    return role === "owner" || key.environmentId === environmentId ? role : undefined;
  };

  return async (
    transaction: Transaction,
    locked: Locked,
    request: ChangeRequest,
    { actor, bypass }: Applier,
  ): Promise<void> => {
    const { id: environmentId } = locked.state;
    const role = await roleOf(transaction, environmentId, request);
    if (!role || !neededFor(request.operations).every((permission) => may({ role }, permission))) {
      throw new NotApplied({
        code: "CONFLICT",
        message: `${actorText(request.author)}, who made this change request, may no longer make these changes; somebody else has to propose them.`,
      });
    }
    const [shown] = await withMoved(transaction, environmentId, [request]);
    if (shown && shown.moved.length > 0) throw new NotApplied(movedOn(shown.moved));
    const planned: Planned[] = request.operations.map((each) => ({
      operation: operationOf(each),
      precondition: each.version === null ? undefined : [String(each.version)],
    }));
    const reason = request.reason ?? undefined;
    const passed =
      bypass === undefined ? undefined : { actor: withoutAddress(actor), reason: bypass };
    const review: Review = {
      changeRequest: { id: request.id, approvedBy: namesOf(request) },
      ...(passed && { bypass: passed }),
    };
    const applied = await apply(transaction, environmentId, planned, () => ({
      actor: request.author,
      reason,
      review,
    }));
    if (!applied.ok) {
      const { message, details } = failureAt(applied.refused);
      throw new NotApplied({ code: "CONFLICT", message, ...(details && { details }) });
    }
    const now = clock();
    // The operations have numbered their events since the lock was taken.
    const { state } = applied.value.locked;
    const done: ChangeRequest = {
      ...request,
      state: "applied",
      updatedAt: now,
      appliedAt: now,
      appliedRevision: state.revision,
      closedBy: actor,
      bypass: passed ?? null,
    };
    await updateChangeRequest(transaction, done);
    await announce(
      transaction,
      applied.value.locked,
      "change_request.applied",
      done,
      { actor, reason, review },
      { before: request },
    );
  };
};
export type ApplyRequest = ReturnType<typeof createApplyRequest>;
