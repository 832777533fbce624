// halyard restore: restored data, rejected backups, and that existing data is never lost.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { parseConfig, startServer } from "@halyard/server";
import { backUp, restore } from "@halyard/server/operator/backup";
import { migrations } from "../../server/src/platform/database/schema/migrate.ts";
import { createApi } from "../../server/test/support/api.ts";
import { serveOn } from "../../server/test/support/halyard-process.ts";
import { startReceiver } from "../../server/test/support/scripted-receiver.ts";
import { unhurried } from "../../server/test/support/test-store.ts";
import { until } from "../../server/test/support/until.ts";
import { makeStore, newPath, openDatabase } from "./support/backup-store.ts";
import { runInThread } from "./support/command-thread.ts";

const configOf = (data: string, settings = {}) =>
  parseConfig({
    PORT: "0",
    HALYARD_LOG_LEVEL: "silent",
    HALYARD_MAX_LAG: unhurried,
    HALYARD_DATA: data,
    ...settings,
  });

const take = async (data: string, withSecretKey = true): Promise<string> => {
  const folder = newPath();
  const silent = { progress: () => undefined, began: () => undefined };
  const made = await backUp(configOf(data), { folder, withSecretKey, ...silent });
  assert.ok(made.ok);
  return folder;
};
const put = (folder: string, target: string, choice = {}, settings = {}) =>
  restore(configOf(target, settings), {
    folder,
    force: false,
    pauseWebhooks: false,
    trust: false,
    ...choice,
  });

const refuse = async (args: string[], code: number, said: RegExp, settings = {}) => {
  const ended = await runInThread(["restore", ...args], settings);
  assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
  assert.match(ended.stderr, said);
};
/** The files of a folder with their contents. */
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), hash("sha256", readFileSync(path))]),
  );

suite("a backup with a pending delivery", () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let folder: string;
  let key: string;
  let webhookId: string;
  before(async () => {
    receiver = await startReceiver(() => ({ status: 503 }));
    const { folder: data, keys } = await makeStore();
    key = keys.production ?? "";
    const server = await startServer(configOf(data));
    const api = createApi(server.url, key);
    const made = await api("POST", "/webhooks", { url: receiver.url, events: ["*"] });
    webhookId = (made.body as { id: string }).id;
    await api("POST", "/flags", { key: "one", type: "rollout", percentage: 12.5 });
    const failed = () =>
      openDatabase(data, (database) => database.prepare("select 1 from attempts").get());
    await until("a failed attempt", () => failed() !== undefined);
    folder = await take(data);
    await server.close();
  });

  test("it is sent again, with the same id", async (t) => {
    t.after(() => receiver.close());
    const target = newPath();
    const ended = await runInThread(["restore", folder, "--data", target]);
    assert.equal(ended.code, 0);
    assert.match(ended.stderr, /^The backup contains the key that signed it, .*\n$/);
    assert.match(ended.stdout, /^production +1 +1$/m);
    assert.match(ended.stdout, /Restored the backup of \d{4}-.*Z to .*\.\n1 delivery pending\. /);
    assert.deepEqual(readdirSync(target).sort(), ["halyard.db", "secret.key"]);
    for (const name of readdirSync(target)) {
      assert.equal(statSync(join(target, name)).mode & 0o777, 0o600);
    }
    assert.equal(statSync(target).mode & 0o777, 0o700);

    openDatabase(target, (database) =>
      database.exec("update delivery_queues set due_at = 0 where due_at is not null"),
    );
    receiver.answer(() => ({ status: 204 }));
    const [first] = receiver.received;
    const sent = receiver.received.length;
    const server = await startServer(configOf(target));
    await until("the delivery", () => receiver.received.length > sent);
    await server.close();
    const again = receiver.received.at(-1);
    assert.equal(again?.headers["webhook-id"], first?.headers["webhook-id"]);
    assert.deepEqual(again?.body, first?.body);
  });

  test("--pause-webhooks prevents it, and is in the history", async () => {
    const target = newPath();
    const args = ["restore", folder, "--data", target, "--pause-webhooks", "--json"];
    const ended = await runInThread(args);
    assert.equal(ended.code, 0, ended.stderr);
    const { manifest, ...said } = JSON.parse(ended.stdout);
    assert.deepEqual(said, {
      target,
      aside: null,
      origin: "own key",
      pausedWebhooks: 1,
      pendingDeliveries: 1,
      unreadableSecrets: [],
    });
    assert.equal(manifest.rows.deliveries, 1);
    const server = await startServer(configOf(target));
    const api = createApi(server.url, key);
    const { body } = await api("GET", `/webhooks/${webhookId}`);
    assert.equal((body as { active: boolean }).active, false);
    const health = (await api("GET", `/webhooks/${webhookId}/health`)).body;
    assert.equal((health as { status: string }).status, "paused", "by the operator");
    const [last] = (await api("GET", "/history?limit=1")).body as {
      id: string;
      actor: object;
      actions: string[];
      after: { active: boolean };
    }[];
    assert.deepEqual(
      [last?.id, last?.actor, last?.actions, last?.after.active],
      [webhookId, { keyId: null, name: "operator" }, ["webhook.updated"], false],
    );
    await server.close();
  });

  test("secrets that need a missing key are reported", async () => {
    const secretKey = readFileSync(join(folder, "secret.key"), "utf8").trim();
    const source = newPath();
    assert.ok((await put(folder, source)).ok);
    const without = await take(source, false);
    await refuse(
      [without, "--data", newPath()],
      1,
      /signed with a secret key that is not here \([0-9a-f]{8}\).*HALYARD_SECRET_KEY.*--trust-backup/,
    );
    const ended = await runInThread(["restore", without, "--data", newPath(), "--trust-backup"]);
    assert.equal(ended.code, 0);
    assert.match(ended.stderr, /^The secret key that signed the backup is not available here/);
    assert.match(ended.stderr, new RegExp(`1 secret can't be read because a key.*${webhookId}`));
    const given = await put(without, newPath(), {}, { HALYARD_SECRET_KEY: secretKey });
    assert.deepEqual(given.ok && given.value.unreadableSecrets, []);
    const other = newPath();
    mkdirSync(other);
    cpSync(join(folder, "secret.key"), join(other, "secret.key"));
    const kept = await put(without, other);
    assert.deepEqual(kept.ok && kept.value.unreadableSecrets, []);
  });
});

test("an existing database is kept, or moved aside as a whole", async () => {
  const { folder: data, keys } = await makeStore();
  const folder = await take(data);
  const target = newPath();
  const other = await makeStore(target);
  const held = contentsOf(target);
  const said = /already holds a database \(halyard\.db.*\): choose another folder.*--force/;
  await refuse([folder, "--data", target], 5, said);
  assert.deepEqual(contentsOf(target), held);

  const ended = await runInThread(["restore", folder, "--data", target, "--force"]);
  assert.equal(ended.code, 0, ended.stderr);
  const [, aside = ""] = /^The previous contents are now in (.*)\.$/m.exec(ended.stdout) ?? [];
  assert.deepEqual(Object.keys(contentsOf(aside)).sort(), ["halyard.db", "secret.key"]);
  assert.equal(contentsOf(aside)["secret.key"], held["secret.key"]);
  assert.equal(statSync(aside).mode & 0o777, 0o700);
  assert.equal(contentsOf(target)["secret.key"], contentsOf(folder)["secret.key"]);
  for (const [place, key, status] of [
    [target, keys.production, 200],
    [target, other.keys.production, 401],
    [aside, other.keys.production, 200],
  ] as const) {
    const server = await startServer(configOf(place));
    assert.equal((await createApi(server.url, key)("GET", "/flags")).status, status);
    await server.close();
  }
});

test("the other files of a database count as one, and a different key is not overwritten", async () => {
  const { folder: data } = await makeStore();
  const folder = await take(data);
  for (const name of ["halyard.db-wal", "halyard.db-journal", "secret.key"]) {
    const target = newPath();
    mkdirSync(target);
    writeFileSync(join(target, name), "something else");
    const refused = await put(folder, target);
    assert.equal(!refused.ok && refused.failure.code, "CONFLICT", name);
    assert.deepEqual(contentsOf(target), { [name]: hash("sha256", "something else") });
    const forced = await put(folder, target, { force: true });
    assert.ok(forced.ok);
    assert.equal(readFileSync(join(forced.value.aside ?? "", name), "utf8"), "something else");
    const left = readdirSync(target).filter((entry) => !entry.startsWith("replaced-"));
    assert.deepEqual(left.sort(), ["halyard.db", "secret.key"]);
  }
});

test("a folder with a running server is rejected, even if its database is damaged", async (t) => {
  const { folder: data } = await makeStore();
  const folder = await take(data);
  const server = await serveOn({ HALYARD_DATA: data });
  t.after(() => server.kill("SIGKILL"));
  const said = /is in use by a server or another command: stop it first\. Nothing was changed\./;
  await refuse([folder, "--data", data, "--force"], 5, said);
  const path = join(data, "halyard.db");
  const bytes = readFileSync(path);
  assert.ok(existsSync(`${path}-wal`));
  if (existsSync("/proc/locks")) {
    writeFileSync(path, Buffer.concat([Buffer.from("no database"), bytes.subarray(11)]));
    const refused = await put(folder, data, { force: true });
    assert.match(refused.ok ? "" : refused.failure.message, said);
  }
  assert.deepEqual(
    readdirSync(data).filter((name) => /restoring|replaced/.test(name)),
    [],
  );
  server.kill("SIGKILL");
  await server.ended;
  const forced = await put(folder, data, { force: true });
  assert.ok(forced.ok);
  assert.ok(readdirSync(forced.value.aside ?? "").includes("halyard.db"));
});

test("errors say why a restore failed, and what to do", async () => {
  const { folder: data } = await makeStore();
  const folder = await take(data);
  const newest = migrations.length;
  openDatabase(data, (database) => database.exec("update schema_version set version = 99"));
  const newer = await take(data);
  const target = newPath();
  const said = new RegExp(
    `schema version 99, but this version of Halyard supports only up to ${newest}: restore`,
  );
  await refuse([newer, "--data", target], 1, said);
  await refuse([newPath(), "--data", target], 3, /does not exist/);
  await refuse([data, "--data", target], 3, /is not a complete backup/);
  await refuse([folder], 1, /PostgreSQL.*--data FOLDER.*halyard copy.*pg_restore/, {
    DATABASE_URL: "postgres://halyard@db.internal/flags",
    HALYARD_SECRET_KEY: "0".repeat(64),
  });
  await refuse([folder, "--data", "/dev/null/x"], 1, /cannot be written/);
  assert.equal(existsSync(target), false);
  rmSync(folder, { recursive: true });
});

test("the past states of an environment continue from the backup", async () => {
  const { folder: data, keys } = await makeStore();
  const key = keys.production ?? "";
  const on = async (path: string, work: (api: ReturnType<typeof createApi>) => Promise<void>) => {
    const server = await startServer(configOf(path));
    try {
      await work(createApi(server.url, key));
    } finally {
      await server.close();
    }
  };
  const keysAt = async (api: ReturnType<typeof createApi>, query: string) =>
    ((await api("GET", `/flags?${query}`)).body as { key: string }[]).map((flag) => flag.key);
  const create = (api: ReturnType<typeof createApi>, name: string) =>
    api("POST", "/flags", { key: name, type: "boolean" });
  let folder = "";
  let lost = "";
  await on(data, async (api) => {
    await create(api, "kept");
    folder = await take(data);
    await create(api, "lost");
    lost = new Date().toISOString();
  });
  const target = newPath();
  assert.ok((await put(folder, target)).ok);
  await on(target, async (api) => {
    const [revision] = /\d+/.exec((await api("GET", "/flags")).headers.get("etag") ?? "") ?? [];
    await create(api, "other");
    assert.deepEqual(await keysAt(api, `revision=${revision}`), ["kept"]);
    assert.deepEqual(await keysAt(api, `revision=${Number(revision) + 1}`), ["kept", "other"]);
    assert.deepEqual(await keysAt(api, `at=${lost}`), ["kept"], "what is gone was never there");
  });
});
