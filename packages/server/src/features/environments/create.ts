// Creates environments, empty or as copies, with a first key; every owner has access to them.
import { setTimeout as pause } from "node:timers/promises";
import { type Actor, operator, type Requester } from "../../platform/auth/principal.ts";
import type { Sources, Store, Transaction } from "../../platform/database/store.ts";
import {
  type Environment,
  type EnvironmentSettings,
  listEnvironments,
  listUnfinishedEnvironments,
} from "../../platform/environments.ts";
import { conflict, fail, invalid, ok, type Result } from "../../platform/errors.ts";
import {
  earlierResult,
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
  saveBegun,
} from "../../writes/idempotency.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { type CreatedKey, issueKey } from "../keys/keys.ts";
import { admitOwners } from "../people/access.ts";
import {
  type BegunCopy,
  copyInParts,
  copyLease,
  finishCopy,
  type HeldCopy,
  holdToFinish,
  lost,
} from "./copy.ts";
import { takeOverCopy } from "./copy-queries.ts";
import { insertEnvironment } from "./queries.ts";
import { isTaken } from "./removal.ts";
import {
  checkSettings,
  environmentNamePattern,
  environmentNameRule,
  isOverdue,
  shownSettings,
} from "./rules.ts";

export interface NewEnvironment extends Partial<EnvironmentSettings> {
  readonly name: string;
  /** Milliseconds until it expires, in the place of a time. */
  readonly lifetime?: number;
  /** The name of another, whose flags and segments it begins with. */
  readonly copyOf?: string | undefined;
}

export interface CreatedEnvironment {
  readonly environment: Environment;
  /** Its first admin key. */
  readonly key: CreatedKey;
}

export interface CreateOptions {
  readonly once?: IdempotentRequest | undefined;
  /** How many rows are copied. */
  readonly onProgress?: (rows: number) => void;
}

export interface EnvironmentCreation {
  /** By the operator, empty and without a key. */
  create(name: string): Promise<Result<Environment>>;
  /** With an admin key. Every owner has access to it. */
  createWithKey(
    requester: Requester,
    wanted: NewEnvironment,
    options?: CreateOptions,
  ): Promise<IdempotentResult<CreatedEnvironment>>;
}

const beingRemoved = fail({
  code: "UNAVAILABLE",
  message:
    "The copy that this Idempotency-Key began was interrupted and is being removed; try again.",
});
/** Milliseconds to wait for the result of another request, and between two checks for it. */
const [longestWait, waitBetween] = [30_000, 100];

export const createCreation = (
  store: Store,
  dependencies: Sources & { readonly maxEnvironments: number },
) => {
  const { clock, maxEnvironments } = dependencies;

  /** Within a transaction that is alone: nobody creates another one at the same moment. */
  const checkNew = async (transaction: Transaction, name: string): Promise<Result<void>> => {
    const known = await listEnvironments(transaction);
    const unfinished = await listUnfinishedEnvironments(transaction);
    if (known.some((environment) => environment.name === name)) {
      return conflict(`The environment "${name}" already exists.`);
    }
    const taken = unfinished.find((environment) => environment.name === name);
    if (taken) return isTaken(taken);
    const count = known.length + unfinished.filter(({ state }) => state === "copying").length;
    return count < maxEnvironments
      ? ok(undefined)
      : conflict(
          `There are ${count} environments, and ${maxEnvironments} is the maximum (HALYARD_MAX_ENVIRONMENTS); delete one first.`,
        );
  };

  const recordCreated = (
    transaction: Transaction,
    environment: Environment,
    actor: Actor,
    copyOf?: string,
  ): Promise<string> =>
    transaction.record(environment.id, {
      subject: "environment",
      subjectId: environment.name,
      version: null,
      at: clock(),
      actor,
      actions: ["environment.created"],
      before: null,
      after: { ...shownSettings(environment), ...(copyOf !== undefined && { copyOf }) },
    });

  const insert = async (
    transaction: Transaction,
    { name, copyOf: _copyOf, lifetime: _lifetime, ...settings }: NewEnvironment,
    actor: Actor,
  ): Promise<Environment> => {
    const environment = await insertEnvironment(transaction, name, clock(), settings);
    await recordCreated(transaction, environment, actor);
    await admitOwners(dependencies, transaction, environment);
    return environment;
  };

  const issueFirstKey = (transaction: Transaction, environmentId: number, actor: Actor) =>
    issueKey(dependencies, transaction, environmentId, actor, { name: "admin", role: "admin" });

  const beginCopy = async (
    transaction: Transaction,
    { name, copyOf, label = null, isProtected = false, maxFlips = null }: NewEnvironment,
  ): Promise<Result<HeldCopy>> => {
    const source = (await listEnvironments(transaction)).find((each) => each.name === copyOf);
    const locked = source && (await transaction.lockEnvironment(source.id));
    if (!locked) return invalid("copyOf", `names no environment: "${copyOf}" does not exist`);
    const until = copyLease(clock());
    const settings = { label, isProtected, maxFlips, expiresAt: until };
    const target = await insertEnvironment(transaction, name, clock(), settings, source.id);
    const begun = { sourceId: source.id, targetId: target.id, revision: locked.state.revision };
    return ok({ ...begun, until, position: { table: 0, after: null } });
  };

  const endCopy = async (
    transaction: Transaction,
    copy: HeldCopy,
    actor: Actor,
    { copyOf, expiresAt = null }: NewEnvironment,
  ): Promise<Result<CreatedEnvironment>> => {
    const finished = await finishCopy(transaction, copy, expiresAt);
    if (!finished.ok) return finished;
    const known = await listEnvironments(transaction);
    const environment = known.find(({ id }) => id === copy.targetId);
    if (!environment) throw new Error("A copy that was finished is not there.");
    await recordCreated(transaction, environment, actor, copyOf);
    await admitOwners(dependencies, transaction, environment);
    return ok({ environment, key: await issueFirstKey(transaction, copy.targetId, actor) });
  };

  const checkWanted = ({ name, ...settings }: NewEnvironment): Result<void> =>
    new RegExp(environmentNamePattern).test(name)
      ? checkSettings(settings, clock())
      : invalid("name", `must be ${environmentNameRule}`);

  /** Continues the copy of an interrupted request; undefined when nothing is left of it. */
  const takeOver = async (
    transaction: Transaction,
    begun: BegunCopy,
  ): Promise<Result<HeldCopy> | undefined> => {
    const now = clock();
    const taken = await takeOverCopy(transaction, begun.targetId, copyLease(now), now);
    if (taken) return ok({ ...begun, ...taken });
    const unfinished = await listUnfinishedEnvironments(transaction);
    return unfinished.some(({ id }) => id === begun.targetId) ? beingRemoved : undefined;
  };

  /** The result of the request with the same Idempotency-Key that took the copy over; undefined without one. */
  const resultOfOther = async (
    once: IdempotentRequest | undefined,
  ): Promise<IdempotentResult<CreatedEnvironment> | undefined> => {
    for (let waited = 0; once && waited < longestWait; waited += waitBetween) {
      const now = clock();
      const { unfinished, other } = await store.transact(async (transaction) => ({
        // Read first: a copy that is finished between the two reads has its result.
        unfinished: await listUnfinishedEnvironments(transaction),
        other: await earlierResult<CreatedEnvironment, BegunCopy>(transaction, once, now),
      }));
      if (!other) return undefined;
      if (!("begun" in other)) return other;
      const { targetId } = other.begun;
      const goesOn = unfinished.some((each) => each.id === targetId && !isOverdue(each, now));
      if (!goesOn) return undefined;
      await pause(waitBetween);
    }
    return undefined;
  };

  const copy = async (
    requester: Requester,
    wanted: NewEnvironment,
    { once, onProgress }: CreateOptions,
  ): Promise<IdempotentResult<CreatedEnvironment>> => {
    const begun = await store.transact(async (transaction) => {
      await transaction.alone();
      const now = clock();
      const earlier = await earlierResult<CreatedEnvironment, BegunCopy>(transaction, once, now);
      if (earlier && !("begun" in earlier)) return { earlier };
      const taken = earlier && (await takeOver(transaction, earlier.begun));
      if (taken) return { copy: taken };
      const isNew = await checkNew(transaction, wanted.name);
      if (!isNew.ok) return { copy: isNew };
      const copy = await beginCopy(transaction, wanted);
      if (copy.ok) {
        const { sourceId, targetId, revision } = copy.value;
        await saveBegun(transaction, once, { sourceId, targetId, revision }, now);
      }
      return { copy };
    });
    if (begun.earlier) return begun.earlier;
    if (!begun.copy.ok) return { result: begun.copy, repeated: false };
    const copy = begun.copy.value;
    const isCopied = await copyInParts(store, clock, copy, onProgress);
    const end = () =>
      transactFor(store, requester, async (transaction) => {
        // A new owner at the same moment gets access too.
        await transaction.alone();
        // The record of a lost copy belongs to the request that has taken it over.
        if (!(await holdToFinish(transaction, clock, copy))) return undefined;
        return runIdempotent(transaction, once, clock, () =>
          endCopy(transaction, copy, requester.actor, wanted),
        );
      });
    const ended = isCopied ? await end() : undefined;
    return ended ?? (await resultOfOther(once)) ?? { result: lost, repeated: false };
  };

  const creation: EnvironmentCreation = {
    async create(name) {
      const checked = checkWanted({ name });
      if (!checked.ok) return checked;
      return store.transact(async (transaction) => {
        await transaction.alone();
        const isNew = await checkNew(transaction, name);
        return isNew.ok ? ok(await insert(transaction, { name }, operator)) : isNew;
      });
    },

    async createWithKey(requester, { lifetime, ...given }, options = {}) {
      const expiresAt = lifetime === undefined ? {} : { expiresAt: new Date(+clock() + lifetime) };
      const wanted = { ...given, ...expiresAt };
      const checked = checkWanted(wanted);
      if (!checked.ok) return { result: checked, repeated: false };
      if (wanted.copyOf !== undefined) return copy(requester, wanted, options);
      return transactFor(store, requester, async (transaction) => {
        await transaction.alone();
        return runIdempotent(transaction, options.once, clock, async () => {
          const isNew = await checkNew(transaction, wanted.name);
          if (!isNew.ok) return isNew;
          const { actor } = requester;
          const environment = await insert(transaction, wanted, actor);
          return ok({ environment, key: await issueFirstKey(transaction, environment.id, actor) });
        });
      });
    },
  };
  return { creation, insert };
};
