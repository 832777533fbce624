// What happens when SQLite is held by another process, or undoes a transaction by itself.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { insertEnvironment } from "../src/features/environments/queries.ts";
import { rowsToWrite } from "../src/platform/database/schema/prepared.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { secretKeysIn } from "../src/platform/database/secrets/secret-key-file.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { createWriter } from "../src/platform/database/sqlite/driver.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import { sqliteDialect } from "../src/platform/database/sqlite/traits.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import { writeRows } from "./support/database.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("while another process holds the database, everything but changes goes on", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const other = new DatabaseSync(join(server.folder, "halyard.db"));
  other.exec("begin immediate");
  let early: number | undefined;
  const change = admin("PATCH", "/flags/a", { enabled: true }).then(({ status }) => {
    early = status;
    return status;
  });
  for (let round = 0; round < 20 && early === undefined; round += 1) {
    assert.equal((await server.anonymous("GET", "//healthz")).status, 200);
    assert.equal((await admin("GET", "/flags/a")).status, 200);
  }
  // It waits for the other, and gives up on a machine on which the rounds take too long.
  assert.ok(early === undefined || early === 503, `${early} while the other holds it`);
  other.exec("rollback");
  other.close();
  if ((await change) === 503) {
    assert.equal((await admin("PATCH", "/flags/a", { enabled: true })).status, 200);
  } else assert.equal(await change, 200);
});

test("a transaction that SQLite itself rolls back leaves nothing, and its cause is told", async (t) => {
  // As on a full disk, the transaction is gone before anybody asks for its end.
  const folder = newFolder();
  const store = createSqlStore(
    await openSqliteEngine(folder, { mayMigrate: true }),
    createSecretCipher(secretKeysIn(folder, [])),
  );
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await writeRows(
    { folder },
    `create trigger undo after insert on environments
     begin select raise(rollback, 'not today'); end`,
  );
  const insert = () =>
    store.transact((transaction) => insertEnvironment(transaction, "a", new Date()));
  await assert.rejects(insert, /not today/);
  assert.deepEqual(await listEnvironments(store), []);
  await writeRows({ folder }, "drop trigger undo");
  assert.equal((await insert()).name, "a");
});

test("of rows that are written together, none is left when SQLite undoes the transaction at one", async () => {
  const connection = new DatabaseSync(":memory:");
  connection.exec(`
    create table numbers (number integer);
    create trigger stop before insert on numbers when new.number = 2
    begin select raise(rollback, 'stopped'); end;
  `);
  const insert = rowsToWrite(
    { numbers: ["number"], texts: [] },
    (_, { column, from }) => sql`insert into numbers (number) select ${column("number")} ${from}`,
  );
  const write = (...numbers: number[]) =>
    createWriter(connection).transact((database) =>
      insert(
        database,
        sqliteDialect,
        numbers.map((number) => ({ number })),
      ),
    );
  await assert.rejects(write(1, 2, 3, 4), /stopped/);
  assert.deepEqual(connection.prepare("select number from numbers").all(), []);
  await write(3, 4);
  assert.equal(connection.prepare("select number from numbers").all().length, 2);
  connection.close();
});
