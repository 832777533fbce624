// Environments: list them, change what they are told apart by; created, copied and removed by an owner or the operator.
import {
  type Contents,
  checkSettings,
  type Environment,
  type EnvironmentSettings,
  type RemovedEnvironment,
  shownSettings,
} from "../domain/environment.ts";
import { type Actor, operator } from "../domain/principal.ts";
import { fail, notFound, ok, type Result } from "../errors.ts";
import type { Sources, Store } from "../ports.ts";
import { bootstrapEnvironments, type FirstKey } from "./environments/bootstrap.ts";
import { createCreation, type EnvironmentCreation } from "./environments/create.ts";
import { createEnvironmentRemoval, type EnvironmentRemoval } from "./environments/removal.ts";

export interface Environments extends EnvironmentRemoval, EnvironmentCreation {
  /** Those that can be used, by name. */
  list(): Promise<readonly Environment[]>;
  /** One that is being deleted is found too. */
  find(name: string): Promise<Result<Environment>>;
  contents(name: string): Promise<Result<Contents>>;
  update(
    actor: Actor,
    name: string,
    change: Partial<EnvironmentSettings>,
  ): Promise<Result<Environment>>;
  /** Those that were removed, newest first. */
  removed(): Promise<readonly RemovedEnvironment[]>;
  /** Makes an empty store usable; returns the keys that it generated, to be shown once. */
  bootstrap(keys: readonly FirstKey[]): Promise<Result<readonly FirstKey[]>>;
}

/** Whether an owner may take the protection off a protected environment. */
export const mayUnprotect = (_actor: Actor, _environment: Environment): Result<void> =>
  ok(undefined);

export const createEnvironments = (
  store: Store,
  dependencies: Sources & { readonly maxEnvironments: number },
): Environments => {
  const { clock } = dependencies;
  const removal = createEnvironmentRemoval(store, clock);

  const find = async (name: string): Promise<Result<Environment>> => {
    const unfinished = await store.unfinishedEnvironments();
    const known = [
      ...(await store.environments()),
      ...unfinished.filter(({ state }) => state === "deleting"),
    ];
    const found = known.find((environment) => environment.name === name);
    return found ? ok(found) : notFound("The environment", name);
  };

  const { creation, insert } = createCreation(store, dependencies);

  return {
    ...removal,
    ...creation,
    list: () => store.environments(),
    find,

    async contents(name) {
      const found = await find(name);
      if (!found.ok) return found;
      const { id, flagCount } = found.value;
      const [webhooks, keys] = await Promise.all([store.webhooks(id), store.keys(id)]);
      return ok({ flags: flagCount, webhooks: webhooks.length, keys: keys.length });
    },

    async update(actor, name, change) {
      const checked = checkSettings(change, clock());
      if (!checked.ok) return checked;
      return store.transact(async (transaction) => {
        const before = (await transaction.environments()).find((each) => each.name === name);
        if (!before || !(await transaction.lockEnvironment(before.id))) {
          return notFound("The environment", name);
        }
        const after = { ...before, ...change };
        if (before.isProtected && !after.isProtected) {
          const may = mayUnprotect(actor, before);
          if (!may.ok) return fail(may.failure);
        }
        const [from, to] = [shownSettings(before), shownSettings(after)];
        if (JSON.stringify(from) === JSON.stringify(to)) return ok(before);
        await transaction.updateEnvironment(before.id, change);
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

    removed: () => store.removedEnvironments(),

    bootstrap: (keys) =>
      bootstrapEnvironments(store, dependencies, keys, (transaction, name) =>
        insert(transaction, { name }, operator),
      ),
  };
};
