// halyard doctor on PostgreSQL: healthy and unavailable databases, and that nothing is migrated.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig, startServer } from "@halyard/server";
import { newDatabase, query } from "../../server/test/support/postgres.ts";
import { until } from "../../server/test/support/until.ts";
import { examine, found } from "./support/doctor.ts";

const HALYARD_SECRET_KEY = "0".repeat(64);

test("a healthy database, one of another version, an empty one and none", async (t) => {
  const DATABASE_URL = await newDatabase();
  const settings = { DATABASE_URL, HALYARD_SECRET_KEY, PORT: "1" };
  const { lines: empty } = await examine([], settings);
  found(empty, /^fail database: the database has no Halyard tables \| check/);
  const tables = "select count(*) from information_schema.tables where table_schema = 'public'";
  assert.deepEqual(await query(DATABASE_URL, tables), [{ count: 0 }]);

  const server = await startServer(
    parseConfig({ ...settings, PORT: "0", HALYARD_LOG_LEVEL: "silent" }),
  );
  t.after(() => server.close());
  const listeners =
    "select 1 from pg_stat_activity where datname = current_database() and query ilike 'listen %'";
  await until("its listener", async () => (await query(DATABASE_URL, listeners)).length === 1);
  const well = await examine([], settings);
  assert.deepEqual([well.code, well.lines.length], [0, 1], well.lines.join("\n"));
  const store = well.checks.find(({ about }) => about === "database");
  assert.match(store?.message ?? "", /^PostgreSQL \d+\S* at \S+, .*, 1 process connected, \d+ con/);
  assert.ok(well.checks.some(({ message }) => message.startsWith("2 keys in 2 environments")));

  await query(
    DATABASE_URL,
    `create table notes (text text);
     create function spy() returns trigger language plpgsql as 'begin return null; end';
     create trigger spy after insert on flags for each row execute function spy();
     create trigger own after insert on notes for each row execute function spy();
     create rule quiet as on delete to history do instead nothing`,
  );
  const changed = await examine([], settings);
  assert.equal(changed.code, 1);
  found(
    changed.lines,
    /^fail database: the trigger "spy" on "flags" is not Halyard's, .* \| .*drop/,
  );
  found(changed.lines, /^fail database: the rule "quiet" on "history" is not Halyard's/);
  found(
    changed.lines,
    /^warn database: 1 object in the schema is not .*: the table "notes" \| if it/,
  );
  assert.doesNotMatch(changed.lines.join("\n"), /"own"/);
  await query(
    DATABASE_URL,
    "drop rule quiet on history; drop table notes; drop function spy cascade",
  );

  // A local address that does not look like one.
  const elsewhere = new URL(DATABASE_URL);
  elsewhere.hostname = "0.0.0.0";
  elsewhere.search = "sslmode=disable";
  const { lines: plain } = await examine([], { ...settings, DATABASE_URL: elsewhere.href });
  found(plain, /^warn database: .* is not encrypted .* \| use sslmode=verify-full/);

  await query(DATABASE_URL, "update schema_version set version = 99");
  const { lines: newer } = await examine([], settings);
  found(newer, /^fail database: the schema has version 99 .* \| use the newer Halyard/);
  assert.deepEqual(await query(DATABASE_URL, "select version from schema_version"), [
    { version: 99 },
  ]);

  const nowhere = new URL(DATABASE_URL);
  nowhere.pathname = "/nowhere";
  const { lines: none } = await examine([], { ...settings, DATABASE_URL: nowhere.href });
  found(
    none,
    /^fail database: PostgreSQL at .* has no such database .* \| create it, or use another/,
  );
  nowhere.port = "1";
  const { lines: silent } = await examine([], { ...settings, DATABASE_URL: nowhere.href });
  found(silent, /^fail database: PostgreSQL at .* cannot be used/);
});
