// Results of doctor checks for values that tests can't produce: full disks, large logs, clocks, and PostgreSQL connections.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseConfig } from "@halyard/server";
import type { InspectedFile, InspectedServer } from "@halyard/server/operator/doctor";
import { databaseChecks } from "../src/doctor/database-checks.ts";
import { keyChecks } from "../src/doctor/row-checks.ts";
import { nodeCheck } from "../src/doctor/settings-checks.ts";

const linesOf = (checks: ReturnType<typeof databaseChecks>) =>
  checks.map(({ level, about, message, remedy }) => `${level} ${about}: ${message} | ${remedy}`);

const file: InspectedFile = {
  kind: "embedded",
  folder: "/data",
  path: "/data/halyard.db",
  folderMode: 0o700,
  fileMode: 0o600,
  writable: true,
  bytes: 1_000_000,
  logBytes: 0,
  freeBytes: 1e12,
  leftovers: [],
  differences: [],
  damage: undefined,
  schemaVersion: 6,
  newestSchemaVersion: 6,
  rows: undefined,
};
const server: InspectedServer = {
  kind: "postgres",
  name: "db:5432/halyard",
  version: "18.1",
  clockAhead: -300,
  connections: 97,
  instances: 3,
  differences: [],
  schemaVersion: 6,
  newestSchemaVersion: 6,
  unencrypted: false,
  rows: undefined,
};
const onPostgres = (settings = {}) =>
  parseConfig({
    DATABASE_URL: "postgres://halyard@db/halyard",
    HALYARD_SECRET_KEY: "0".repeat(64),
    ...settings,
  });

const cases: [string, Partial<InspectedFile>, RegExp][] = [
  ["all well", {}, /^ok database: \/data\/halyard\.db is intact, schema version 6, 1\.0 MB, /],
  ["others may read the file, but not get to it", { fileMode: 0o644 }, /^ok database/],
  ["the log belongs to the size", { logBytes: 2_500_000 }, /^ok database: .*, 3\.5 MB, /],
  [
    "a large log",
    { logBytes: 3e8 },
    /^warn database: the write-ahead log has grown to 300\.0 MB \| close programs/,
  ],
  [
    "little room",
    { freeBytes: 2e8 },
    /^warn database: only 200\.0 MB are free .* \| free some space/,
  ],
  [
    "hardly any room",
    { freeBytes: 2e7 },
    /^fail database: only 20\.0 MB are free .* \| free some space/,
  ],
  [
    "an older schema",
    { schemaVersion: 1, newestSchemaVersion: 2 },
    /^warn database: the schema has version 1 and .* has 2 \| back up .* or run halyard migrate/,
  ],
  [
    "another user's",
    { writable: false },
    /^fail database: this user cannot write to .* \| .*chown/,
  ],
];
suite("an embedded database", () => {
  for (const [name, change, line] of cases) {
    test(name, () => {
      const lines = linesOf(databaseChecks({ ...file, ...change }, parseConfig({})));
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? "", line);
    });
  }
});

const serverCases: [string, Partial<InspectedServer>, object, RegExp][] = [
  [
    "all well",
    {},
    {},
    /^ok database: PostgreSQL 18\.1 at db:5432\/halyard, .* 3 processes connected/,
  ],
  [
    "clocks apart",
    { clockAhead: -2_500 },
    {},
    /^warn clock: .* PostgreSQL .* are 2\.5 seconds apart \| .*NTP/,
  ],
  [
    "too many instances",
    { instances: 9 },
    {},
    /^warn database: 9 processes with 11 connections each may open 99, and .* allows 97 \| lower/,
  ],
  [
    "too large a pool for the workers to come",
    { instances: 0 },
    { HALYARD_WORKERS: "4", HALYARD_POOL_SIZE: "30" },
    /^warn database: 4 processes with 31 connections each may open 124, /,
  ],
  [
    "not encrypted",
    { unencrypted: true },
    {},
    /^warn database: .* PostgreSQL at db:5432\/halyard is not encrypted .* \| use sslmode=verify-full/,
  ],
  [
    "an older schema",
    { schemaVersion: 1, newestSchemaVersion: 2 },
    {},
    /^warn database: the schema has version 1 and .* has 2 \| back up .* or run halyard migrate/,
  ],
  [
    "an older schema that a server may not migrate",
    { schemaVersion: 1, newestSchemaVersion: 2 },
    { HALYARD_MIGRATE: "off" },
    /^fail database: the schema has version 1 and .* has 2 \| run halyard migrate: with HALYARD_MIGRATE=off/,
  ],
  ["no tables", { schemaVersion: 0 }, {}, /^fail database: the database has no Halyard tables \| /],
];
suite("PostgreSQL", () => {
  for (const [name, change, settings, line] of serverCases) {
    test(name, () => {
      const lines = linesOf(databaseChecks({ ...server, ...change }, onPostgres(settings)));
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? "", line);
    });
  }
});

test("keys that expire soon, and expired keys, which no longer count as admin keys", () => {
  const now = Date.parse("2026-11-14T12:00:00Z");
  const key = (id: string, role: string, expiresAt: string | null) => ({
    environment: "production",
    id,
    name: id,
    role,
    createdAt: new Date(now),
    lastUsedAt: null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  });
  const linesFor = (...keys: ReturnType<typeof key>[]) =>
    linesOf(keyChecks({ environments: ["production"], webhooks: [], keys }, now));
  const over = key("a", "admin", "2026-11-14T12:00:00Z");
  assert.deepEqual(linesFor(over), [
    "warn keys: the environment production has no admin key | halyard keys create --environment production --role admin --name admin",
    'warn keys: the admin key a ("a") of production expired on 2026-11-14 | halyard keys revoke a --environment production',
  ]);
  const soon = key("b", "admin", "2026-11-20T00:00:00Z");
  assert.match(linesFor(soon)[0] ?? "", /^warn keys: .* expires on 2026-11-20 \| create a new key/);
  const fine = key("c", "admin", "2027-11-20T00:00:00Z");
  assert.match(linesFor(fine, key("d", "server", null))[0] ?? "", /^ok keys: 2 keys/);
});

test("Node must be new enough", () => {
  assert.equal(nodeCheck("26.0.0").level, "ok");
  assert.match(linesOf([nodeCheck("24.9.1")])[0] ?? "", /^fail node: Node 24\.9\.1 .* \| install/);
});
