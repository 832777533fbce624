// The embedded store: the contract of every store, and what is SQLite's own.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import { createPrune } from "../src/server/retention.ts";
import { outboxContract } from "./outbox-contract.ts";
import { requestLimitContract } from "./request-limit-contract.ts";
import { type OpenedStore, storeContract } from "./store-contract.ts";
import { newFolder } from "./support/server.ts";
import { addEnvironment, addWebhook, webhookSecret } from "./support/store-steps.ts";

const open = async (): Promise<OpenedStore & { readonly folder: string }> => {
  const folder = newFolder();
  const secrets = createSecretCipher([randomBytes(32)]);
  const again = async (maxWaiting?: number) =>
    createSqlStore(await openSqliteEngine(folder, { mayMigrate: true, maxWaiting }), secrets);
  const store = await again();
  const withDatabase = async <T>(callback: (database: DatabaseSync) => T): Promise<T> => {
    const database = new DatabaseSync(join(folder, "halyard.db"), { timeout: 60_000 });
    try {
      return callback(database);
    } finally {
      database.close();
    }
  };
  return {
    folder,
    store,
    again,
    dump: () =>
      withDatabase((database) => {
        const tables = database
          .prepare(
            "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'",
          )
          .all();
        return Object.fromEntries(
          tables.map(({ name }) => [name, database.prepare(`select * from ${String(name)}`).all()]),
        );
      }),
    failOn: async (table, verb) => {
      await withDatabase((database) =>
        database.exec(
          `create trigger refuse before ${verb} on ${table} begin select raise(abort, 'refused'); end`,
        ),
      );
      return () => withDatabase((database) => database.exec("drop trigger refuse"));
    },
    setSchemaVersion: (version) =>
      withDatabase((database) => {
        database.prepare("update schema_version set version = ?").run(version);
      }),
    async remove() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

outboxContract("SQLite", open);
storeContract("SQLite", open, { sharesProcess: false });
requestLimitContract("SQLite", open, { atOnce: 0, readsWait: false });

test("every connection writes ahead, flushes each commit and keeps references whole", async (t) => {
  const connections = new Set<DatabaseSync>();
  const exec = t.mock.method(DatabaseSync.prototype, "exec");
  const opened = await open();
  for (const call of exec.mock.calls) connections.add(call.this as DatabaseSync);
  exec.mock.restore();
  assert.ok(connections.size >= 2, "one connection reads and one writes");
  const assertPragmas = () => {
    for (const connection of connections) {
      const pragma = (name: string) =>
        Object.values(connection.prepare(`pragma ${name}`).get() ?? {})[0];
      assert.deepEqual(["journal_mode", "synchronous", "foreign_keys"].map(pragma), ["wal", 2, 1]);
    }
  };
  assertPragmas();

  // The worker's own bookkeeping may be flushed later; what follows it may not.
  await createPrune(opened.store)({
    now: Date.now(),
    eventsBefore: 0,
    historyBefore: undefined,
  });
  assertPragmas();
  await opened.remove();
});

test("webhook secrets are nowhere in the file as they are", async () => {
  const opened = await open();
  const environment = await addEnvironment(opened.store);
  await addWebhook(opened.store, environment.id);
  const rows = JSON.stringify(await opened.dump(), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
  assert.match(rows, /example\.com/);
  assert.ok(!rows.includes(webhookSecret));
  await opened.remove();
});
