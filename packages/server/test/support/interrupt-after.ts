// Ends a transaction with an error in the middle of its work.
import type { Transaction } from "../../src/platform/database/store.ts";

export class Interrupted extends Error {}

/** The transaction, ending with an error after this many of its calls, of which each use of its database is one. */
export const interruptAfter = (transaction: Transaction, calls: number): Transaction => {
  let left = calls;
  const count = (name: string | symbol) => {
    left -= 1;
    if (left === 0) throw new Interrupted(`after ${String(name)}`);
  };
  const database = new Proxy(transaction.database, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        count(name);
        return method.apply(target, values) as unknown;
      };
    },
  });
  return new Proxy(transaction, {
    get(target, name, receiver) {
      if (name === "database") return database;
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== "function") return method;
      return async (...values: unknown[]) => {
        const result: unknown = await method.apply(target, values);
        count(name);
        return result;
      };
    },
  });
};
