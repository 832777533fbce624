// What everybody writes with: applies a list of operations, or proposes it where the environment asks for a second person.

import { checkBypass, type ProposedOperation } from "../features/change-requests/change-request.ts";
import {
  createInsertRequest,
  type ProposalOptions,
} from "../features/change-requests/insert-request.ts";
import { checkStillOwner } from "../features/change-requests/rights.ts";
import type { ShownRequest } from "../features/change-requests/show.ts";
import type { CheckLimit } from "../features/previews/check-limit.ts";
import {
  type Actor,
  type Author,
  type Caller,
  withoutAddress,
} from "../platform/auth/principal.ts";
import type { Clock, NewIds, Store } from "../platform/database/store.ts";
import { conflict, type Failure, fail, ok, type Result, RolledBack } from "../platform/errors.ts";
import type { Decision, EnvironmentState } from "./change.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "./idempotency.ts";
import { flipLimitOf } from "./impact-limit.ts";
import { needsApproval, type Operation, type Planned } from "./operation.ts";
import { createOperations, type RefusedOperation, type Step } from "./operations.ts";
import { transactFor } from "./transact-for.ts";

export interface RunOptions {
  readonly once?: IdempotentRequest | undefined;
  /** Of a list: says which of them was refused. */
  readonly describe?: (refused: RefusedOperation) => Failure;
}

export interface Changes {
  /**
   * All of them in their order, or none. Where a second person is asked for, nothing is changed: the failure carries the
   * change request.
   */
  run(
    caller: Caller,
    planned: readonly Planned[],
    options?: RunOptions,
  ): Promise<IdempotentResult<readonly unknown[]>>;
  /** What the operations would do now, without doing it. */
  dryRun(
    environmentId: number,
    actor: Actor,
    planned: readonly Planned[],
  ): Promise<
    | { readonly ok: true; readonly value: TriedOut }
    | { readonly ok: false; readonly refused: RefusedOperation }
  >;
  /** The same for a change request of the caller, which the limit on flips is asked about. */
  draft(caller: Caller, planned: readonly Planned[]): Promise<Result<readonly ProposedOperation[]>>;
  /** What was drafted, or why it could not be: that is the answer too, unless an earlier one was kept. */
  propose(
    caller: Caller,
    drafted: Result<readonly ProposedOperation[]>,
    options?: ProposalOptions,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<ShownRequest>>;
}

class Refusal extends RolledBack {
  readonly refused: RefusedOperation;
  constructor(refused: RefusedOperation) {
    super("refused");
    this.refused = refused;
  }
}

/** It was only tried: a second person has to look at it first, or the limit on flips has to be asked. */
class TriedOut extends RolledBack {
  readonly steps: readonly Step[];
  /** The environment before it. */
  readonly state: EnvironmentState;
  /** Whether the limit on flips is to be asked. */
  readonly isLimited: boolean;
  constructor(steps: readonly Step[], state: EnvironmentState, isLimited = false) {
    super("tried out");
    this.steps = steps;
    this.state = state;
    this.isLimited = isLimited;
  }
  get operations(): readonly ProposedOperation[] {
    return this.steps.filter(({ isChange }) => isChange).map(({ proposed }) => proposed);
  }
  get decisions(): readonly Decision[] {
    return decisionsOf(this.steps);
  }
}

const decisionsOf = (steps: readonly Step[]): readonly Decision[] =>
  steps.flatMap(({ decision }) => decision ?? []);

/** The same operations on things of the same versions do the same. */
const nameOf = (steps: readonly Step[]): string =>
  JSON.stringify(steps.map(({ proposed: { kind, key, version } }) => [kind, key, version]));

/** How often others may change the same things while the limit on flips is asked. */
const maxAttempts = 10;

const operationsOf = (planned: readonly Planned[]): readonly Operation[] =>
  planned.map(({ operation }) => operation);

/** What the answer of a write is when it became a proposal. */
const proposedInstead = (request: ShownRequest): Failure => ({
  code: "APPROVAL_NEEDED",
  message: `The environment "${request.environment}" is protected: the change was proposed as ${request.id}, and is made when ${request.approvalsNeeded === 1 ? "another person approves it" : "two people, or an owner, approve it"}.`,
  proposed: { path: `/change-requests/${request.id}`, body: request },
});

export const createChanges = (
  store: Store,
  clock: Clock,
  newIds: NewIds,
  checkLimit: CheckLimit,
): Changes => {
  const apply = createOperations(clock, newIds);
  const insert = createInsertRequest(clock, newIds);

  const dryRun: Changes["dryRun"] = async (environmentId, actor, planned) => {
    try {
      return await store.transact(async (transaction) => {
        const applied = await apply(transaction, environmentId, planned, () => ({ actor }));
        if (!applied.ok) throw new Refusal(applied.refused);
        throw new TriedOut(applied.value.steps, applied.value.before);
      });
    } catch (error) {
      if (error instanceof TriedOut) return { ok: true, value: error };
      if (error instanceof Refusal) return { ok: false, refused: error.refused };
      throw error;
    }
  };

  /** Once, unless something else has changed the same things since `allowed` was found to be within the limit. */
  const attempt = (
    caller: Caller,
    planned: readonly Planned[],
    { once, describe }: RunOptions,
    allowed: string | undefined,
  ): Promise<IdempotentResult<readonly unknown[]>> => {
    const { environment, actor, reason, bypass = false } = caller;
    const isAsked = (state: EnvironmentState): boolean =>
      needsApproval(state, caller, operationsOf(planned));
    const authorIn = (state: EnvironmentState): Author =>
      bypass && reason !== undefined && isAsked(state)
        ? { actor, reason, review: { bypass: { actor: withoutAddress(actor), reason } } }
        : { actor, reason };
    return store.transact(
      (transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const applied = await apply(transaction, environment.id, planned, authorIn);
          if (!applied.ok) {
            // A single one that was refused has written nothing, and its answer is kept.
            if (!describe && planned.length === 1) return fail(applied.refused.failure);
            throw new Refusal(applied.refused);
          }
          const { steps, before } = applied.value;
          const isLimited = flipLimitOf(before, caller) !== undefined;
          if (isLimited && decisionsOf(steps).length > 0 && allowed !== nameOf(steps)) {
            throw new TriedOut(steps, before, true);
          }
          if (isAsked(before) && steps.some(({ isChange }) => isChange)) {
            if (!bypass) throw new TriedOut(steps, before);
            const still = await checkStillOwner(transaction, caller);
            if (!still.ok) throw new Refusal({ index: 0, failure: still.failure });
          }
          return ok(steps.map(({ value }) => value));
        }),
      { environmentId: environment.id, requester: caller },
    );
  };

  return {
    dryRun,

    async draft(caller, planned) {
      const tried = await dryRun(caller.environment.id, caller.actor, planned);
      if (!tried.ok) return fail(failureAt(tried.refused));
      const within = await checkLimit(caller, tried.value.state, tried.value.decisions);
      return within.ok ? ok(tried.value.operations) : within;
    },

    propose: (caller, drafted, options = {}, once) =>
      transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, async () =>
          drafted.ok ? insert(transaction, caller, drafted.value, options) : drafted,
        ),
      ),

    async run(caller, planned, options = {}) {
      const { once, describe } = options;
      const mayBypass = caller.bypass ? checkBypass(caller) : ok(undefined);
      if (!mayBypass.ok) return { result: mayBypass, repeated: false };
      let allowed: string | undefined;
      for (let tries = 0; tries < maxAttempts; tries += 1) {
        try {
          return await attempt(caller, planned, options, allowed);
        } catch (error) {
          if (error instanceof Refusal) {
            const { refused } = error;
            return { result: fail(describe?.(refused) ?? refused.failure), repeated: false };
          }
          if (!(error instanceof TriedOut)) throw error;
          if (!error.isLimited) {
            return transactFor(store, caller, (transaction) =>
              runIdempotent(transaction, once, clock, async () => {
                const made = await insert(transaction, caller, error.operations, {});
                return made.ok ? fail(proposedInstead(made.value)) : made;
              }),
            );
          }
          const within = await checkLimit(caller, error.state, error.decisions);
          if (!within.ok) return { result: within, repeated: false };
          allowed = nameOf(error.steps);
        }
      }
      return { result: busy, repeated: false };
    },
  };
};

const busy = conflict(
  "Others changed the same things again and again while this change was compared with the limit on flips; try again.",
);

/** Says which operation of a request it was. */
export const failureAt = ({ index, failure }: RefusedOperation): Failure => {
  const place = `operations[${index}]`;
  if (failure.details === undefined) {
    return { ...failure, message: `${place}: ${failure.message}` };
  }
  const details = failure.details.map(({ field, message }) => ({
    field: `${place}.body.${field}`,
    message,
  }));
  const message = details.map((each) => `${each.field} ${each.message}.`).join(" ");
  return { ...failure, message, details };
};
