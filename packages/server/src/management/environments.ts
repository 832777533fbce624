// Environments: the first ones at the first start, others created by the operator.
import { environmentNamePattern, environmentNameRule } from "../domain/api-key.ts";
import type { Contents, Environment, RemovedEnvironment } from "../domain/environment.ts";
import { operator } from "../domain/principal.ts";
import { conflict, invalid, notFound, ok, type Result } from "../errors.ts";
import type { Sources, Store, Transaction } from "../ports.ts";
import { hashKey, issueKey } from "./api-keys.ts";
import { admitOwners } from "./people-access.ts";

/** Few enough that nothing else waits long, and far from any time limit of a statement. */
const rowsAtOnce = 1_000;

export const firstEnvironments = ["development", "production"] as const;

/** An admin key in plain text: given by the operator, or created at the first start. */
export interface FirstKey {
  readonly environment: string;
  readonly text: string;
}

export interface Environments {
  list(): Promise<readonly Environment[]>;
  find(name: string): Promise<Result<Environment>>;
  contents(name: string): Promise<Result<Contents>>;
  create(name: string): Promise<Result<Environment>>;
  /**
   * With everything in it, a part at a time; what was interrupted is continued by the next call. Refused while it holds
   * flags, unless `withFlags` is set.
   */
  remove(
    name: string,
    withFlags: boolean,
    onProgress?: (rows: number) => void,
  ): Promise<Result<Environment>>;
  /** Those that were removed, newest first. */
  removed(): Promise<readonly RemovedEnvironment[]>;
  /** Makes an empty store usable; returns the keys that it generated, to be shown once. */
  bootstrap(keys: readonly FirstKey[]): Promise<Result<readonly FirstKey[]>>;
}

export const createEnvironments = (store: Store, dependencies: Sources): Environments => {
  const { clock } = dependencies;

  const find = async (name: string): Promise<Result<Environment>> => {
    const known = await store.environments();
    const found = known.find((environment) => environment.name === name);
    return found ? ok(found) : notFound("The environment", name);
  };

  const insert = async (transaction: Transaction, name: string): Promise<Environment> => {
    const environment = await transaction.insertEnvironment(name, clock());
    await admitOwners(dependencies, transaction, environment);
    return environment;
  };

  return {
    list: () => store.environments(),
    find,

    async contents(name) {
      const found = await find(name);
      if (!found.ok) return found;
      const { id, flagCount } = found.value;
      const [webhooks, keys] = await Promise.all([store.webhooks(id), store.keys(id)]);
      return ok({ flags: flagCount, webhooks: webhooks.length, keys: keys.length });
    },

    async create(name) {
      if (!new RegExp(environmentNamePattern).test(name)) {
        return invalid("name", `must be ${environmentNameRule}`);
      }
      return store.transact(async (transaction) => {
        // Somebody may become an owner at the same moment.
        await transaction.alone();
        const known = await transaction.environments();
        if (known.some((environment) => environment.name === name)) {
          return conflict(`The environment "${name}" already exists.`);
        }
        return ok(await insert(transaction, name));
      });
    },

    async remove(name, withFlags, onProgress) {
      const closed = await store.transact(async (transaction) => {
        const known = await transaction.environments();
        const found = known.find((environment) => environment.name === name);
        // Counted under the lock: a flag may be created at the same moment.
        const held = found && (await transaction.lockEnvironment(found.id));
        if (!found || !held) return notFound("The environment", name);
        if (held.flagCount > 0 && !withFlags) {
          return conflict(
            `The environment "${name}" holds ${held.flagCount} flag${held.flagCount === 1 ? "" : "s"}; deleting it deletes them, its webhooks, keys and history.`,
          );
        }
        await transaction.closeEnvironment(found, clock());
        return ok(found);
      });
      if (!closed.ok) return closed;
      const { id } = closed.value;
      let rows = 0;
      for (;;) {
        const deleted = await store.transact(async (transaction) => {
          await transaction.lockEnvironment(id);
          return transaction.deleteEnvironmentPart(id, rowsAtOnce, clock());
        });
        if (deleted === 0) return closed;
        rows += deleted;
        onProgress?.(rows);
      }
    },

    removed: () => store.removedEnvironments(),

    bootstrap: (keys) =>
      store.transact(async (transaction) => {
        // What is read below belongs together: another instance may start at the same moment.
        await transaction.alone();
        const known = new Map(
          (await transaction.environments()).map((environment) => [environment.name, environment]),
        );
        const isFirstStart = known.size === 0;
        // Everything that could be refused is checked before anything is written.
        const unissued: FirstKey[] = [];
        for (const key of keys) {
          const issued = await transaction.keyIssuedIn(hashKey(key.text));
          if (issued && issued.environmentId !== known.get(key.environment)?.id) {
            return conflict(
              `HALYARD_BOOTSTRAP_KEYS gives "${key.environment}" a key that already belongs to another environment; a key opens one environment only.`,
            );
          }
          // A revoked key stays revoked, even if the setting still names it.
          if (!issued) unissued.push(key);
        }
        const wanted = new Set([
          ...(isFirstStart ? firstEnvironments : []),
          ...keys.map(({ environment }) => environment),
        ]);
        for (const name of wanted) {
          if (!known.has(name)) known.set(name, await insert(transaction, name));
        }
        const issue = (environment: string, name: string, given?: string) => {
          const id = known.get(environment)?.id ?? 0;
          return issueKey(dependencies, transaction, id, operator, { name, role: "admin" }, given);
        };
        for (const { environment, text } of unissued) await issue(environment, "bootstrap", text);
        const made: FirstKey[] = [];
        if (isFirstStart) {
          const given = new Set(keys.map(({ environment }) => environment));
          for (const name of firstEnvironments.filter((candidate) => !given.has(candidate))) {
            const { text } = await issue(name, "admin");
            made.push({ environment: name, text });
          }
        }
        return ok(made);
      }),
  };
};
