// The writes of ports.ts in SQL. Everything here runs inside one open transaction.

import { chainAfter } from "@halyard/core/history/chain";
import type { Kind } from "@halyard/core/kinds";
import type { ChainHead } from "../../writes/chained-entry.ts";
import type { Change } from "../../writes/change.ts";
import { lockEnvironment } from "../../writes/lock.ts";
import { queueAtEnd } from "../../writes/queue-at-end.ts";
import { writeChange } from "../../writes/write-change.ts";
import { sha256 } from "../text-hash.ts";
import { auditOfChange, auditOfEntry } from "./audit-lines.ts";
import type { SignalDraft } from "./db.ts";
import { readsToChange } from "./reader.ts";
import { appendEntry, lockHead } from "./schema/chain.ts";
import type { Dialect } from "./schema/dialect.ts";
import { send } from "./schema/kysely-on.ts";
import type { Database } from "./schema/tables.ts";
import type { SecretCipher } from "./secrets/secret-cipher.ts";
import type { Transaction } from "./store.ts";

/** Idempotency records that a key may have; beyond it the oldest are forgotten before their day is over. */
const maxRecords = 20_000;
const forgetEvery = 100;
let saved = 0;

const forgetOldest = async (database: Database, keyId: string): Promise<void> => {
  saved += 1;
  // Finding the oldest costs more than saving one.
  if (saved % forgetEvery > 0) return;
  const own = database.selectFrom("idempotency_records").where("key_id", "=", keyId);
  const [oldest] = await own
    .select("expires_at")
    .orderBy("expires_at", "desc")
    .limit(1)
    .offset(maxRecords)
    .execute();
  if (!oldest) return;
  await database
    .deleteFrom("idempotency_records")
    .where("key_id", "=", keyId)
    .where("expires_at", "<=", oldest.expires_at)
    .execute();
};

const idempotencyRecords = (
  database: Database,
): Pick<
  Transaction,
  "idempotencyRecord" | "saveIdempotencyRecord" | "deleteIdempotencyRecord"
> => ({
  async idempotencyRecord(keyId, name, now) {
    return database
      .selectFrom("idempotency_records")
      .select(["fingerprint", "sealed"])
      .where("key_id", "=", keyId)
      .where("name", "=", name)
      .where("expires_at", ">", now.getTime())
      .executeTakeFirst();
  },

  async deleteIdempotencyRecord(keyId, name) {
    await send(
      database,
      database
        .deleteFrom("idempotency_records")
        .where("key_id", "=", keyId)
        .where("name", "=", name),
    );
  },

  async saveIdempotencyRecord(keyId, name, answer, until, now) {
    await send(
      database,
      database.deleteFrom("idempotency_records").where("expires_at", "<=", now.getTime()),
    );
    await forgetOldest(database, keyId);
    await send(
      database,
      database
        .insertInto("idempotency_records")
        .values({ key_id: keyId, name, ...answer, expires_at: until.getTime() }),
    );
  },
});

interface Resources {
  readonly database: Database;
  readonly dialect: Dialect;
  readonly secrets: SecretCipher;
}

/** What knows nothing of the transaction but its database. */
const onConnection = ({ database, dialect }: Resources) => ({
  ...readsToChange(database),
  ...idempotencyRecords(database),

  alone: () => dialect.alone(database),

  async lastVersion(environmentId: number, kind: Kind, key: string): Promise<number> {
    const row = await database
      .selectFrom("history")
      .select("version")
      .where("environment_id", "=", environmentId)
      .where("subject", "=", kind)
      .where("subject_id", "=", key)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    return row?.version ?? 0;
  },
});
type OnConnection = ReturnType<typeof onConnection>;

const createTransaction = (
  connection: OnConnection,
  { database, dialect, secrets }: Resources,
  signal: SignalDraft,
): Transaction => {
  const heads = new Map<number, ChainHead>();

  const checkChain = ({ state, entry }: Change): void => {
    const head = heads.get(state.id);
    if (head && entry.chain === chainAfter(head.chain, entry.digest, sha256)) return;
    throw new Error("A change does not follow the last entry of its history.");
  };

  return {
    ...connection,
    ...{ database, dialect, secrets, signal, heads, locked: dialect.locked },

    async lockEnvironment(environmentId) {
      const found = await lockEnvironment(database, dialect, environmentId);
      if (found) {
        heads.set(environmentId, found.state);
        signal.environmentNames.set(environmentId, found.state.name);
      }
      return found;
    },

    async commit(change, deliveries) {
      checkChain(change);
      heads.set(change.state.id, change.state);
      await writeChange(database, dialect, change);
      // By the clock, unlike the change itself: after the clock went back they would wait for it to come round again.
      queueAtEnd({ signal }, deliveries, change.now);
      signal.changes.push(change);
      signal.audit.push(auditOfChange(change));
    },

    async record(environmentId, entry) {
      const head = heads.get(environmentId) ?? (await lockHead(database, dialect, environmentId));
      if (!head) throw new Error(`There is no environment ${environmentId}.`);
      const after = await appendEntry(database, environmentId, head, entry);
      signal.audit.push(auditOfEntry(environmentId, entry));
      heads.set(environmentId, after);
      return after.chain;
    },
  };
};

/**
 * Makes the transactions of a store. Of their functions, about ninety, most depend on the database alone. SQLite's stays the same;
 * PostgreSQL has one for each transaction, which all changes of a group share.
 */
export const createTransactions = (dialect: Dialect, secrets: SecretCipher) => {
  const connections = new WeakMap<Database, OnConnection>();
  return (database: Database, signal: SignalDraft): Transaction => {
    const resources = { database, dialect, secrets };
    let connection = connections.get(database);
    if (!connection) {
      connection = onConnection(resources);
      connections.set(database, connection);
    }
    return createTransaction(connection, resources, signal);
  };
};
