// What the author of a change request does with it: propose, edit, rebase, withdraw.

import { type Caller, may } from "../../platform/auth/principal.ts";
import type { Clock, Store } from "../../platform/database/store.ts";
import { conflict, fail, ok, type Result } from "../../platform/errors.ts";
import type { Changes } from "../../writes/changes.ts";
import type { IdempotentRequest, IdempotentResult } from "../../writes/idempotency.ts";
import { type Planned, permissionFor } from "../../writes/operation.ts";
import type { Announce } from "./announce.ts";
import {
  type ChangeRequest,
  checkAuthor,
  checkFresh,
  checkPending,
  checkTime,
  firstOfEach,
  isRequestId,
  operationOf,
  titleOf,
  withinPreview,
} from "./change-request.ts";
import { findChangeRequest, updateChangeRequest, voidApprovals } from "./queries.ts";
import { type ShownRequest, showRequest } from "./show.ts";
import { createClose, missing, type OnPending } from "./under-lock.ts";

export interface RequestDraft {
  readonly operations: readonly Planned[];
  readonly reason?: string | undefined;
  readonly applyAt?: Date | null;
}

export interface Rebased {
  readonly request: ShownRequest;
  /** What was different when the request was made. */
  readonly difference: readonly {
    readonly kind: string;
    readonly key: string;
    readonly was: unknown;
    readonly is: unknown;
  }[];
}

export interface Authoring {
  create(
    caller: Caller,
    draft: RequestDraft,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<ShownRequest>>;
  /** Voids its approvals. */
  edit(caller: Caller, id: string, edit: Partial<RequestDraft>): Promise<Result<ShownRequest>>;
  /** The same operations on what is there now. Voids its approvals. */
  rebase(caller: Caller, id: string): Promise<Result<Rebased>>;
  withdraw(caller: Caller, id: string): Promise<Result<ShownRequest>>;
}

const nothing = conflict("The operations change nothing: everything is so already.");

export const createAuthoring = (
  store: Store,
  changes: Changes,
  clock: Clock,
  announce: Announce,
  onPending: OnPending,
): Authoring => {
  const close = createClose(clock, announce);

  /** Whoever may not write it themselves cannot have it written by asking for an approval. */
  const checkDraft = (
    { role = "client", isStale = false }: Caller,
    operations: readonly Planned[],
    applyAt: Date | null | undefined,
  ): Result<void> => {
    const lacking = operations.find(
      ({ operation }) => !may({ role }, permissionFor[operation.kind]),
    );
    if (lacking) {
      const { kind, key } = lacking.operation;
      const message = `The role ${role} may not propose changes of the ${kind} "${key}".`;
      return fail({ code: "FORBIDDEN", message });
    }
    const fresh = checkFresh(
      { isStale },
      operations.map(({ operation }) => operation),
    );
    return fresh.ok ? checkTime(applyAt, clock()) : fresh;
  };

  /** Looked at first without a lock: what the caller may not edit need not be tried out. */
  const ownPending = async (
    { environment, actor }: Caller,
    id: string,
  ): Promise<Result<ChangeRequest>> => {
    const found = isRequestId(id) ? await findChangeRequest(store, environment.id, id) : undefined;
    if (!found) return missing(id);
    const own = checkAuthor(found, actor);
    if (!own.ok) return own;
    const pending = checkPending(found);
    return pending.ok ? ok(found) : pending;
  };

  /** Whoever approved it has to look again. */
  const rewrite = async (
    caller: Caller,
    id: string,
    planned: readonly Planned[] | undefined,
    change: Omit<Partial<RequestDraft>, "operations">,
  ): Promise<Result<ShownRequest>> => {
    const { environment, actor } = caller;
    const drafted = planned && (await changes.draft(caller, planned));
    if (drafted && !drafted.ok) return drafted;
    if (drafted?.value.length === 0) return nothing;
    return onPending(caller, id, async (transaction, before, locked) => {
      const own = checkAuthor(before, actor);
      if (!own.ok) return own;
      const operations = withinPreview(drafted?.value ?? before.operations);
      const edited: ChangeRequest = {
        ...before,
        ...(change.reason !== undefined && { reason: change.reason }),
        ...(change.applyAt !== undefined && { applyAt: change.applyAt }),
        operations,
        title: titleOf(operations),
        state: "open",
        updatedAt: clock(),
      };
      await voidApprovals(transaction, id);
      await updateChangeRequest(transaction, edited);
      const author = { actor };
      await announce(transaction, locked, "change_request.updated", edited, author, { before });
      return showRequest(transaction, environment.id, id);
    });
  };

  return {
    async create(caller, { operations, reason, applyAt = null }, once) {
      const allowed = checkDraft(caller, operations, applyAt);
      if (!allowed.ok) return { result: allowed, repeated: false };
      const drafted = await changes.draft(caller, operations);
      const wanted = drafted.ok && drafted.value.length === 0 ? nothing : drafted;
      return changes.propose({ ...caller, reason }, wanted, { applyAt }, once);
    },

    async edit(caller, id, { operations, ...change }) {
      const own = await ownPending(caller, id);
      if (!own.ok) return own;
      const allowed = checkDraft(caller, operations ?? [], change.applyAt);
      return allowed.ok ? rewrite(caller, id, operations, change) : allowed;
    },

    async rebase(caller, id) {
      const own = await ownPending(caller, id);
      if (!own.ok) return own;
      const { operations } = own.value;
      const planned = operations.map((each) => ({
        operation: operationOf(each),
        precondition: undefined,
      }));
      const rebased = await rewrite(caller, id, planned, {});
      if (!rebased.ok) return rebased;
      const was = firstOfEach(operations);
      const difference = firstOfEach(rebased.value.operations).flatMap(
        ({ kind, key, version, before }) => {
          const old = was.find((each) => each.kind === kind && each.key === key);
          return old === undefined || old.version === version
            ? []
            : [{ kind, key, was: old.before, is: before }];
        },
      );
      return ok({ request: rebased.value, difference });
    },

    withdraw: (caller, id) =>
      onPending(caller, id, async (transaction, request, locked) => {
        const { environment, actor } = caller;
        const own = checkAuthor(request, actor);
        if (!own.ok) return own;
        await close(transaction, locked, request, "withdrawn", { actor });
        return showRequest(transaction, environment.id, id);
      }),
  };
};
