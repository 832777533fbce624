// halyard backup: its content, interrupted backups, and detection of changed bytes.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { parseConfig } from "@halyard/server";
import { backUp, restore, verify } from "@halyard/server/operator/backup";
import { commandFile, spawnHalyard } from "../../server/test/support/halyard-process.ts";
import { addBallast, makeStore, newPath, openDatabase } from "./support/backup-store.ts";
import { runInThread } from "./support/command-thread.ts";

const take = async (data: string, withSecretKey = true): Promise<string> => {
  const folder = newPath();
  const made = await backUp(parseConfig({ HALYARD_DATA: data }), {
    folder,
    withSecretKey,
    progress: () => undefined,
    began: () => undefined,
  });
  assert.ok(made.ok);
  return folder;
};
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const partials = (folder: string): string[] =>
  readdirSync(dirname(folder)).filter((name) => name.startsWith(`${basename(folder)}.partial-`));

test("a backup is a folder that only its owner can read, with a manifest of its contents", async () => {
  const { folder: data } = await makeStore();
  const folder = newPath();
  const made = await runInThread(["backup", folder, "--data", data]);
  assert.deepEqual({ code: made.code, stderr: made.stderr }, { code: 0, stderr: "" });
  assert.match(
    made.stdout,
    /^ENVIRONMENT +FLAGS +REVISION\ndevelopment +0 +0\nproduction +0 +0\n\nBacked up \S+ to \S+; the copy was verified\.\n$/,
  );
  assert.deepEqual(readdirSync(folder).sort(), ["halyard.db", "manifest.json", "secret.key"]);
  assert.equal(modeOf(folder), "700");
  for (const name of readdirSync(folder)) assert.equal(modeOf(join(folder, name)), "600", name);
  const { sha256, ...manifest } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  assert.match(sha256, /^[0-9a-f]{64}$/);
  assert.match(manifest.takenAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(manifest.rows.api_keys, 2);
  const noFlags = { flags: 0, revision: 0, sequence: 0 };
  assert.deepEqual(manifest.environments, [
    { name: "development", ...noFlags },
    { name: "production", ...noFlags },
  ]);
  assert.deepEqual(partials(folder), []);

  const verified = await runInThread(["backup", "verify", folder, "--data", data, "--json"]);
  assert.deepEqual([verified.code, verified.stderr], [0, ""]);
  assert.deepEqual(JSON.parse(verified.stdout), { folder, origin: "proven", ...manifest });
});

test("without a name, a backup goes into a new folder in the current one", async () => {
  const { folder: data } = await makeStore();
  const here = dirname(newPath());
  const made = await spawnHalyard(["backup", "--data", data, "--json"], {}, [
    "/bin/sh",
    "-c",
    'cd "$0" && exec "$@"',
    here,
    process.execPath,
    commandFile,
  ]).ended;
  assert.equal(made.code, 0, made.stderr);
  const { folder } = JSON.parse(made.stdout);
  assert.match(folder, /\/halyard-backup-\d{8}T\d{6}Z$/);
  assert.ok(
    (await verify(parseConfig({ HALYARD_DATA: data }), join(here, basename(folder)), false)).ok,
  );
});

test("the key can be left out, with a note in the output", async () => {
  const { folder: data } = await makeStore();
  const folder = newPath();
  const made = await runInThread(["backup", folder, "--data", data, "--without-secret-key"]);
  assert.equal(made.code, 0);
  assert.match(made.stderr, /^secret\.key is not included/);
  assert.deepEqual(readdirSync(folder).sort(), ["halyard.db", "manifest.json"]);
  rmSync(join(data, "secret.key"));
  const other = newPath();
  const set = await runInThread(["backup", other, "--data", data]);
  assert.match(set.stderr, /^There is no secret\.key here .*, so the backup is not signed/);
  assert.match(set.stderr, /^Its webhook secrets .* only with .* HALYARD_SECRET_KEY/m);
});

test("errors say why a backup failed, and what to do", async () => {
  const { folder: data } = await makeStore();
  const folder = newPath();
  const refuse = async (args: string[], code: number, said: RegExp, settings = {}) => {
    const ended = await runInThread(args, settings);
    assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
    assert.match(ended.stderr, said);
    assert.deepEqual(partials(folder), []);
  };
  await refuse(["backup", folder, "--data", newPath()], 3, /no Halyard database in .*--data/);
  await refuse(["backup", data, "--data", data], 5, /already exists and is not empty/);
  await refuse(["backup", "/dev/null/x", "--data", data], 1, /cannot be written .*choose another/);
  await refuse(
    ["backup", folder],
    1,
    /PostgreSQL \(db\.internal:5432\/flags\).*pg_dump.*halyard copy --from/,
    {
      DATABASE_URL: "postgres://halyard@db.internal/flags",
      HALYARD_SECRET_KEY: "0".repeat(64),
    },
  );
  // The page contradicts its index, so the copy is as damaged as the original, and is deleted.
  const damaged = newPath();
  cpSync(data, damaged, { recursive: true });
  openDatabase(damaged, (database) => {
    database.exec("pragma foreign_keys = off; pragma writable_schema = on");
    database.exec(
      "insert into flags (environment_id, key, type, enabled, version) values (99, 'orphan', 'boolean', 0, 1)",
    );
  });
  await refuse(
    ["backup", folder, "--data", damaged],
    1,
    /is damaged.*flags refers to a row of env/,
  );
  writeFileSync(join(damaged, "halyard.db"), "no database at all, but some text".repeat(100));
  await refuse(["backup", folder, "--data", damaged], 1, /cannot be copied .*`halyard doctor`/);
  assert.equal(existsSync(folder), false);
});

/** A running backup. */
const watched = (folder: string, data: string) => {
  const command = spawnHalyard(["backup", folder, "--data", data]);
  let ended = false;
  void command.ended.then(() => {
    ended = true;
  });
  return { command, isOver: () => ended };
};

test("a full disk is detected before anything is written", async (t) => {
  const { folder: data } = await makeStore();
  const { bavail, bsize } = statfsSync(data);
  const pages = 2 ** 31 - 2;
  if (bavail * bsize > pages * 4_096) return t.skip("there is room for any database here");
  // A sparse file of eight terabytes.
  const path = join(data, "halyard.db");
  openDatabase(data, (database) => database.exec("pragma journal_mode = delete"));
  const bytes = readFileSync(path);
  bytes.writeUInt32BE(pages, 28);
  writeFileSync(path, bytes);
  truncateSync(path, pages * 4_096);
  const folder = newPath();
  const { command, isOver } = watched(folder, data);
  while (!isOver() && partials(folder).length === 0) await turn();
  command.kill("SIGTERM");
  const ended = await command.ended;
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /Not enough disk space .*: 87960\d\d\.\d MB needed, [\d.]+ MB free/);
  assert.deepEqual([existsSync(folder), partials(folder)], [false, []]);
});

/** Runs backups until the signal interrupts one, and returns the remaining files. */
const interrupted = async (data: string, signal: NodeJS.Signals, share: number) => {
  const whole = statSync(join(data, "halyard.db")).size;
  for (let tries = 0; tries < 20; tries += 1) {
    const folder = newPath();
    const { command, isOver } = watched(folder, data);
    const isFar = () => {
      const [draft] = partials(folder);
      if (draft === undefined) return false;
      const copy = join(dirname(folder), draft, "halyard.db");
      return existsSync(copy) && statSync(copy).size >= whole * share;
    };
    while (!isOver() && !isFar()) await turn();
    command.kill(signal);
    const { code } = await command.ended;
    if (code !== 0) return { folder, code, left: partials(folder) };
  }
  throw new Error("no backup could be interrupted");
};

test("a killed backup leaves nothing that restore accepts", async () => {
  const { folder: data } = await makeStore();
  addBallast(data, 60);
  for (const share of [0, 0.5]) {
    const { folder, left } = await interrupted(data, "SIGKILL", share);
    assert.equal(existsSync(folder), false);
    const [draft = ""] = left;
    const target = newPath();
    const ended = await runInThread(["restore", join(dirname(folder), draft), "--data", target]);
    assert.equal(ended.code, 3);
    assert.match(ended.stderr, /is not a complete backup: manifest\.json.* is missing/);
    assert.equal(existsSync(target), false);
  }
  const { code, folder, left } = await interrupted(data, "SIGTERM", 0);
  assert.deepEqual([code, existsSync(folder), left], [143, false, []]);
});

test("a changed byte is detected in any file, at any position", async () => {
  const { folder: data } = await makeStore();
  const folder = await take(data);
  const config = parseConfig({ HALYARD_DATA: newPath() });
  const refused = async (): Promise<boolean> => {
    const choice = { folder, force: false, pauseWebhooks: false, trust: true };
    return !(await verify(config, folder, true)).ok && !(await restore(config, choice)).ok;
  };
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const step = name === "manifest.json" ? 1 : Math.ceil(bytes.length / 40);
    for (let at = 0; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      assert.ok(await refused(), `${name} byte ${at}`);
    }
    for (const other of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from("\n")])]) {
      writeFileSync(path, other);
      assert.ok(await refused(), `${name} with ${other.length} of ${bytes.length} bytes`);
    }
    rmSync(path);
    assert.ok(await refused(), `without ${name}`);
    writeFileSync(path, bytes);
  }
  assert.ok((await verify(config, folder, false)).ok);

  const path = join(folder, "halyard.db");
  const bytes = readFileSync(path);
  bytes.writeUInt8((bytes[5_000] ?? 0) ^ 1, 5_000);
  writeFileSync(path, bytes);
  const said = /is damaged and was not used: the file halyard\.db has changed since the backup/;
  for (const args of [
    ["backup", "verify", folder],
    ["restore", folder, "--data", newPath()],
  ]) {
    const ended = await runInThread(args);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, said);
  }
});
