// Applies a list of operations within one transaction, under the environment's lock: all that flags, segments and change requests write.

import type { ProposedOperation } from "../features/change-requests/change-request.ts";
import { prepareFlag } from "../features/flags/operations.ts";
import { prepareSegment } from "../features/segments/operations.ts";
import { listKeys, updateWritesDirectly } from "../platform/auth/key-queries.ts";
import type { Author } from "../platform/auth/principal.ts";
import type { Clock, Locked, NewIds, Transaction } from "../platform/database/store.ts";
import { updateProtected } from "../platform/environments.ts";
import {
  conflict,
  environmentGone,
  type Failure,
  notFound,
  ok,
  type Result,
} from "../platform/errors.ts";
import type { Precondition } from "../platform/precondition.ts";
import { type Decision, type EnvironmentState, previewOf } from "./change.ts";
import { createCommit } from "./commit.ts";
import type { Decide, Operation, OperationOf, Planned } from "./operation.ts";

/** One operation that was written. */
export interface Step {
  readonly value: unknown;
  /** What it changes; undefined when nothing, and of what has no versions. */
  readonly decision?: Decision | undefined;
  readonly isChange: boolean;
  readonly proposed: ProposedOperation;
}

export interface Applied {
  readonly steps: readonly Step[];
  /** As it was read under the lock, and as it is now. */
  readonly before: EnvironmentState;
  readonly locked: Locked;
}

/** Why a list was refused, and which operation it was. */
export interface RefusedOperation {
  readonly index: number;
  readonly failure: Failure;
}

export type ApplyResult =
  | { readonly ok: true; readonly value: Applied }
  | { readonly ok: false; readonly refused: RefusedOperation };

/** Reads what it needs at once, so that it can be asked for together with the lock. */
const prepare = (
  transaction: Transaction,
  environmentId: number,
  operation: OperationOf<"flag"> | OperationOf<"segment">,
): Promise<Decide> =>
  operation.kind === "flag"
    ? prepareFlag(transaction, environmentId, operation)
    : prepareSegment(transaction, environmentId, operation);

type Write = (
  locked: Locked,
  author: Author,
) => Promise<Result<Step & { state: EnvironmentState }>>;

export const createOperations = (clock: Clock, newIds: NewIds) => {
  const commit = createCommit(clock, newIds);

  const writeDecided =
    (
      transaction: Transaction,
      operation: Operation,
      precondition: Precondition,
      decide: Decide,
    ): Write =>
    async (locked, author) => {
      const decided = await decide(locked.state, precondition);
      if (!decided.ok) return decided;
      const { decision, version, value } = decided.value;
      if (!decision) {
        const proposed = { ...operation, version, before: null, after: null };
        return ok({ value, isChange: false, proposed, state: locked.state });
      }
      const committed = await commit(transaction, locked, author, decision);
      if (!committed.ok) return committed;
      const proposed = { ...operation, version, ...previewOf(decision) };
      return ok({ value, decision, isChange: true, proposed, state: committed.value });
    };

  /** What has no versions and makes no revision. */
  const writeSetting =
    (transaction: Transaction, operation: OperationOf<"key"> | OperationOf<"environment">): Write =>
    async ({ state }, { actor, reason, review }) => {
      const { kind, key, body } = operation;
      const name = kind === "key" ? "writesDirectly" : "protected";
      const wanted = kind === "key" ? body.writesDirectly : body.protected;
      let is = state.isProtected;
      let what: object = { name: state.name };
      if (kind === "key") {
        const found = (await listKeys(transaction, state.id)).find(({ id }) => id === key);
        if (!found) return notFound("The API key", key);
        if (found.user && wanted) {
          return conflict(
            `"${found.name}" is a personal key of ${found.user.name}: changes of people need an approval; use a key of a program.`,
          );
        }
        is = found.writesDirectly;
        what = { id: key, name: found.name, role: found.role };
      } else if (key !== state.name) return notFound("The environment", key);
      const proposed = {
        ...operation,
        version: null,
        before: { ...what, [name]: is },
        after: { ...what, [name]: wanted },
      };
      const step = { value: proposed.after, proposed };
      if (is === wanted) return ok({ ...step, isChange: false, state });
      if (kind === "key") await updateWritesDirectly(transaction, state.id, key, wanted);
      else await updateProtected(transaction, state.id, wanted);
      const chain = await transaction.record(state.id, {
        subject: kind,
        subjectId: key,
        version: null,
        at: clock(),
        actor,
        reason,
        review,
        actions: [kind === "key" ? "key.updated" : "environment.updated"],
        before: proposed.before,
        after: proposed.after,
      });
      const isProtected = kind === "environment" ? wanted : state.isProtected;
      return ok({ ...step, isChange: true, state: { ...state, isProtected, chain } });
    };

  const prepareWrite = async (
    transaction: Transaction,
    environmentId: number,
    { operation, precondition }: Planned,
  ): Promise<Write> => {
    if (operation.kind === "key" || operation.kind === "environment") {
      return writeSetting(transaction, operation);
    }
    const decide = await prepare(transaction, environmentId, operation);
    return writeDecided(transaction, operation, precondition, decide);
  };

  /** All of them in their order. Whoever gets a refusal ends the transaction, unless it is of the first. */
  return async (
    transaction: Transaction,
    environmentId: number,
    planned: readonly Planned[],
    authorIn: (state: EnvironmentState) => Author,
  ): Promise<ApplyResult> => {
    const [first, ...rest] = planned;
    // Sent together to save round trips, and executed in this order: the reads happen under the lock.
    const [locked, writeFirst] = await Promise.all([
      transaction.lockEnvironment(environmentId),
      first && prepareWrite(transaction, environmentId, first),
    ]);
    if (!locked) return { ok: false, refused: { index: 0, failure: environmentGone } };
    const { state: before, webhooks } = locked;
    const author = authorIn(before);
    let state = before;
    const steps: Step[] = [];
    const run = async (write: Write): Promise<Failure | undefined> => {
      const written = await write({ state, webhooks }, author);
      if (!written.ok) return written.failure;
      state = written.value.state;
      steps.push(written.value);
      return undefined;
    };
    let failure = writeFirst && (await run(writeFirst));
    for (const each of rest) {
      if (failure) break;
      failure = await run(await prepareWrite(transaction, environmentId, each));
    }
    return failure
      ? { ok: false, refused: { index: steps.length, failure } }
      : { ok: true, value: { steps, before, locked: { state, webhooks } } };
  };
};
export type ApplyOperations = ReturnType<typeof createOperations>;
