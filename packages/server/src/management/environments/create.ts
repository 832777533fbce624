// Creates environments, empty or as copies, with a first key; every owner has access to them.
import { environmentNamePattern, environmentNameRule } from "../../domain/api-key.ts";
import {
  checkSettings,
  type Environment,
  type EnvironmentSettings,
  shownSettings,
} from "../../domain/environment.ts";
import { type Actor, operator } from "../../domain/principal.ts";
import { conflict, invalid, ok, type Result } from "../../errors.ts";
import type { Sources, Store, Transaction } from "../../ports.ts";
import { type CreatedKey, issueKey } from "../api-keys.ts";
import {
  earlierResult,
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../idempotency.ts";
import { admitOwners } from "../people-access.ts";
import { type BegunCopy, copyInParts, copyLease, finishCopy } from "./copy.ts";
import { isTaken } from "./removal.ts";

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
    actor: Actor,
    wanted: NewEnvironment,
    options?: CreateOptions,
  ): Promise<IdempotentResult<CreatedEnvironment>>;
}

export const createCreation = (
  store: Store,
  dependencies: Sources & { readonly maxEnvironments: number },
) => {
  const { clock, maxEnvironments } = dependencies;

  /** Within a transaction that is alone: nobody creates another one at the same moment. */
  const checkNew = async (transaction: Transaction, name: string): Promise<Result<void>> => {
    const known = await transaction.environments();
    const unfinished = await transaction.unfinishedEnvironments();
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
    const environment = await transaction.insertEnvironment(name, clock(), settings);
    await recordCreated(transaction, environment, actor);
    await admitOwners(dependencies, transaction, environment);
    return environment;
  };

  const issueFirstKey = (transaction: Transaction, environmentId: number, actor: Actor) =>
    issueKey(dependencies, transaction, environmentId, actor, { name: "admin", role: "admin" });

  const beginCopy = async (
    transaction: Transaction,
    {
      name,
      copyOf,
      label = null,
      color = null,
      isProtected = false,
      maxFlips = null,
    }: NewEnvironment,
  ): Promise<Result<BegunCopy>> => {
    const source = (await transaction.environments()).find((each) => each.name === copyOf);
    const locked = source && (await transaction.lockEnvironment(source.id));
    if (!locked) return invalid("copyOf", `names no environment: "${copyOf}" does not exist`);
    const settings = { label, color, isProtected, maxFlips, expiresAt: copyLease(clock()) };
    const target = await transaction.insertEnvironment(name, clock(), settings, source.id);
    return ok({ sourceId: source.id, targetId: target.id, revision: locked.state.revision });
  };

  const endCopy = async (
    transaction: Transaction,
    copy: BegunCopy,
    actor: Actor,
    { copyOf, expiresAt = null }: NewEnvironment,
  ): Promise<Result<CreatedEnvironment>> => {
    const finished = await finishCopy(transaction, clock, copy, expiresAt);
    if (!finished.ok) return finished;
    const known = await transaction.environments();
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

  const copy = async (
    actor: Actor,
    wanted: NewEnvironment,
    { once, onProgress }: CreateOptions,
  ): Promise<IdempotentResult<CreatedEnvironment>> => {
    const begun = await store.transact(async (transaction) => {
      await transaction.alone();
      const earlier = await earlierResult<CreatedEnvironment>(transaction, once, clock());
      if (earlier) return { earlier };
      const isNew = await checkNew(transaction, wanted.name);
      return { copy: isNew.ok ? await beginCopy(transaction, wanted) : isNew };
    });
    if (begun.earlier) return begun.earlier;
    if (!begun.copy.ok) return { result: begun.copy, repeated: false };
    const copy = begun.copy.value;
    const copied = await copyInParts(store, clock, copy, onProgress);
    if (!copied.ok) return { result: copied, repeated: false };
    return store.transact(async (transaction) => {
      // Somebody may become an owner at the same moment.
      await transaction.alone();
      return runIdempotent(transaction, once, clock, () =>
        endCopy(transaction, copy, actor, wanted),
      );
    });
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

    async createWithKey(actor, { lifetime, ...given }, options = {}) {
      const expiresAt = lifetime === undefined ? {} : { expiresAt: new Date(+clock() + lifetime) };
      const wanted = { ...given, ...expiresAt };
      const checked = checkWanted(wanted);
      if (!checked.ok) return { result: checked, repeated: false };
      if (wanted.copyOf !== undefined) return copy(actor, wanted, options);
      return store.transact(async (transaction) => {
        await transaction.alone();
        return runIdempotent(transaction, options.once, clock, async () => {
          const isNew = await checkNew(transaction, wanted.name);
          if (!isNew.ok) return isNew;
          const environment = await insert(transaction, wanted, actor);
          return ok({ environment, key: await issueFirstKey(transaction, environment.id, actor) });
        });
      });
    },
  };
  return { creation, insert };
};
