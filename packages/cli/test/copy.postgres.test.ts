// halyard copy and halyard migrate: from the embedded database to PostgreSQL, and back.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { migrations } from "../../server/src/platform/database/schema/migrate.ts";
import { createSecretCipher } from "../../server/src/platform/database/secrets/secret-cipher.ts";
import { createApi } from "../../server/test/support/api.ts";
import { runHalyard, serveOn } from "../../server/test/support/halyard-process.ts";
import { newDatabase, query } from "../../server/test/support/postgres.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { until } from "../../server/test/support/until.ts";
import { runInThread } from "./support/command-thread.ts";
import { folderOf, storeOf } from "./support/folders.ts";

const HALYARD_SECRET_KEY = randomBytes(32).toString("base64");
const newest = migrations.length;

type Row = Record<string, unknown>;
/** Columns that are encrypted or signed with the secret key of each database. */
const sealed = new Set(["secret", "previous_secret", "totp", "address_key", "key_id", "hmac"]);
const secondFactor = "00112233445566778899";
const addressKey = "the key of the hashes of addresses";
/** Every row of every copied table as text. Secrets are encrypted again, so only their presence is compared. */
const shown = (rows: readonly Row[]) =>
  rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .map(([name, value]) => [
            name,
            sealed.has(name)
              ? value === null
              : value instanceof Uint8Array
                ? Buffer.from(value).toString("hex")
                : value,
          ])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      ),
    )
    .sort();
const inFolder = <T>(folder: string, work: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(join(folder, "halyard.db"));
  try {
    return work(database);
  } finally {
    database.close();
  }
};
/** Tables that are not useful in another database. */
const leftOut = new Set(["schema_version", "sign_in_links", "sessions", "instances"]);
/** Reads the database's own catalog after all migrations, so that tables that copying omits are detected. */
const tables = inFolder(await storeOf(), (database) =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !leftOut.has(name)),
);
const dumpFolder = (folder: string) =>
  inFolder(folder, (database) =>
    tables.map((table) => [table, shown(database.prepare(`select * from ${table}`).all())]),
  );
const dumpDatabase = (url: string) =>
  Promise.all(
    tables.map(async (table) => [table, shown(await query<Row>(url, `select * from ${table}`))]),
  );

const succeed = async (args: string[], settings = {}): Promise<string> => {
  const { code, stdout, stderr } = await runInThread(args, settings);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
};
const refuse = async (args: string[], message: RegExp, settings = {}, wanted = 1) => {
  const run = args[0] === "serve" ? runHalyard : runInThread;
  const { code, stdout, stderr } = await run(args, settings);
  assert.deepEqual({ code, stdout }, { code: wanted, stdout: "" });
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at |secret-word/m);
};

const flagCount = 20;
/** More rows than are copied in one step. */
const members = Array.from({ length: 620 }, (_, index) => `user-${index}`);

/** A folder with a database in which all tables are in use. */
const usedFolder = async () => {
  const folder = folderOf();
  const server = await serveOn({ HALYARD_DATA: folder });
  const receiver = await startReceiver();
  const key = server.keys.development ?? "";
  const api = createApi(server.url, key);
  const { body: webhook } = await api("POST", "/webhooks", { url: receiver.url, events: ["*"] });
  const { id } = webhook as { id: string };
  await api("POST", `/webhooks/${id}/secret/rotate`);
  for (let number = 0; number < flagCount; number += 1) {
    await api("POST", "/flags", {
      key: `flag-${number}`,
      type: "rollout",
      percentage: number / 10,
    });
  }
  await api("PATCH", "/flags/flag-1", { enabled: true, description: "naïve ☃ 😀\n" });
  await api("DELETE", "/flags/flag-2");
  await api("POST", "/segments", {
    key: "beta",
    include: ["ann", "naïve ☃", ...members],
    exclude: ["bob"],
  });
  await api("PATCH", "/flags/flag-3", {
    rules: [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }],
    enabled: true,
  });
  await api("POST", "//ofrep/v1/evaluate/flags/flag-3", { context: { targetingKey: "ann" } });
  await api("POST", "/keys", { name: "reader", role: "server" }, { "idempotency-key": "once" });
  await api("POST", "/usage", { evaluations: [{ key: "flag-1", on: 5, off: 2 }] });
  await api("POST", "//ofrep/v1/evaluate/flags/flag-2", { context: { targetingKey: "ann" } });
  await api("GET", "/usage/errors");
  await until("the usage is written down", async () => {
    const { body } = await api("GET", "/flags/flag-1/usage");
    return (body as { hours: unknown[] }).hours.length > 0 ? true : undefined;
  });
  await until("everything is delivered", async () =>
    receiver.received.length >= flagCount + 6 ? true : undefined,
  );
  await api("POST", `/webhooks/${id}/replay`, { afterSequence: flagCount + 5 });
  await until(
    "the replay is delivered",
    () => receiver.received.length >= flagCount + 7 || undefined,
  );
  for (const verb of [["create"], ["delete", "--yes"]]) {
    const { code, stderr } = await runInThread([
      "environments",
      ...verb,
      "short-lived",
      "--data",
      folder,
    ]);
    assert.equal(code, 0, stderr);
  }
  const { name } = (await api("GET", "/key")).body as { name: string };
  server.kill("SIGTERM");
  await server.ended;
  await receiver.close();
  // Creates signed checkpoints.
  await succeed(["history", "redact", "--name", name, "--yes", "--data", folder]);
  const key32 = Buffer.from(readFileSync(join(folder, "secret.key"), "utf8"), "base64");
  const cipher = createSecretCipher([key32]);
  const totp = cipher.seal(secondFactor, "usr_1");
  inFolder(folder, (database) => {
    database
      .prepare(`insert into users (id, name, email, owner, created_at, rights_at, totp)
        values ('usr_1', 'Ann', 'ann@acme.example', 1, 1, 1, ?)`)
      .run(totp);
    database
      .prepare("insert into installation (id, address_key) values ('installation', ?)")
      .run(cipher.seal(addressKey, "installation"));
    database.exec("insert into user_addresses values ('usr_1', 'a1b2', 1)");
    database.exec("insert into linked_accounts values ('usr_1', 'usr_1')");
    database.exec(`insert into change_requests (id, environment_id, state, title, author, authors,
        created_at, updated_at, summary, operations)
      values ('cr_1', 1, 'refused', 'Change', '{}', '[]', 1, 1, '[]', '[]')`);
    database.exec(`insert into change_request_entries (request_id, number, kind, at, actor, text)
      values ('cr_1', 1, 'comment', 1, '{}', 'No')`);
    database.exec("insert into identities values ('https://id.acme.example', 'ann', 'usr_1')");
  });
  return { folder, key };
};

test("all data is copied to PostgreSQL and back, and a server continues with it", async () => {
  const { folder, key } = await usedFolder();
  const url = await newDatabase();
  const settings = { HALYARD_SECRET_KEY };
  const copied = JSON.parse(
    await succeed(["copy", "--from", folder, "--to", url, "--json"], settings),
  ).rows as Record<string, number>;
  assert.deepEqual(Object.keys(copied).sort(), [...tables].sort());
  for (const table of tables) assert.ok((copied[table] ?? 0) > 0, `nothing of ${table} was copied`);
  const original = dumpFolder(folder);
  assert.deepEqual(await dumpDatabase(url), original);
  const [ann] = await query<Row>(url, "select totp from users");
  const target = createSecretCipher([Buffer.from(HALYARD_SECRET_KEY, "base64")]);
  assert.equal(target.open(ann?.totp as Uint8Array, "usr_1"), secondFactor);
  const [installation] = await query<Row>(url, "select address_key from installation");
  assert.equal(target.open(installation?.address_key as Uint8Array, "installation"), addressKey);

  const back = folderOf();
  const text = await succeed(["copy", "--from", url, "--to", back], settings);
  assert.match(text, /TABLE +ROWS\nenvironments +2\n[\s\S]*every row was compared\.\n$/);
  assert.deepEqual(dumpFolder(back), original);

  const receiver = await startReceiver();
  for (const place of [{ DATABASE_URL: url }, { HALYARD_DATA: back }]) {
    const server = await serveOn({ ...settings, ...place });
    assert.deepEqual(server.keys, {}, "a copied store is not at its first start");
    const api = createApi(server.url, key);
    assert.equal(((await api("GET", "/flags")).body as unknown[]).length, flagCount - 1);
    // Sequences of the database must not restart.
    const made = await api("POST", "/flags", { key: "after-the-copy", type: "boolean" });
    assert.equal(made.status, 201, made.text);
    const { body: webhook } = await api("POST", "/webhooks", {
      url: receiver.url,
      events: ["flag.enabled"],
    });
    await api("PATCH", "/flags/after-the-copy", { enabled: true });
    await until("it is delivered", () => receiver.received.length > 0);
    assert.ok(webhook);
    const history = await api("GET", "/flags/flag-1/history");
    assert.equal((history.body as unknown[]).length, 2);
    const { verified } = (await api("GET", "/history/verification")).body as { verified: boolean };
    assert.equal(verified, true, "the chain of history goes on with its checkpoints");
    server.kill("SIGTERM");
    const ended = await server.ended;
    // The webhook secrets can be decrypted with this database's key.
    assert.doesNotMatch(ended.stdout + ended.stderr, /secret cannot be decrypted/);
  }
  await receiver.close();
});

test("copy rejects unsuitable databases, and leaves the target unchanged", async () => {
  const url = await newDatabase();
  const folder = await storeOf();
  const settings = { HALYARD_SECRET_KEY };
  await refuse(["copy", "--from", folder, "--to", url], /HALYARD_SECRET_KEY must be set/, {}, 2);
  await refuse(["copy", "--from", folderOf(), "--to", url], /no Halyard database in/, settings, 3);
  await refuse(["copy", "--from", folder, "--to", folder], /must be different databases/, {}, 2);
  await refuse(
    ["copy", "--from", folder, "--to", "mysql://root:secret-word@db/x"],
    /DATABASE_URL must be a URL such as postgres/,
    settings,
    2,
  );
  await refuse(
    ["copy", "--from", folder, "--to", "postgres://u:secret-word@127.0.0.1:1/x"],
    /PostgreSQL at 127\.0\.0\.1:1\/x cannot be used/,
    settings,
    6,
  );
  const server = await serveOn({ DATABASE_URL: url, ...settings });
  await refuse(
    ["copy", "--from", url, "--to", folderOf()],
    /is in use by a server or another command, .*stop it first, or add --force/,
    settings,
    5,
  );
  server.kill("SIGTERM");
  await server.ended;
  const before = await dumpDatabase(url);
  await refuse(
    ["copy", "--from", folder, "--to", url],
    /already holds the environment "development": copy into an empty database/,
    settings,
    5,
  );
  assert.deepEqual(await dumpDatabase(url), before);
});

test("migrate updates a database, and a server without permission reports an error", async () => {
  const url = await newDatabase();
  for (const place of [{ DATABASE_URL: url, HALYARD_SECRET_KEY }, { HALYARD_DATA: folderOf() }]) {
    await refuse(["serve", "--port", "0"], /HALYARD_MIGRATE is off: run `halyard migrate` first/, {
      ...place,
      HALYARD_MIGRATE: "off",
    });
    await refuse(["migrate", "--check"], /has version 0 and this Halyard has/, place);
    assert.match(await succeed(["migrate"], place), /was migrated from version 0 to \d+\.\n$/);
    assert.match(await succeed(["migrate"], place), /was up to date/);
    const { database, ...versions } = JSON.parse(
      await succeed(["migrate", "--check", "--json"], place),
    );
    assert.deepEqual(versions, { before: newest, after: newest });
    assert.ok(
      Object.values(place).some((value) => value.includes(database)),
      database,
    );
    const server = await serveOn({ ...place, HALYARD_MIGRATE: "off" });
    assert.deepEqual(Object.keys(server.keys), ["development", "production"]);
    server.kill("SIGTERM");
    await server.ended;
  }
});
