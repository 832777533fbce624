// A store on any SQL database: reads, transactions, and what listeners learn after a commit.

import { instanceReads, instanceWrites } from "../../features/clients/queries.ts";
import { signCheckpointsAnew, signedBy } from "../../features/history/checkpoints.ts";
import { redactHistory } from "../../features/history/redact.ts";
import { replaceLostKey } from "../../features/people/address-hashes.ts";
import { credentialReads, hasPasswords } from "../../features/people/sign-in/credential-queries.ts";
import { writeSessionUse } from "../../features/people/sign-in/session-queries.ts";
import { createAddEvaluationErrors } from "../../features/usage/error-queries.ts";
import { createAddUsage, writeKeyUse } from "../../features/usage/queries.ts";
import { createOutbox } from "../../features/webhooks/outbox/outbox.ts";
import { queue } from "../../features/webhooks/outbox/queue.ts";
import type { DeliverySignal, Outbox } from "../../features/webhooks/outbox.ts";
import type { Requester } from "../auth/principal.ts";
import { type SignalDraft, unlocked } from "./db.ts";
import { groupCommit } from "./group-commit.ts";
import type { DatabaseTraits } from "./schema/dialect.ts";
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
  readonly traits: DatabaseTraits;
  /** The work may run again after a conflict: it depends on the database alone. */
  readonly transact: Transact;
  /** Whether every change waits for all others, or only for those of its environment. */
  readonly locksAll: boolean;
  /** Changes that may wait. */
  readonly maxWaiting: number;
  /** Survives a crash of the process, but not always of the machine: for work that is then simply repeated. */
  readonly transactRelaxed: Transact;
  /** Everything that is read in it is of one moment. */
  readonly asOfNow: Transact;
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

const observeBatches = (outbox: Outbox, observe: ObserveCall): Outbox => ({
  ...outbox,
  runBatch: (batch) => observe("delivery", "runBatch", () => outbox.runBatch(batch)),
});

export const createSqlStore = (
  engine: Engine,
  secrets: SecretCipher,
  observe: ObserveCall = unobserved,
): Store => {
  const deliveryListeners = new Set<(signal: DeliverySignal) => void>();
  const commitListeners = new Set<(commit: Commit) => Promise<void> | undefined>();
  const transactionOn = createTransactions(engine.traits, secrets);
  const changes = groupCommit<Part>(engine.transact, engine.maxWaiting, (database, parts) =>
    queue(
      database,
      engine.traits,
      parts.flatMap(({ draft }) => draft.deliveries),
    ),
  );
  const handle = { traits: engine.traits, secrets, locked: unlocked };
  return {
    ...handle,
    database: engine.databaseForRequests,
    background: { ...handle, database: engine.database },
    ...engine.reads,
    ...credentialReads(engine.database, secrets),
    hasPasswords: () => hasPasswords(engine.database),
    isCheckpointSigned: signedBy(secrets),
    committed: engine.committed,
    unencryptedTo: engine.unencryptedTo,
    async transact(work, { environmentId, requester } = {}) {
      const key = engine.locksAll ? 0 : environmentId;
      const run = async (database: Database): Promise<Part> => {
        const draft = createDraft(requester);
        return { result: await work(transactionOn(database, draft)), draft };
      };
      const { result, draft } = await observe("transaction", "transact", () =>
        key === undefined ? changes.alone(run) : changes.together(key, run),
      );
      const followers = [...commitListeners].map(async (listener) => listener(draft));
      if (draft.queued.size + draft.changed.size > 0) {
        for (const listener of deliveryListeners) listener(draft);
      }
      await Promise.all(followers);
      return result as Awaited<ReturnType<typeof work>>;
    },
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    onHint: (listener) => engine.onHint(listener),
    outbox: observeBatches(createOutbox(engine, secrets, deliveryListeners), observe),
    redactHistory: (person, now) =>
      redactHistory(engine.transact, engine.traits, secrets, person, now),
    keysUsed: (keyIds, at) =>
      engine.transactRelaxed((database) => writeKeyUse(database, keyIds, at)),
    sessionUsed: (hash, at) =>
      engine.transactRelaxed((database) => writeSessionUse(database, hash, at)),
    ...instanceReads(engine.database, engine.traits),
    ...instanceWrites(engine.traits, engine.transactRelaxed),
    addUsage: createAddUsage(engine.traits, engine.transactRelaxed),
    addEvaluationErrors: createAddEvaluationErrors(engine.traits, engine.transactRelaxed),
    reencryptSecrets: ({ isAddressKeyLost }) =>
      engine.transact(async (database) => {
        await signCheckpointsAnew(database, secrets);
        const lostAddresses = await replaceLostKey(database, secrets, isAddressKeyLost);
        return { count: await reencrypt(database, engine.traits, secrets), lostAddresses };
      }),
    unreadableSecrets: () => unreadableSecrets(engine.database, secrets),
    async check() {
      await engine.database.selectFrom("environments").select("id").limit(1).execute();
    },
    close: () => engine.close(),
  };
};
