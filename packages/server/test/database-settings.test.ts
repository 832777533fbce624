// DATABASE_URL: what it may say, what it may not, and that nobody reads the password in a message.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { suite, test } from "node:test";
import { StartupProblem } from "@halyard/server/errors";
import { parseConfig } from "@halyard/server/settings";

const HALYARD_SECRET_KEY = "07".repeat(32);
const parse = (DATABASE_URL: string, more: Readonly<Record<string, string>> = {}) =>
  parseConfig({ HALYARD_SECRET_KEY, DATABASE_URL, ...more }).database;

const refuse = (variables: Readonly<Record<string, string>>, rule: RegExp) => {
  assert.throws(
    () => parseConfig(variables),
    (error) => {
      assert.ok(error instanceof StartupProblem);
      assert.match(error.message, rule);
      assert.doesNotMatch(error.message, /hush/);
      return true;
    },
    JSON.stringify(variables),
  );
};

const plain = {
  mode: "prefer",
  rootCertificate: undefined,
  certificate: undefined,
  key: undefined,
};

suite("it names the place, and how to reach it", () => {
  const places: [url: string, url: string, name: string, host: string][] = [
    ["postgres://ann:hush@db:5433/flags", "", "db:5433/flags", "db"],
    ["postgresql://ann:hu%2Fsh@db.example/flags", "", "db.example:5432/flags", "db.example"],
    ["POSTGRES://db", "", "db:5432/", "db"],
    ["postgres://ann@[::1]:5433/flags", "", "::1:5433/flags", "::1"],
    ["postgres:///flags", "", "localhost:5432/flags", "localhost"],
    ["postgres://ann@db", "", "db:5432/ann", "db"],
    [
      "postgres://ann:hush@/flags?host=/var/run/postgresql",
      "postgres://ann:hush@/flags?host=%2Fvar%2Frun%2Fpostgresql",
      "/var/run/postgresql:5432/flags",
      "/var/run/postgresql",
    ],
    [
      "postgres://db/flags?sslmode=disable&application_name=mine&connect_timeout=5",
      "postgres://db/flags?application_name=mine",
      "db:5432/flags",
      "db",
    ],
  ];
  for (const [text, url, name, host] of places) {
    test(text, () => {
      const tls = text.includes("sslmode") ? { ...plain, mode: "disable" } : plain;
      const place = {
        kind: "postgres",
        url: url || text,
        name,
        host,
        poolSize: 10,
        timeout: 10_000,
        tls,
      };
      assert.deepEqual(parse(text), place);
    });
  }
});

test("TLS by the URL, and by the variables that libpq reads where the URL says nothing", () => {
  const tls = (url: string, more = {}) => {
    const database = parse(url, more);
    return database.kind === "postgres" ? Object.values(database.tls) : [];
  };
  const files = "sslrootcert=/r.pem&sslcert=/c.pem&sslkey=/k.pem";
  for (const mode of ["disable", "prefer", "require", "verify-ca", "verify-full"]) {
    assert.deepEqual(tls(`postgres://db/a?sslmode=${mode}`)[0], mode);
    assert.deepEqual(tls("postgres://db/a", { PGSSLMODE: mode })[0], mode);
  }
  const given = ["verify-full", "/r.pem", "/c.pem", "/k.pem"];
  assert.deepEqual(tls(`postgres://db/a?sslmode=verify-full&${files}`), given);
  const variables = { PGSSLMODE: "require", PGSSLROOTCERT: "/R", PGSSLCERT: "/C", PGSSLKEY: "/K" };
  assert.deepEqual(tls("postgres://db/a", variables), ["require", "/R", "/C", "/K"]);
  assert.deepEqual(tls(`postgres://db/a?sslmode=verify-full&${files}`, variables), given);
});

test("PGHOST, PGPORT and PGDATABASE fill what the URL leaves open", () => {
  const database = parse("postgres://", { PGHOST: "db", PGPORT: "5433", PGDATABASE: "flags" });
  assert.equal(database.kind === "postgres" && database.name, "db:5433/flags");
});

test("what is no URL of PostgreSQL is refused, and what could mean less safety than was asked for", () => {
  const wrong: [string, RegExp][] = [
    ["hush", /DATABASE_URL must be a URL such as postgres:/],
    ["mysql://ann:hush@db/flags", /must be a URL such as postgres:/],
    ["postgres:ann:hush@db", /must be a URL such as postgres:/],
    ["postgres://ann:hush@db:port/flags", /must be a URL such as postgres:/],
    ["postgres://ann:hush%ZZ@db/flags", /must be a URL such as postgres:/],
    ["postgres://ann:hush@one,two/flags", /must name one host/],
    ["postgres://ann:hush@db/a?sslmode=no-verify", /sslmode that is not one of disable, prefer/],
    ["postgres://ann:hush@db/a?sslmode=", /sslmode that is not one of disable, prefer/],
    ["postgres://ann:hush@db/a?sslcrl=/x", /unknown options: sslcrl/],
    [
      "postgres://ann:hush@db/a?sslmode=require&channel_binding=require",
      /channel_binding=require, which needs sslmode=verify-full/,
    ],
    ["postgres://ann:hush@db/a?ssl=true&max=3", /unknown options: ssl, max/],
  ];
  for (const [DATABASE_URL, rule] of wrong) refuse({ HALYARD_SECRET_KEY, DATABASE_URL }, rule);
  const DATABASE_URL = "postgres://ann:hush@db/a";
  refuse({ HALYARD_SECRET_KEY, DATABASE_URL, PGSSLMODE: "allow" }, /PGSSLMODE that is not one of/);
});

test("PostgreSQL needs HALYARD_SECRET_KEY, which is said together with everything else", () => {
  const DATABASE_URL = "postgres://ann:hush@db/a";
  refuse({ DATABASE_URL }, /HALYARD_SECRET_KEY must be set.*openssl rand -base64 32/);
  refuse({ DATABASE_URL: "hush", PORT: "x" }, /^3 settings are wrong/);
});

test("the pool has 2 to 100 connections", () => {
  for (const size of [2, 100]) {
    const database = parse("postgres://db/a", { HALYARD_POOL_SIZE: String(size) });
    assert.equal(database.kind === "postgres" && database.poolSize, size);
  }
  for (const HALYARD_POOL_SIZE of ["1", "101", "many"]) {
    refuse({ HALYARD_POOL_SIZE }, /HALYARD_POOL_SIZE must be a whole number .* from 2 to 100/);
  }
});

test("a statement of PostgreSQL may take 1 to 600 seconds", () => {
  const database = parse("postgres://db/a", { HALYARD_POSTGRES_TIMEOUT: "60" });
  assert.equal(database.kind === "postgres" && database.timeout, 60_000);
  for (const HALYARD_POSTGRES_TIMEOUT of ["0", "601", "long"]) {
    refuse({ HALYARD_POSTGRES_TIMEOUT }, /HALYARD_POSTGRES_TIMEOUT must be .* from 1 to 600/);
  }
});

test("without DATABASE_URL, or with an empty one, the data is in a folder", () => {
  const embedded = { kind: "embedded", folder: resolve("data") };
  assert.deepEqual(parseConfig({}).database, embedded);
  assert.deepEqual(parseConfig({ DATABASE_URL: " " }).database, embedded);
});
