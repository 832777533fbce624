// A store on any SQL database: reads, transactions, and what listeners learn after a commit.
import type { Change } from "../../domain/change.ts";
import type { DeliverySignal } from "../../domain/webhooks/outbox.ts";
import type { Commit, Reader, Store } from "../../ports.ts";
import { signCheckpointsAnew, signedBy } from "../history/checkpoints.ts";
import { redactHistory } from "../history/redact.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { credentialReads, hasPasswords } from "../people/credentials.ts";
import { writeSessionUse } from "../people/sessions.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import type { Database, Transact } from "../schema/tables.ts";
import { reencrypt, unreadableSecrets } from "../secrets/encrypted-rows.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { instanceReads, instanceWrites } from "./instances.ts";
import { createTransaction } from "./transaction.ts";
import { createAddUsage, writeKeyUse } from "./usage.ts";

/** What a database provides. */
export interface Engine {
  /** Always the last committed state. */
  readonly database: Database;
  readonly reads: Reader;
  readonly committed: Store["committed"];
  readonly unencryptedTo: Store["unencryptedTo"];
  readonly traits: DatabaseTraits;
  /** The work may run again after a conflict: it depends on the database alone. */
  readonly transact: Transact;
  /** Survives a crash of the process, but not always of the machine: for work that is then simply repeated. */
  readonly transactRelaxed: Transact;
  /** Everything that is read in it is of one moment. */
  readonly asOfNow: Transact;
  onHint(listener: () => void): () => void;
  close(): Promise<void>;
}

export const createSqlStore = (engine: Engine, secrets: SecretCipher): Store => {
  const deliveryListeners = new Set<(signal: DeliverySignal) => void>();
  const commitListeners = new Set<(commit: Commit) => Promise<void> | undefined>();
  return {
    ...engine.reads,
    ...credentialReads(engine.database, secrets),
    hasPasswords: () => hasPasswords(engine.database),
    isCheckpointSigned: signedBy(secrets),
    committed: engine.committed,
    unencryptedTo: engine.unencryptedTo,
    async transact(work) {
      const { result, signal, commit } = await engine.transact(async (database) => {
        const signal = { queued: new Set<string>(), changed: new Set<string>() };
        const draft = {
          ...signal,
          changes: [] as Change[],
          revokedKeys: [] as string[],
          accessChanged: false,
        };
        const result = await work(createTransaction(database, engine.traits, secrets, draft));
        return { result, signal, commit: draft };
      });
      const followers = [...commitListeners].map(async (listener) => listener(commit));
      if (signal.queued.size + signal.changed.size > 0) {
        for (const listener of deliveryListeners) listener(signal);
      }
      await Promise.all(followers);
      return result;
    },
    onCommit(listener) {
      commitListeners.add(listener);
      return () => commitListeners.delete(listener);
    },
    onHint: (listener) => engine.onHint(listener),
    outbox: createOutbox(engine, secrets, deliveryListeners),
    redactHistory: (person, now) =>
      redactHistory(engine.transact, engine.traits, secrets, person, now),
    keysUsed: (keyIds, at) =>
      engine.transactRelaxed((database) => writeKeyUse(database, keyIds, at)),
    sessionUsed: (hash, at) =>
      engine.transactRelaxed((database) => writeSessionUse(database, hash, at)),
    ...instanceReads(engine.database, engine.traits),
    ...instanceWrites(engine.traits, engine.transactRelaxed),
    addUsage: createAddUsage(engine.traits, engine.transactRelaxed),
    reencryptSecrets: () =>
      engine.transact(async (database) => {
        await signCheckpointsAnew(database, secrets);
        return reencrypt(database, engine.traits, secrets);
      }),
    unreadableSecrets: () => unreadableSecrets(engine.database, secrets),
    async check() {
      await engine.database.selectFrom("environments").select("id").limit(1).execute();
    },
    close: () => engine.close(),
  };
};
