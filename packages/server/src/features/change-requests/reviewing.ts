// What others do with a change request: approve, refuse, comment; and its application, at once or at its time.

import { type Caller, halyard, type Requester, type Role } from "../../platform/auth/principal.ts";
import type { Clock, Store } from "../../platform/database/store.ts";
import { conflict, type Failure, fail, ok, type Result } from "../../platform/errors.ts";
import type { Precondition } from "../../platform/precondition.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../writes/idempotency.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { sameHuman } from "../people/one-human.ts";
import type { Announce } from "./announce.ts";
import { type ApplyRequest, NotApplied } from "./apply-request.ts";
import { checkApprovals } from "./approvals.ts";
import {
  type ChangeRequest,
  checkBypass,
  checkFresh,
  isDue,
  isRequestId,
  maxComments,
  movedOn,
} from "./change-request.ts";
import {
  insertApproval,
  insertComment,
  listDueRequests,
  updateChangeRequest,
  voidApprovals,
} from "./queries.ts";
import { checkStillOwner, lapsedApprovals, reviewerRole } from "./rights.ts";
import {
  checkFirstApproval,
  checkPerson,
  checkReviewer,
  givenApprovals,
  withoutApprovals,
} from "./rules.ts";
import { approvalsNeeded, checkSeen, type ShownRequest, showRequest, withMoved } from "./show.ts";
import { type Callback, createClose, missing, type OnPending, underLock } from "./under-lock.ts";

export interface Reviewing {
  /** Applies it, unless its time is still to come. `seen` is the digest of what they have looked at. */
  approve(caller: Caller, id: string, seen?: Precondition): Promise<Result<ShownRequest>>;
  refuse(caller: Caller, id: string, comment?: string): Promise<Result<ShownRequest>>;
  comment(
    caller: Caller,
    id: string,
    text: string,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<ShownRequest>>;
  /** An approved one whose time has come. */
  apply(caller: Caller, id: string): Promise<Result<ShownRequest>>;
  /** An owner applies it without an approval; the caller's reason says why. */
  bypass(caller: Caller, id: string, seen?: Precondition): Promise<Result<ShownRequest>>;
  /** Applies one whose time has come; false when there is none. */
  applyNext(): Promise<boolean>;
}

/** Looked at in one go: one that cannot be applied must not keep the others from it. */
const dueAtOnce = 10;

const tooMany = (what: string): Result<never> =>
  conflict(`A change request takes at most ${maxComments} ${what}.`);

export const createReviewing = (
  store: Store,
  clock: Clock,
  announce: Announce,
  applyRequest: ApplyRequest,
  onPending: OnPending,
): Reviewing => {
  const close = createClose(clock, announce);

  /** The reviewer's accounts and role are read under the lock. */
  const onReview = (
    caller: Caller,
    id: string,
    callback: (
      ...given: [...Parameters<Callback<ShownRequest>>, accounts: ReadonlySet<string>, role: Role]
    ) => ReturnType<Callback<ShownRequest>>,
  ) =>
    onPending(caller, id, async (transaction, request, locked) => {
      const person = checkPerson(caller.actor);
      if (!person.ok) return person;
      const accounts = await sameHuman(transaction, person.value.id);
      const other = checkReviewer(request, person.value, accounts);
      if (!other.ok) return other;
      const role = await reviewerRole(transaction, caller, person.value.id);
      return role.ok ? callback(transaction, request, locked, accounts, role.value) : role;
    });

  /** It was due and could not be applied: it is open again, and says why. */
  const reopen = (environmentId: number, id: string, requester: Requester, { message }: Failure) =>
    transactFor(store, requester, (transaction) =>
      underLock(transaction, environmentId, id, async (own, before, locked) => {
        const at = clock();
        if (before.state !== "approved" || !isDue(before, at)) return ok(undefined);
        const comment = `It could not be applied: ${message}`;
        const request: ChangeRequest = { ...before, state: "open", updatedAt: at };
        const author = { actor: halyard };
        await voidApprovals(own, id);
        await insertComment(own, id, { ...author, at, text: comment });
        await updateChangeRequest(own, request);
        const type = "change_request.commented";
        await announce(own, locked, type, request, author, { comment, before });
        return ok(undefined);
      }),
    );

  const applyDue = async (
    environmentId: number,
    id: string,
    requester: Requester,
  ): Promise<Result<void>> => {
    try {
      return await transactFor(store, requester, (transaction) =>
        underLock(transaction, environmentId, id, async (own, request, locked) => {
          // Another instance may have been faster, or somebody has edited it.
          if (request.state !== "approved" || !isDue(request, clock())) {
            return conflict(
              `The change request "${id}" is not approved, or its time has not come.`,
            );
          }
          const enough = await checkApprovals(own, environmentId, request);
          if (!enough.ok) throw new NotApplied(enough.failure);
          await applyRequest(own, locked, request, { actor: requester.actor });
          return ok(undefined);
        }),
      );
    } catch (error) {
      if (!(error instanceof NotApplied)) throw error;
      await reopen(environmentId, id, requester, error.failure);
      return fail(error.failure);
    }
  };

  return {
    approve: (caller, id, seen) =>
      onReview(caller, id, async (transaction, stored, locked, accounts, role) => {
        const { actor, environment } = caller;
        const isSeen = checkSeen(stored, seen);
        if (!isSeen.ok) return isSeen;
        const fresh = checkFresh(caller, stored.operations);
        if (!fresh.ok) return fresh;
        if (stored.state === "open") {
          const lapsed = await lapsedApprovals(transaction, environment.id, stored);
          const before = withoutApprovals(stored, lapsed);
          if (before.approvals.length >= maxComments) return tooMany("approvals");
          const isOwner = caller.role === "owner" && role === "owner";
          const first = isOwner ? ok(undefined) : checkFirstApproval(before, accounts);
          if (!first.ok) return first;
          const [shown] = await withMoved(transaction, environment.id, [before]);
          if (shown && shown.moved.length > 0) return fail(movedOn(shown.moved));
          const at = clock();
          if (lapsed.length > 0) {
            await voidApprovals(
              transaction,
              id,
              lapsed.map((each) => each.actor),
            );
          }
          await insertApproval(transaction, id, { actor, at });
          const approvals = [...before.approvals, { actor, at, state: "given" as const }];
          const given = { ...before, approvals, updatedAt: at };
          const needed = await approvalsNeeded(transaction, before);
          const isEnough = isOwner || givenApprovals(given).length >= needed;
          const approved: ChangeRequest = { ...given, state: isEnough ? "approved" : "open" };
          await updateChangeRequest(transaction, approved);
          const type = "change_request.approved";
          const author = { actor };
          const more = { before };
          const after = await announce(transaction, locked, type, approved, author, more);
          if (isEnough && isDue(approved, at)) {
            await applyRequest(transaction, after, approved, author);
          }
        }
        return showRequest(transaction, environment.id, id);
      }),

    refuse: (caller, id, comment) =>
      onReview(caller, id, async (transaction, request, locked) => {
        const { actor, environment } = caller;
        if (comment !== undefined && request.comments.length >= maxComments) {
          return tooMany("comments");
        }
        await close(transaction, locked, request, "refused", { actor }, comment);
        return showRequest(transaction, environment.id, id);
      }),

    comment: (caller, id, text, once) =>
      transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, () =>
          underLock(transaction, caller.environment.id, id, async (own, request, locked) => {
            const { actor, environment } = caller;
            if (request.comments.length >= maxComments) return tooMany("comments");
            await insertComment(own, id, { actor, at: clock(), text });
            const type = "change_request.commented";
            const more = { comment: text, before: request };
            await announce(own, locked, type, request, { actor }, more);
            return showRequest(own, environment.id, id);
          }),
        ),
      ),

    async apply(caller, id) {
      if (!isRequestId(id)) return missing(id);
      const { environment } = caller;
      const applied = await applyDue(environment.id, id, caller);
      return applied.ok ? showRequest(store, environment.id, id) : applied;
    },

    async bypass(caller, id, seen) {
      const reason = checkBypass(caller);
      if (!reason.ok) return reason;
      const { actor, environment } = caller;
      return onPending(caller, id, async (transaction, request, locked) => {
        const isSeen = checkSeen(request, seen);
        if (!isSeen.ok) return isSeen;
        const still = await checkStillOwner(transaction, caller);
        if (!still.ok) return still;
        await applyRequest(transaction, locked, request, { actor, bypass: reason.value });
        return showRequest(transaction, environment.id, id);
      });
    },

    async applyNext() {
      let failure: { readonly error: unknown } | undefined;
      for (const { environmentId, id } of await listDueRequests(store, clock(), dueAtOnce)) {
        try {
          if ((await applyDue(environmentId, id, { actor: halyard })).ok) return true;
        } catch (error) {
          // Those behind it do not wait for it.
          failure ??= { error };
        }
      }
      if (failure) throw failure.error;
      return false;
    },
  };
};
