// A store on any SQL database: reads, transactions, and what listeners learn after a commit.

import { signCheckpointsAnew } from "../../features/history/checkpoints.ts";
import { replaceLostKey } from "../../features/people/address-hashes.ts";
import { insertQueued } from "../../features/webhooks/deliveries/queue-queries.ts";
import type { Requester } from "../auth/principal.ts";
import { type SignalDraft, unlocked } from "./db.ts";
import { groupCommit } from "./group-commit.ts";
import type { Dialect } from "./schema/dialect.ts";
import type { ObserveCall } from "./schema/kysely-on.ts";
import { unobserved } from "./schema/kysely-on.ts";
import type { Database, Transact } from "./schema/tables.ts";
import { reencrypt, unreadableSecrets } from "./secrets/encrypted-rows.ts";
import type { SecretCipher } from "./secrets/secret-cipher.ts";
import type { Commit, Reader, Store } from "./store.ts";
import { createTransactions } from "./transaction.ts";

/** What a database provides. */
export interface Engine {
  /** Always the last committed state. For work that is not a request: it never fails because others wait. */
  readonly database: Database;
  /** The same for requests, which fail while too many wait. */
  readonly databaseForRequests: Database;
  readonly reads: Reader;
  readonly committed: Store["committed"];
  readonly unencryptedTo: Store["unencryptedTo"];
  readonly dialect: Dialect;
  /** The callback may run again after a conflict: it depends on the database alone. */
  readonly transact: Transact;
  /** Whether every change waits for all others, or only for those of its environment. */
  readonly locksAll: boolean;
  /** Changes that may wait. */
  readonly maxWaiting: number;
  /** Survives a crash of the process, but not always of the machine: for work that is then simply repeated. */
  readonly transactAsyncCommit: Transact;
  /** Everything that is read in it is of one moment. */
  readonly repeatableRead: Transact;
  onHint(listener: () => void): () => void;
  close(): Promise<void>;
}

interface Part {
  readonly result: unknown;
  readonly draft: SignalDraft;
}

const createDraft = (requester: Requester | undefined): SignalDraft => ({
  requester,
  audit: [],
  environmentNames: new Map(),
  queued: new Set(),
  changed: new Set(),
  deliveries: [],
  changes: [],
  revokedKeys: [],
  accessChanged: false,
});

export const createSqlStore = (
  engine: Engine,
  secrets: SecretCipher,
  observe: ObserveCall = unobserved,
): Store => {
  const commitListeners = new Set<(commit: Commit) => Promise<void> | undefined>();
  const transactionOn = createTransactions(engine.dialect, secrets);
  const handle = { dialect: engine.dialect, secrets, locked: unlocked };
  const changes = groupCommit<Part>(engine.transact, engine.maxWaiting, (database, parts) =>
    insertQueued(
      { ...handle, database },
      parts.flatMap(({ draft }) => draft.deliveries),
    ),
  );
  return {
    ...handle,
    database: engine.databaseForRequests,
    background: { ...handle, database: engine.database },
    ...engine.reads,
    committed: engine.committed,
    unencryptedTo: engine.unencryptedTo,
    async transact(callback, { environmentId, requester } = {}) {
      const key = engine.locksAll ? 0 : environmentId;
      const run = async (database: Database): Promise<Part> => {
        const draft = createDraft(requester);
        return { result: await callback(transactionOn(database, draft)), draft };
      };
      const { result, draft } = await observe("transaction", "transact", () =>
        key === undefined ? changes.alone(run) : changes.together(key, run),
      );
      const followers = [...commitListeners].map(async (listener) => listener(draft));
      await Promise.all(followers);
      return result as Awaited<ReturnType<typeof callback>>;
    },
    transactAsyncCommit: (callback) =>
      engine.transactAsyncCommit((database) =>
        callback({ ...handle, database, locked: engine.dialect.locked }),
      ),
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    onHint: (listener) => engine.onHint(listener),
    reencryptSecrets: ({ isAddressKeyLost }) =>
      engine.transact(async (database) => {
        await signCheckpointsAnew({ ...handle, database });
        const lostAddresses = await replaceLostKey({ database, secrets }, isAddressKeyLost);
        return { count: await reencrypt(database, engine.dialect, secrets), lostAddresses };
      }),
    unreadableSecrets: () => unreadableSecrets(engine.database, secrets),
    async check() {
      await engine.database.selectFrom("environments").select("id").limit(1).execute();
    },
    close: () => engine.close(),
  };
};
