// halyard serve as a process: the first start, later starts, and failed starts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, suite, test } from "node:test";
import {
  type Ended,
  type HalyardProcess,
  serveHalyard,
  spawnHalyard,
} from "../../server/test/support/halyard-process.ts";
import { folderOf } from "./support/folders.ts";

const started: HalyardProcess[] = [];
after(() => {
  // Left by a failed test. The others have exited.
  for (const halyard of started) halyard.kill("SIGKILL");
});

const stop = async (halyard: HalyardProcess): Promise<Ended> => {
  halyard.kill("SIGTERM");
  const ended = await halyard.ended;
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
};

const flagsOf = async (url: string, key: string) => {
  const response = await fetch(`${url}/api/v1/flags`, {
    headers: { authorization: `Bearer ${key}`, connection: "close" },
  });
  return { status: response.status, flags: await response.json() };
};

/** Must not start: checks the exit code and the only sentence on standard error. */
const refuse = async (
  settings: Record<string, string>,
  message: RegExp,
  exitCode = 1,
): Promise<void> => {
  const halyard = spawnHalyard(["serve"], { PORT: "0", ...settings });
  started.push(halyard);
  const { code, stdout, stderr } = await halyard.ended;
  assert.equal(code, exitCode, stdout + stderr);
  assert.match(stderr, /^halyard: /);
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at |node:internal|file:\/\/|not foreseen/m);
  assert.doesNotMatch(stdout, /Halyard is up/);
};

const openDatabase = (folder: string) => new DatabaseSync(join(folder, "halyard.db"));

test("the first start prints two keys and a working command; the second prints no key", async () => {
  const folder = join(folderOf(), "made", "by", "it");
  const first = await serveHalyard(folder);
  assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(Object.keys(first.keys), ["development", "production"]);
  for (const text of Object.values(first.keys)) assert.match(text, /^hal_[0-9a-f]+_[\w-]{43}$/);
  assert.equal(statSync(join(folder, "secret.key")).mode & 0o777, 0o600);

  const [, line = ""] = await first.printed(/^ {2}(curl [\s\S]*?'\{[^\n]*\}')$/m);
  const made = { key: "hello", type: "boolean", enabled: false, description: null };
  assert.ok(line.includes(`${first.url}/api/v1/flags`));
  if (spawnSync("curl", ["--version"]).status === 0) {
    const pasted = spawnSync("bash", ["-c", line], { encoding: "utf8", timeout: 600_000 });
    assert.equal(pasted.status, 0, pasted.stderr);
    assert.deepEqual(JSON.parse(pasted.stdout), made);
  } else {
    const [, key = ""] = /Bearer ([^']+)'/.exec(line) ?? [];
    const [, body = ""] = /-d '(.*)'$/.exec(line) ?? [];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${first.url}/api/v1/flags`, { method: "POST", headers, body });
    assert.deepEqual(await response.json(), made);
  }
  const development = first.keys.development ?? "";
  assert.deepEqual(await flagsOf(first.url, development), { status: 200, flags: [made] });
  assert.deepEqual(await flagsOf(first.url, first.keys.production ?? ""), {
    status: 200,
    flags: [],
  });
  assert.doesNotMatch((await stop(first)).stderr, /./);

  const second = await serveHalyard(folder);
  assert.deepEqual(await flagsOf(second.url, development), { status: 200, flags: [made] });
  const { stdout, stderr } = await stop(second);
  assert.doesNotMatch(stdout + stderr, /hal_|first start|curl/);
});

test("keys given by the operator are used and never printed", async () => {
  const folder = folderOf();
  const key = "a-key-chosen-by-the-operator";
  const settings = { HALYARD_BOOTSTRAP_KEYS: `production=${key},qa=another-${key}` };
  for (const isFirst of [true, false]) {
    const server = await serveHalyard(folder, settings);
    assert.deepEqual(Object.keys(server.keys), isFirst ? ["development"] : []);
    assert.equal((await flagsOf(server.url, key)).status, 200);
    assert.equal((await flagsOf(server.url, `another-${key}`)).status, 200);
    const { stdout, stderr } = await stop(server);
    assert.ok(!(stdout + stderr).includes(key));
  }
});

suite("a failed start prints one sentence", { concurrency: 2 }, () => {
  test("a port that is taken", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    await refuse(
      { PORT: String(port), HALYARD_DATA: folderOf() },
      new RegExp(`^halyard: Port ${port} on 127\\.0\\.0\\.1 is already in use: .* PORT\\.\\n$`),
    );
    holder.close();
  });

  test("a host that is not of this machine", () =>
    refuse({ HOST: "192.0.2.1", HALYARD_DATA: folderOf() }, /192\.0\.2\.1 is not an address of/));

  test("all errors in the settings, together", async () => {
    const folder = join(folderOf(), "untouched");
    const names = ["HOST", "PORT", "HALYARD_BOOTSTRAP_KEYS", "HALYARD_SECRET_KEY"];
    const lines = [...names, "HALYARD_RATE_LIMIT"].map((name) => ` {2}- ${name} must be .*\\.\\n`);
    await refuse(
      {
        PORT: "70000",
        HOST: "not a host",
        HALYARD_DATA: folder,
        HALYARD_RATE_LIMIT: "-1",
        HALYARD_SECRET_KEY: "short",
        HALYARD_BOOTSTRAP_KEYS: "production=short",
      },
      new RegExp(`^halyard: 5 settings are wrong:\\n${lines.join("")}$`),
      2,
    );
    assert.ok(!existsSync(folder));
  });

  test("a data folder below a file", async () => {
    const file = join(folderOf(), "file");
    writeFileSync(file, "");
    await refuse({ HALYARD_DATA: join(file, "data") }, /data folder \S+ cannot be created/);
  });

  test("a data folder that can't be written", { skip: !existsSync("/proc/1") }, () =>
    refuse({ HALYARD_DATA: "/proc/1" }, /\/proc\/1.*right to .*write/),
  );

  test("a data folder that can't be created", { skip: !existsSync("/proc/1") }, () =>
    refuse({ HALYARD_DATA: "/proc/halyard/data" }, /data folder \/proc\/halyard\/data cannot be/),
  );

  test("a file that is not a database", async () => {
    const folder = folderOf();
    writeFileSync(join(folder, "halyard.db"), "not a database ".repeat(1_000));
    await refuse({ HALYARD_DATA: folder }, /halyard\.db is damaged or is not a Halyard database/);
    assert.match(readFileSync(join(folder, "halyard.db"), "utf8"), /^not a database/);
  });

  test("a folder instead of the database", async () => {
    const folder = folderOf();
    mkdirSync(join(folder, "halyard.db"));
    await refuse({ HALYARD_DATA: folder }, /database \S+halyard\.db cannot be opened/);
  });

  test("a database that a newer Halyard wrote", async () => {
    const folder = folderOf();
    await stop(await serveHalyard(folder));
    const database = openDatabase(folder);
    database.exec("update schema_version set version = 1000");
    database.close();
    await refuse({ HALYARD_DATA: folder }, /schema version 1000, .* start the newer Halyard/);
  });

  test("a damaged secret.key, which is not modified", async () => {
    const folder = folderOf();
    await stop(await serveHalyard(folder));
    const path = join(folder, "secret.key");
    const key = readFileSync(path, "utf8");
    for (const damaged of ["", "nonsense", key.slice(8)]) {
      writeFileSync(path, damaged);
      await refuse({ HALYARD_DATA: folder }, /secret\.key does not hold a key of 32 bytes/);
      assert.equal(readFileSync(path, "utf8"), damaged);
    }
    writeFileSync(path, key);
    await stop(await serveHalyard(folder));
  });
});

test("two processes that start at once on an empty folder share one schema and one set of keys", async () => {
  for (let round = 0; round < 3; round += 1) {
    const folder = folderOf();
    const servers = await Promise.all([serveHalyard(folder), serveHalyard(folder)]);
    const printed = servers.flatMap(({ keys }) => Object.entries(keys));
    assert.deepEqual(
      printed.map(([environment]) => environment),
      ["development", "production"],
    );
    for (const { url } of servers) {
      for (const [, key] of printed) assert.equal((await flagsOf(url, key)).status, 200);
    }
    await Promise.all(servers.map(stop));
    const database = openDatabase(folder);
    const count = (table: string) =>
      Object.values(database.prepare(`select count(*) from ${table}`).get() ?? {})[0];
    assert.deepEqual(["schema_version", "environments", "api_keys"].map(count), [1, 2, 2]);
    database.close();
  }
});

test("an unknown variable is logged as a warning, without its value", async () => {
  const server = await serveHalyard(folderOf(), { HALYARD_RATELIMIT: "5-a-minute" });
  const { stdout } = await stop(server);
  const warnings = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { level: number; setting?: string; msg: string })
    .filter(({ level }) => level === 40);
  assert.deepEqual(
    warnings.map(({ setting }) => setting),
    ["HALYARD_RATELIMIT"],
  );
  assert.match(warnings[0]?.msg ?? "", /unknown setting; is it misspelt/);
  assert.ok(!stdout.includes("5-a-minute"));
});
