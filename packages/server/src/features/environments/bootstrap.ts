// Makes an empty store usable: the first environments and their keys, and those that the operator gives.

import { operator } from "../../platform/auth/principal.ts";
import type { Sources, Store, Transaction } from "../../platform/database/store.ts";
import {
  type Environment,
  listEnvironments,
  listUnfinishedEnvironments,
} from "../../platform/environments.ts";
import { conflict, ok, type Result } from "../../platform/errors.ts";
import { issuedIn, issueKey } from "../keys/keys.ts";

export const firstEnvironments = ["development", "production"] as const;

/** An admin key in plain text: given by the operator, or created at the first start. */
export interface FirstKey {
  readonly environment: string;
  readonly text: string;
}

export const bootstrapEnvironments = (
  store: Store,
  dependencies: Sources,
  keys: readonly FirstKey[],
  insert: (transaction: Transaction, name: string) => Promise<Environment>,
): Promise<Result<readonly FirstKey[]>> =>
  store.transact(async (transaction) => {
    // What is read below belongs together: another instance may start at the same moment.
    await transaction.alone();
    const present = [
      ...(await listEnvironments(transaction)),
      ...(await listUnfinishedEnvironments(transaction)),
    ];
    const known = new Map<string, Environment>(
      present.map((environment) => [environment.name, environment]),
    );
    const isFirstStart = known.size === 0;
    // Everything that could be refused is checked before anything is written.
    const unissued: FirstKey[] = [];
    for (const key of keys) {
      const owner = await issuedIn(transaction, key.text);
      if (owner !== undefined && owner !== known.get(key.environment)?.id) {
        return conflict(
          `HALYARD_BOOTSTRAP_KEYS gives "${key.environment}" a key that already belongs to another environment; a key opens one environment only.`,
        );
      }
      // A revoked key stays revoked, even if the setting still names it.
      if (owner === undefined) unissued.push(key);
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
  });
