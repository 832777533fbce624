// What everybody writes with: applies a list of operations, or proposes it where the environment asks for a second person.
import type { EnvironmentState } from "../../domain/change.ts";
import {
  checkBypass,
  type ProposedOperation,
} from "../../domain/change-requests/change-request.ts";
import {
  needsApproval,
  type Operation,
  type Planned,
} from "../../domain/change-requests/operation.ts";
import { type Actor, type Author, type Caller, withoutAddress } from "../../domain/principal.ts";
import { type Failure, fail, ok, type Result, RolledBack } from "../../errors.ts";
import type { Clock, NewIds, Store, Transaction } from "../../ports.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "../idempotency.ts";
import { createInsertRequest, type ProposalOptions } from "./insert-request.ts";
import { createOperations, type RefusedOperation, type Step } from "./operations.ts";
import type { ShownRequest } from "./show.ts";

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
  preview(
    environmentId: number,
    actor: Actor,
    planned: readonly Planned[],
  ): Promise<Result<readonly ProposedOperation[]>>;
  /** What was previewed, or why it could not be: that is the answer too, unless an earlier one was kept. */
  propose(
    caller: Caller,
    previewed: Result<readonly ProposedOperation[]>,
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

/** A second person has to look at it first. */
class Preview extends RolledBack {
  readonly steps: readonly Step[];
  constructor(steps: readonly Step[]) {
    super("previewed");
    this.steps = steps;
  }
  get operations(): readonly ProposedOperation[] {
    return this.steps.filter(({ isChange }) => isChange).map(({ proposed }) => proposed);
  }
}

const operationsOf = (planned: readonly Planned[]): readonly Operation[] =>
  planned.map(({ operation }) => operation);

/** What the answer of a write is when it became a proposal. */
const proposedInstead = (request: ShownRequest): Failure => ({
  code: "APPROVAL_NEEDED",
  message: `The environment "${request.environment}" is protected: the change was proposed as ${request.id}, and is made when another person approves it.`,
  proposed: { path: `/change-requests/${request.id}`, body: request },
});

export const createChanges = (store: Store, clock: Clock, newIds: NewIds): Changes => {
  const apply = createOperations(clock, newIds);

  const insert = createInsertRequest(clock, newIds);

  return {
    propose: (caller, previewed, options = {}, once) =>
      store.transact((transaction) =>
        runIdempotent(transaction, once, clock, async () =>
          previewed.ok ? insert(transaction, caller, previewed.value, options) : previewed,
        ),
      ),

    async run(caller, planned, { once, describe } = {}) {
      const { environment, actor, reason, bypass = false } = caller;
      const mayBypass = bypass ? checkBypass(caller) : ok(undefined);
      if (!mayBypass.ok) return { result: mayBypass, repeated: false };
      const isAsked = (state: EnvironmentState): boolean =>
        needsApproval(state, caller, operationsOf(planned));
      const authorIn = (state: EnvironmentState): Author =>
        bypass && reason !== undefined && isAsked(state)
          ? { actor, reason, review: { bypass: { actor: withoutAddress(actor), reason } } }
          : { actor, reason };
      const work = async (transaction: Transaction): Promise<Result<readonly unknown[]>> => {
        const applied = await apply(transaction, environment.id, planned, authorIn);
        if (!applied.ok) {
          // A single one that was refused has written nothing, and its answer is kept.
          if (!describe && planned.length === 1) return fail(applied.refused.failure);
          throw new Refusal(applied.refused);
        }
        const { steps, before } = applied.value;
        if (!bypass && isAsked(before) && steps.some(({ isChange }) => isChange)) {
          throw new Preview(steps);
        }
        return ok(steps.map(({ value }) => value));
      };
      try {
        return await store.transact((transaction) =>
          runIdempotent(transaction, once, clock, () => work(transaction)),
        );
      } catch (error) {
        if (error instanceof Preview) {
          return store.transact((transaction) =>
            runIdempotent(transaction, once, clock, async () => {
              const made = await insert(transaction, caller, error.operations, {});
              return made.ok ? fail(proposedInstead(made.value)) : made;
            }),
          );
        }
        if (!(error instanceof Refusal)) throw error;
        const { refused } = error;
        return { result: fail(describe?.(refused) ?? refused.failure), repeated: false };
      }
    },

    async preview(environmentId, actor, planned) {
      try {
        return await store.transact(async (transaction) => {
          const applied = await apply(transaction, environmentId, planned, () => ({ actor }));
          if (!applied.ok) throw new Refusal(applied.refused);
          throw new Preview(applied.value.steps);
        });
      } catch (error) {
        if (error instanceof Preview) return ok(error.operations);
        if (!(error instanceof Refusal)) throw error;
        return fail(failureAt(error.refused));
      }
    },
  };
};

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
