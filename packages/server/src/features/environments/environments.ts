// Environments: list them, change what they are told apart by; created, copied and removed by an owner or the operator.

import { listKeys } from "../../platform/auth/key-queries.ts";
import { type Caller, operator } from "../../platform/auth/principal.ts";
import type { Sources, Store } from "../../platform/database/store.ts";
import {
  type Contents,
  type Environment,
  type EnvironmentSettings,
  listEnvironments,
  listRemovedEnvironments,
  listUnfinishedEnvironments,
  type RemovedEnvironment,
} from "../../platform/environments.ts";
import { conflict, notFound, ok, type Result } from "../../platform/errors.ts";
import type { Changes } from "../../writes/changes.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { countWebhooks } from "../webhooks/webhooks.ts";
import { bootstrapEnvironments, type FirstKey } from "./bootstrap.ts";
import { createCreation, type EnvironmentCreation } from "./create.ts";
import { updateEnvironment } from "./queries.ts";
import { createEnvironmentRemoval, type EnvironmentRemoval, isProtectedYet } from "./removal.ts";
import { checkSettings, shownSettings } from "./rules.ts";

export interface Environments extends EnvironmentRemoval, EnvironmentCreation {
  /** Those that can be used, by name. */
  list(): Promise<readonly Environment[]>;
  /** One that is being deleted is found too. */
  find(name: string): Promise<Result<Environment>>;
  contents(name: string): Promise<Result<Contents>>;
  /** Taking the protection off is proposed, unless the operator does it. */
  update(
    caller: Omit<Caller, "environment">,
    name: string,
    change: Partial<EnvironmentSettings>,
  ): Promise<Result<Environment>>;
  /** Those that were removed, newest first. */
  removed(): Promise<readonly RemovedEnvironment[]>;
  /** Makes an empty store usable; returns the keys that it generated, to be shown once. */
  bootstrap(keys: readonly FirstKey[]): Promise<Result<readonly FirstKey[]>>;
}

/** What somebody else than the operator does to a protected environment only once the protection is off. */
const checkProtected = (
  { name }: Pick<Environment, "name">,
  change: Partial<EnvironmentSettings>,
): Result<void> => {
  if (change.isProtected === false) {
    return conflict(
      `The environment "${name}" is protected: take the protection off in a request of its own, which another person approves.`,
    );
  }
  return change.expiresAt instanceof Date ? isProtectedYet(name) : ok(undefined);
};

export const createEnvironments = (
  store: Store,
  dependencies: Sources & { readonly maxEnvironments: number },
  /** Undefined for the operator, who proposes nothing. */
  changes?: Changes,
): Environments => {
  const { clock } = dependencies;
  const removal = createEnvironmentRemoval(store, clock);

  const find = async (name: string): Promise<Result<Environment>> => {
    const unfinished = await listUnfinishedEnvironments(store);
    const known = [
      ...(await listEnvironments(store)),
      ...unfinished.filter(({ state }) => state === "deleting"),
    ];
    const found = known.find((environment) => environment.name === name);
    return found ? ok(found) : notFound("The environment", name);
  };

  const { creation, insert } = createCreation(store, dependencies);

  return {
    ...removal,
    ...creation,
    list: () => listEnvironments(store),
    find,

    async contents(name) {
      const found = await find(name);
      if (!found.ok) return found;
      const { id, flagCount } = found.value;
      const [webhooks, keys] = await Promise.all([countWebhooks(store, id), listKeys(store, id)]);
      return ok({ flags: flagCount, webhooks, keys: keys.length });
    },

    async update(caller, name, change) {
      const { actor } = caller;
      const checked = checkSettings(change, clock());
      if (!checked.ok) return checked;
      const isOnlyUnprotect = change.isProtected === false && Object.keys(change).length === 1;
      if (isOnlyUnprotect && actor !== operator && changes) {
        const found = (await listEnvironments(store)).find((each) => each.name === name);
        if (!found) return notFound("The environment", name);
        const body = { protected: false };
        const operation = { kind: "environment", key: name, action: "patch", body } as const;
        const { result } = await changes.run({ ...caller, environment: found }, [
          { operation, precondition: undefined },
        ]);
        return result.ok ? ok({ ...found, isProtected: false }) : result;
      }
      return transactFor(store, caller, async (transaction) => {
        const found = (await listEnvironments(transaction)).find((each) => each.name === name);
        const locked = found && (await transaction.lockEnvironment(found.id));
        if (!locked) return notFound("The environment", name);
        const before = { ...found, isProtected: locked.state.isProtected };
        const after = { ...before, ...change };
        if (before.isProtected && actor !== operator) {
          const may = checkProtected(before, change);
          if (!may.ok) return may;
        }
        const [from, to] = [shownSettings(before), shownSettings(after)];
        if (JSON.stringify(from) === JSON.stringify(to)) return ok(before);
        await updateEnvironment(transaction, before.id, change);
        await transaction.record(before.id, {
          subject: "environment",
          subjectId: name,
          version: null,
          at: clock(),
          actor,
          actions: ["environment.updated"],
          before: from,
          after: to,
        });
        return ok(after);
      });
    },

    removed: () => listRemovedEnvironments(store),

    bootstrap: (keys) =>
      bootstrapEnvironments(store, dependencies, keys, (transaction, name) =>
        insert(transaction, { name }, operator),
      ),
  };
};
