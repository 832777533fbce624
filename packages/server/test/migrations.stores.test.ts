// How a schema is migrated, with a second migration that this test brings along: on both stores, and once whatever happens.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { sql } from "kysely";
import { schemaDifferences } from "../src/platform/database/maintenance/schema-differences.ts";
import { openPostgresEngine } from "../src/platform/database/postgres/store.ts";
import { type EngineOptions, migrations } from "../src/platform/database/schema/migrate.ts";
import type { Migration } from "../src/platform/database/schema/migration.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore, type Engine } from "../src/platform/database/sql-store.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import { StartupProblem } from "../src/platform/errors.ts";
import { dropDatabase, newDatabase } from "./support/postgres.ts";
import { newFolder } from "./support/server.ts";
import { addEnvironment } from "./support/store-steps.ts";
import { onPostgres } from "./support/test-store.ts";

const newest = migrations.length;
const may = { mayMigrate: true };

/** A database, and how to open it. What is opened is closed when the test ends. */
const openIn = async (t: TestContext) => {
  const folder = newFolder();
  const url = onPostgres ? await newDatabase() : "";
  const opened: Engine[] = [];
  t.after(async () => {
    for (const engine of opened) await engine.close();
    if (onPostgres) await dropDatabase(new URL(url).pathname.slice(1));
    else rmSync(folder, { recursive: true });
  });
  const settings = { url, name: "test", host: "127.0.0.1", poolSize: 4, timeout: 600_000 };
  const open = async (options: EngineOptions): Promise<Engine> => {
    const engine = await (onPostgres
      ? openPostgresEngine({ ...settings, tls: { mode: "prefer" } }, options)
      : openSqliteEngine(folder, options));
    opened.push(engine);
    return engine;
  };
  return { folder, open };
};

const storeOn = (engine: Engine) => createSqlStore(engine, createSecretCipher([randomBytes(32)]));

const versionOf = async ({ database }: Engine): Promise<number | undefined> =>
  (await database.selectFrom("schema_version").select("version").executeTakeFirst())?.version;

/** Counts how often it ran. */
const addMottos = () => {
  const counter = { runs: 0 };
  const migration: Migration = async (database, { text }) => {
    counter.runs += 1;
    await sql`alter table environments add column motto ${text}`.execute(database);
    await sql`update environments set motto = 'long live ' || name`.execute(database);
  };
  return { counter, all: [...migrations, migration] };
};

const mottosIn = async ({ database }: Engine) => {
  const { rows } = await sql<{ motto: string }>`select motto from environments`.execute(database);
  return rows.map(({ motto }) => motto);
};

test("a migration changes what is there, and runs once", async (t) => {
  const { open } = await openIn(t);
  const { name } = await addEnvironment(storeOn(await open(may)));
  const { counter, all } = addMottos();
  const engine = await open({ ...may, migrations: all });
  assert.deepEqual(await mottosIn(engine), [`long live ${name}`]);
  assert.equal(await versionOf(engine), newest + 1);
  await open({ ...may, migrations: all });
  assert.equal(counter.runs, 1);
});

test("an empty database gets every migration", async (t) => {
  const { open } = await openIn(t);
  const { counter, all } = addMottos();
  const engine = await open({ ...may, migrations: all });
  assert.deepEqual([await mottosIn(engine), counter.runs], [[], 1]);
  assert.equal(await versionOf(engine), newest + 1);
});

test("of several that start at once, one migrates and the others wait for it", async (t) => {
  const { open } = await openIn(t);
  await addEnvironment(storeOn(await open(may)));
  const { counter, all } = addMottos();
  const engines = await Promise.all([1, 2, 3].map(() => open({ ...may, migrations: all })));
  for (const engine of engines) assert.equal((await mottosIn(engine)).length, 1);
  assert.equal(counter.runs, 1);
});

test("one that fails halfway leaves the schema and its version as they were", async (t) => {
  const { open } = await openIn(t);
  const before = await open(may);
  const { all } = addMottos();
  const failing: Migration = async (database) => {
    await sql`create table half (id integer)`.execute(database);
    throw new Error("halfway");
  };
  await assert.rejects(open({ ...may, migrations: [...all, failing] }), /halfway/);
  assert.equal(await versionOf(before), newest);
  await assert.rejects(mottosIn(before), /motto/);
  await assert.rejects(sql`select id from half`.execute(before.database), /half/);
  assert.deepEqual(await mottosIn(await open({ ...may, migrations: all })), []);
});

test("without the right to migrate nothing is changed, and a newer schema is refused", async (t) => {
  const { open } = await openIn(t);
  const before = await open(may);
  const { counter, all } = addMottos();
  const isRefused = (said: RegExp) => (error: unknown) =>
    error instanceof StartupProblem && said.test(error.message);
  await assert.rejects(
    open({ mayMigrate: false, migrations: all }),
    isRefused(new RegExp(`version ${newest} and .* needs ${newest + 1}, but HALYARD_MIGRATE is`)),
  );
  assert.deepEqual([await versionOf(before), counter.runs], [newest, 0]);
  await open({ ...may, migrations: all });
  await open({ mayMigrate: false, migrations: all });
  await assert.rejects(
    open(may),
    isRefused(new RegExp(`version ${newest + 1}, but .* only up to ${newest}: start the newer`)),
  );
});

test("a schema is compared with that of its own version", { skip: onPostgres }, async (t) => {
  const { folder, open } = await openIn(t);
  await open(may);
  const { all } = addMottos();
  const compare = async (version: number) => {
    using database = new DatabaseSync(join(folder, "halyard.db"), { readOnly: true });
    return await schemaDifferences(database, version, all);
  };
  assert.deepEqual(await compare(newest), []);
  const changed = [{ kind: "changed", type: "table", name: "environments", table: "environments" }];
  assert.deepEqual(await compare(newest + 1), changed);
  await open({ ...may, migrations: all });
  assert.deepEqual(await compare(newest + 1), []);
  assert.deepEqual(await compare(newest), changed);
  assert.equal(await compare(newest + 2), undefined);
});
