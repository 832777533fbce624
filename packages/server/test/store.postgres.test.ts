// The store on PostgreSQL: the contract of every store, and what is PostgreSQL's own.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { insertEnvironment } from "../src/features/environments/queries.ts";
import { setAccess } from "../src/features/people/access-queries.ts";
import { deleteUser, insertUser } from "../src/features/people/queries.ts";
import { openPostgresEngine } from "../src/platform/database/postgres/store.ts";
import { send } from "../src/platform/database/schema/kysely-on.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import { StoreUnavailable } from "../src/platform/errors.ts";
import { outboxContract } from "./outbox-contract.ts";
import { requestLimitContract } from "./request-limit-contract.ts";
import { type OpenedStore, storeContract } from "./store-contract.ts";
import { dropDatabase, newDatabase, query } from "./support/postgres.ts";
import { addEnvironment, changeFlag, createFlag } from "./support/store-steps.ts";
import { until } from "./support/until.ts";

const settingsOf = (url: string, timeout: number) =>
  ({
    url,
    name: "test",
    host: "127.0.0.1",
    poolSize: 10,
    timeout,
    tls: { mode: "prefer" },
  }) as const;

const open = async (): Promise<OpenedStore & { readonly url: string }> => {
  const url = await newDatabase();
  const secrets = createSecretCipher([randomBytes(32)]);
  const settings = settingsOf(url, 600_000);
  const again = async (maxWaiting?: number) =>
    createSqlStore(await openPostgresEngine(settings, { mayMigrate: true, maxWaiting }), secrets);
  const store = await again();
  return {
    url,
    store,
    again,
    async dump() {
      const tables = await query<{ name: string }>(
        url,
        "select tablename as name from pg_tables where schemaname = 'public' order by 1",
      );
      const rows = tables.map(async ({ name }) => [
        name,
        await query(url, `select * from ${name} as row order by row::text`),
      ]);
      return Object.fromEntries(await Promise.all(rows));
    },
    async failOn(table, verb) {
      await query(
        url,
        `create function refuse() returns trigger language plpgsql
         as $$ begin raise exception 'refused'; end $$`,
      );
      await query(
        url,
        `create trigger refuse before ${verb} on ${table} for each row execute function refuse()`,
      );
      return async () => {
        await query(url, "drop function refuse cascade");
      };
    },
    async setSchemaVersion(version) {
      await query(url, "update schema_version set version = $1", [version]);
    },
    async remove() {
      await store.close();
      await dropDatabase(new URL(url).pathname.slice(1));
    },
  };
};

outboxContract("PostgreSQL", open);
storeContract("PostgreSQL", open, { sharesProcess: true });
requestLimitContract("PostgreSQL", open, { atOnce: 9, readsWait: true });

test("a conflict that lasts until the time is over means that the store cannot be used", async (t) => {
  const url = await newDatabase();
  // It has half of this for retries.
  const timeout = 20_000;
  const engine = await openPostgresEngine(settingsOf(url, timeout), { mayMigrate: true });
  t.after(async () => {
    await engine.close();
    await dropDatabase(new URL(url).pathname.slice(1));
  });
  const insertTwice = engine.transact(async (database) => {
    await setTimeout(timeout / 2 + 100);
    await sql`create temporary table conflict (id integer primary key)`.execute(database);
    await sql`insert into conflict values (1), (1)`.execute(database);
  });
  await assert.rejects(insertTwice, StoreUnavailable);
});

test("a transaction reads what any statement returns, and doesn't wait for one that is sent", async (t) => {
  const opened = await open();
  const engine = await openPostgresEngine(settingsOf(opened.url, 600_000), { mayMigrate: true });
  t.after(async () => {
    await engine.close();
    await opened.remove();
  });
  const rename = (name: string) => sql`update environments set name = ${name}`;
  const { rows } = await engine.transact((database) =>
    sql`with two as (select 2 as number) select number from two`.execute(database),
  );
  assert.deepEqual(rows, [{ number: 2 }]);
  await addEnvironment(opened.store);
  await engine
    .transact(async (holder) => {
      await rename("held").execute(holder);
      let isSent = false;
      const waiting = engine.transact(async (database) => {
        await send(database, rename("later"));
        isSent = true;
      });
      await until("it waits for the row", async () => {
        const locks = await query(opened.url, "select 1 from pg_locks where not granted");
        return locks.length > 0 || undefined;
      });
      assert.ok(isSent);
      return { waiting };
    })
    .then(({ waiting }) => waiting);
  const names = async () => (await listEnvironments(opened.store)).map(({ name }) => name);
  assert.deepEqual(await names(), ["later"]);
  const refused = engine.transact(async (database) => {
    await send(database, rename("lost"));
    await send(database, sql`insert into attempts (position, number) values (1, null)`);
  });
  await assert.rejects(refused, /null value in column/);
  assert.deepEqual(await names(), ["later"]);
});

test("a person whose rights change while they write waits, and neither is begun anew", async (t) => {
  const opened = await open();
  const { store, url } = opened;
  t.after(() => opened.remove());
  const at = new Date();
  const access = (id: string) => ({ id, role: "editor", isFromGroup: false }) as const;
  const environment = await store.transact(async (transaction) => {
    const made = await insertEnvironment(transaction, "one", at);
    await insertUser(transaction, { id: "usr_1", name: "Ada", email: null, isOwner: false }, at);
    await setAccess(transaction, "usr_1", made.id, access("key_1"), at);
    return made;
  });
  const runs = { write: 0, change: 0, removal: 0 };
  /** The change begins while the write holds the environment, and waits when its record is written. */
  const race = (keyId: string, change: () => Promise<void>) =>
    store.transact(async (transaction) => {
      runs.write += 1;
      await transaction.lockEnvironment(environment.id);
      const changing = change();
      await until("the change waits", async () => {
        const waiting = await query(url, "select 1 from pg_locks where not granted");
        return waiting.length > 0 || undefined;
      });
      const answer = { fingerprint: "f", sealed: new Uint8Array(1) };
      await transaction.saveIdempotencyRecord(keyId, keyId, answer, new Date(+at + 60_000), at);
      return { changing };
    });
  const changed = await race("key_1", () =>
    store.transact(async (transaction) => {
      runs.change += 1;
      await setAccess(transaction, "usr_1", environment.id, access("key_2"), at);
    }),
  );
  await changed.changing;
  const removed = await race("key_2", () =>
    store.transact(async (transaction) => {
      runs.removal += 1;
      await deleteUser(transaction, "usr_1");
    }),
  );
  await removed.changing;
  assert.deepEqual(runs, { write: 2, change: 1, removal: 1 });
});

test("an instance is told of what others change, and not of its own changes of flags", async (t) => {
  const opened = await open();
  const { store, url } = opened;
  const other = await opened.again();
  t.after(async () => {
    await other.close();
    await opened.remove();
  });
  const environment = await store.transact((transaction) =>
    insertEnvironment(transaction, "one", new Date()),
  );
  const heard = { own: 0, others: 0 };
  store.onHint(() => {
    heard.own += 1;
  });
  other.onHint(() => {
    heard.others += 1;
  });
  // Each is told once when it begins to listen.
  await until("both listen", async () => (heard.own === 1 && heard.others === 1) || undefined);
  await changeFlag(store, environment.id, createFlag("a"));
  // Notifications come in the order of the commits.
  await query(url, "select pg_notify('halyard', '')");
  await until("both were told", async () => (heard.own > 1 && heard.others > 2) || undefined);
  assert.deepEqual(heard, { own: 2, others: 3 });
});
