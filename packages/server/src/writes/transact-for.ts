// A transaction for a request: the audit log names who made the request, and from where.
import type { Requester } from "../platform/auth/principal.ts";
import type { Store, Transaction } from "../platform/database/store.ts";

export const transactFor = <T>(
  store: Store,
  requester: Requester,
  callback: (transaction: Transaction) => Promise<T>,
): Promise<T> => store.transact(callback, { requester });
