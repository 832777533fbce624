// halyard doctor on databases: reports no problems of healthy ones, and each problem with its remedy.
import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { genesis } from "@halyard/core/history/chain";
import { parseConfig, startServer } from "@halyard/server";
import { migrations } from "../../server/src/platform/database/schema/migrate.ts";
import { createApi } from "../../server/test/support/api.ts";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import { unhurried } from "../../server/test/support/test-store.ts";
import { addBallast, makeStore, newPath, openDatabase } from "./support/backup-store.ts";
import { examine, found } from "./support/doctor.ts";

const noServer = /^warn server: no server responds at http:\/\/127\.0\.0\.1:\d+ \| start it/;
const settings = { PORT: "1" };

const contentsOf = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => [name, hash("sha256", readFileSync(join(folder, name)))]);

const makeWebhooks = async (folder: string, key: string, urls: readonly string[]) => {
  const config = {
    HALYARD_DATA: folder,
    PORT: "0",
    HALYARD_LOG_LEVEL: "silent",
    HALYARD_MAX_LAG: unhurried,
  };
  const server = await startServer(parseConfig(config));
  const api = createApi(server.url, key);
  const ids: string[] = [];
  for (const url of urls) {
    const made = await api("POST", "/webhooks", { url, events: ["*"] });
    assert.equal(made.status, 201, made.text);
    ids.push((made.body as { id: string }).id);
  }
  await server.close();
  return ids;
};

suite("a database", () => {
  test("that is healthy passes, and is not modified", async () => {
    const { folder } = await makeStore();
    const before = contentsOf(folder);
    const ended = await runHalyard(["doctor", "--data", folder], settings);
    assert.deepEqual([ended.code, ended.stderr], [0, ""]);
    assert.match(
      ended.stdout,
      new RegExp(
        [
          "^OK {3}node: Node \\S+",
          "OK {3}settings: all valid.*",
          `OK {3}database: .*halyard\\.db is intact, schema version ${migrations.length}, .* free`,
          "OK {3}secret key: in .*secret\\.key",
          "OK {3}callbacks: there are no webhooks",
          "OK {3}keys: 2 keys in 2 environments, none used yet",
          "OK {3}history: 4 entries, chained without gaps",
          "WARN server: no server responds at http://127\\.0\\.0\\.1:1\\. To fix it: start it .*\n$",
        ].join("\n"),
      ),
    );
    assert.deepEqual(contentsOf(folder), before);
  });

  test("has the size of its file and of its write-ahead log", async () => {
    const { folder } = await makeStore();
    const path = join(folder, "halyard.db");
    // The log remains as long as a connection is open.
    using reader = new DatabaseSync(path);
    reader.prepare("select * from environments").all();
    addBallast(folder, 2);
    const [file, log] = [path, `${path}-wal`].map((name) => statSync(name).size);
    assert.ok(file !== undefined && file < 1_000_000 && log !== undefined && log > 2_000_000);
    const { checks } = await examine(["--data", folder], settings);
    const { message = "" } = checks.find(({ about }) => about === "database") ?? {};
    assert.match(message, new RegExp(`, ${((file + log) / 1_000_000).toFixed(1)} MB, `));
  });

  test("with many problems: each is reported with its remedy", async () => {
    const { folder, keys } = await makeStore();
    const day = 86_400_000;
    const [refused = "", unresolved = "", failing = "", paused = "", off = "", waiting = ""] =
      await makeWebhooks(folder, keys.production ?? "", [
        "http://127.0.0.1:9/hook",
        "https://nowhere.invalid/hook",
        ...[1, 2, 3, 4].map((number) => `https://192.0.31.${number}/hook`),
      ]);
    openDatabase(folder, (database) => {
      const ago = (milliseconds: number) => Date.now() - milliseconds;
      const run = (text: string, ...values: (string | number)[]) =>
        database.prepare(text).run(...values);
      run("update webhooks set failing_since = ? where id = ?", ago(3 * 3_600_000), failing);
      run("update webhooks set active = 0 where id in (?, ?)", paused, off);
      run(
        `insert into history (environment_id, subject, subject_id, at, actor_name, actions, after)
         select environment_id, 'webhook', id, 0, 'halyard', '["webhook.deactivated"]', '{"reason":"gone for 5 days"}'
         from webhooks where id = ?`,
        off,
      );
      run(
        "insert into events (id, environment_id, type, created_at, body) values ('evt_1', 2, 'x', 0, x'00')",
      );
      run(
        `insert into deliveries (id, webhook_id, queue_id, event_id, kind, state, attempts, created_at)
         values ('dlv_1', ?, 1, 'evt_1', 'event', 'pending', 0, ?)`,
        waiting,
        ago(2 * day),
      );
      run("update api_keys set created_at = ?", ago(200 * day));
      run("update api_keys set last_used_at = ? where environment_id = 2", ago(100 * day));
      run(
        "insert into environments (id, name, revision, sequence, flag_count, created_at, keys_revision, chain) values (3, 'staging', 0, 0, 0, ?, 0, ?)",
        ago(0),
        genesis,
      );
      run("update environments set created_at = 0, keys_revision = 0 where id = 3");
      run(
        "insert into users (id, name, owner, created_at, rights_at, totp) values ('usr_1', 'Ann', 0, 1, 1, x'0102')",
      );
      run("insert into installation (id, address_key) values ('installation', x'0102')");
    });
    writeFileSync(join(folder, "secret.key"), `${randomBytes(32).toString("base64")}\n`);
    for (const name of ["secret.key", "halyard.db"]) chmodSync(join(folder, name), 0o644);
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, ".restoring-1234"));

    const { lines, healthy } = await examine(["--data", folder], {
      ...settings,
      HOST: "0.0.0.0",
      HALYARD_RATELIMIT: "5",
    });
    assert.equal(healthy, false);
    for (const pattern of [
      /^warn settings: HALYARD_RATELIMIT is not a setting of Halyard \| correct its spelling/,
      /^warn database: other users of this machine can read .*halyard\.db \| chmod 700 .*; chmod 600 /,
      /^warn database: an interrupted restore left \.restoring-1234 in .* \| remove that folder/,
      /^warn secret key: other users .* can read .*secret\.key \| chmod 600 .*secret\.key/,
      /^fail secret key: the secrets of 6 webhooks can't be read.*\| restore the key/,
      /^fail secret key: 1 second factor can't be read.* for usr_1 \| restore the key/,
      /^fail secret key: account email addresses can't be compared, .* \| restore the key .*; if it is lost permanently, run halyard secrets reencrypt --lost-address-key$/,
      new RegExp(
        `^fail callbacks: ${refused} of production \\(http://127.* must not be called: .* \\| register`,
      ),
      new RegExp(
        `^warn callbacks: the host name of ${unresolved} .* does not resolve .*\\| .*nowhere\\.invalid`,
      ),
      new RegExp(`^warn callbacks: ${failing} .* failing for 3 hours \\| .*deliveries ${failing}`),
      new RegExp(`^warn callbacks: ${paused} .* is inactive \\| .*webhooks resume ${paused}`),
      new RegExp(
        `^warn callbacks: ${off} .* is inactive \\(.*deactivated it: gone for 5 days\\) \\| `,
      ),
      new RegExp(
        `^warn callbacks: the oldest of 1 delivery to ${waiting} .* waited for 2 days \\| `,
      ),
      /^warn keys: the environment staging has no admin key \| halyard keys create --env\S+ staging/,
      /^warn keys: the admin key \S+ .* of development was never used \| .*halyard keys revoke/,
      /^warn keys: the admin key \S+ .* of production was last used on \d{4}-\d\d-\d\d \| /,
      // The webhook's row above was inserted without a chained history entry.
      /^fail history: the history of production is not valid: 1 entries at the end are not part/,
      noServer,
    ]) {
      found(lines, pattern);
    }
    assert.equal(lines.length, 18, lines.join("\n"));
  });

  test("that is not usable: missing, damaged, or of another version", async () => {
    const { lines: absent } = await examine(["--data", newPath()], settings);
    found(absent, /^fail database: there is no Halyard database in .* \| .*--data or HALYARD_DATA/);

    const { folder } = await makeStore();
    openDatabase(folder, (database) => database.exec("update schema_version set version = 99"));
    const { lines: newer } = await examine(["--data", folder], settings);
    found(newer, /^fail database: the schema has version 99 .* \| use the newer Halyard/);

    const path = join(folder, "halyard.db");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x55, 4_096 * 2, 4_096 * 30));
    writeFileSync(join(folder, "secret.key"), "short");
    const { lines: damaged } = await examine(["--data", folder], settings);
    found(
      damaged,
      /^fail database: .*halyard\.db is damaged .* \| stop the server.*halyard restore/,
    );
    found(damaged, /^fail secret key: .* does not hold a key .* \| restore the file from a backup/);
  });

  test("with a modified schema", async () => {
    const { folder } = await makeStore();
    openDatabase(folder, (database) =>
      database.exec(
        `create trigger spy after insert on flags begin delete from history; end;
         create table notes (text);
         alter table flags add column more text`,
      ),
    );
    const { code, lines } = await examine(["--data", folder], settings);
    assert.equal(code, 1);
    found(
      lines,
      /^fail database: the trigger "spy" on "flags" is not Halyard's, .* \| .*drop trigger/,
    );
    found(
      lines,
      /^fail database: the table "flags" is different from Halyard's schema \| .*restore a backup/,
    );
    found(
      lines,
      /^warn database: 1 object in the schema is not Halyard's: the table "notes" \| move it/,
    );
  });

  test("with invalid settings is not checked", async () => {
    const { lines } = await examine([], { PORT: "many", HALYARD_LOG_LEVEL: "loud" });
    assert.equal(lines.length, 2);
    found(lines, /^fail settings: PORT must be a whole number.* \| correct it/);
    found(lines, /^fail settings: HALYARD_LOG_LEVEL must be one of/);
  });
});
