// TLS to PostgreSQL: each sslmode does what libpq says of it, against a real server with and without TLS.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { StartupProblem, StoreUnavailable } from "@halyard/server/errors";
import { parseConfig } from "@halyard/server/settings";
import { openPostgresEngine } from "../src/platform/database/postgres/store.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { makeCertificates } from "./support/hostile-certificates.ts";
import { query, unhurriedStatements } from "./support/postgres.ts";
import {
  type PostgresServer,
  postgresUser,
  startPostgresServer,
} from "./support/postgres-server.ts";

const HALYARD_SECRET_KEY = "07".repeat(32);
const folder = mkdtempSync(join(tmpdir(), "halyard-tls-"));
const authority = join(folder, "authority.pem");
const stranger = join(folder, "stranger.pem");
let encrypted: PostgresServer;
let plain: PostgresServer;

/** A certificate that is good for the name localhost, but not for the address 127.0.0.1. */
const serverFiles = (): Record<string, string> => {
  makeCertificates(folder);
  const settings: Record<string, string> = { ssl: "on" };
  for (const [name, from] of [
    ["ssl_key_file", "named.key"],
    ["ssl_cert_file", "named.pem"],
  ] as const) {
    const path = join(folder, `server-${from}`);
    copyFileSync(join(folder, from), path);
    // PostgreSQL wants a key that only its own user can read.
    chmodSync(path, 0o600);
    if (postgresUser) chownSync(path, postgresUser.uid, postgresUser.gid);
    settings[name] = path;
  }
  return settings;
};

const connect = async (server: PostgresServer, host: string, options: string) => {
  const address = new URL(server.url);
  address.hostname = host;
  const config = parseConfig({
    HALYARD_SECRET_KEY,
    DATABASE_URL: `${address.href}?${options}`,
    HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
  });
  assert.equal(config.database.kind, "postgres");
  const store = createSqlStore(
    await openPostgresEngine(config.database, { mayMigrate: true }),
    createSecretCipher([randomBytes(32)]),
  );
  try {
    await store.check();
    const rows = await query<{ ssl: boolean }>(
      server.url,
      "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'halyard'",
    );
    assert.equal(rows.length, 1);
    if (rows[0]?.ssl) {
      assert.equal(store.unencryptedTo, undefined);
      return "encrypted";
    }
    return store.unencryptedTo === undefined ? "plain" : "plain, with a warning";
  } finally {
    await store.close();
  }
};

before(async () => {
  chmodSync(folder, 0o755);
  const settings = serverFiles();
  [encrypted, plain] = await Promise.all([startPostgresServer(settings), startPostgresServer()]);
});
after(async () => {
  await Promise.all([encrypted.remove(), plain.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

const root = (file: string) => `&sslrootcert=${encodeURIComponent(file)}`;

suite("a server with TLS", () => {
  const name = "localhost";
  const address = "127.0.0.1";
  const accepted: [host: string, options: string, outcome: string][] = [
    [name, "sslmode=disable", "plain"],
    [address, "", "encrypted"],
    [address, "sslmode=prefer", "encrypted"],
    [address, `sslmode=prefer${root(stranger)}`, "encrypted"],
    [address, "sslmode=require", "encrypted"],
    // With authorities named, require is verify-ca.
    [address, `sslmode=require${root(authority)}`, "encrypted"],
    [address, `sslmode=verify-ca${root(authority)}`, "encrypted"],
    [name, `sslmode=verify-full${root(authority)}`, "encrypted"],
  ];
  for (const [host, options, outcome] of accepted) {
    test(`${host} ${options.replace(encodeURIComponent(folder), "")}: ${outcome}`, async () => {
      assert.equal(await connect(encrypted, host, options), outcome);
    });
  }
  /** The connection fails, or already the settings are wrong. */
  const refused: [host: string, options: string, reason: RegExp, by?: "settings"][] = [
    [name, `sslmode=require${root(stranger)}`, /certificate/],
    [name, `sslmode=verify-ca${root(stranger)}`, /certificate/],
    [name, `sslmode=verify-full${root(stranger)}`, /certificate/],
    [address, `sslmode=verify-full${root(authority)}`, /127\.0\.0\.1.*not in the cert/],
    [name, "sslmode=verify-full", /certificate/],
    [name, "sslmode=verify-ca", /verify-ca.*sslrootcert/, "settings"],
    [name, "sslmode=verify-ca&sslrootcert=system", /verify-ca.*sslrootcert/, "settings"],
    [name, "sslmode=require&sslrootcert=system", /require.*sslrootcert/, "settings"],
    [
      name,
      `sslmode=verify-full${root("/nowhere/root.pem")}`,
      /nowhere\/root\.pem.*cannot be read/,
      "settings",
    ],
  ];
  for (const [host, options, reason, by] of refused) {
    test(`${host} ${options.replace(encodeURIComponent(folder), "")}: refused`, async () => {
      await assert.rejects(connect(encrypted, host, options), (error) => {
        const expected = by === "settings" ? StartupProblem : StoreUnavailable;
        assert.ok(error instanceof expected, String(error));
        assert.match(error.message, reason);
        return true;
      });
    });
  }
});

suite("a server without TLS", () => {
  for (const mode of ["disable", "prefer"]) {
    test(`${mode}: plain`, async () => {
      assert.equal(await connect(plain, "127.0.0.1", `sslmode=${mode}`), "plain");
    });
  }
  test("an address that does not say that it is this machine: plain, with a warning", async () => {
    for (const mode of ["disable", "prefer"]) {
      assert.equal(await connect(plain, "0.0.0.0", `sslmode=${mode}`), "plain, with a warning");
    }
    const address = new URL(plain.url);
    address.hostname = "0.0.0.0";
    const settings = { HALYARD_SECRET_KEY, DATABASE_URL: address.href };
    const halyard = await serveHalyard(folder, settings);
    await halyard.printed(/"database":"0\.0\.0\.0:\d+\/postgres","msg":"[^"]*not encrypted/);
    halyard.kill("SIGTERM");
    await halyard.ended;
  });
  for (const options of ["sslmode=require", `sslmode=verify-full${root(authority)}`]) {
    test(`${options.replace(encodeURIComponent(folder), "")}: refused`, async () => {
      await assert.rejects(connect(plain, "localhost", options), {
        name: "StoreUnavailable",
        message: /does not support SSL/,
      });
    });
  }
});
