// Every database command as a process: its output for users and scripts, and its exit code.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { createSecretCipher } from "../../server/src/platform/database/secrets/secret-cipher.ts";
import {
  type Ended,
  type RunningServer,
  serveHalyard,
} from "../../server/test/support/halyard-process.ts";
import { until } from "../../server/test/support/until.ts";
import { runInThread } from "./support/command-thread.ts";
import { folderOf, storeOf } from "./support/folders.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

const assertNoTrace = ({ stdout, stderr }: Ended) =>
  assert.doesNotMatch(stdout + stderr, /^\s+at |node:internal|file:\/\//m);

/** The command must succeed, and print nothing on standard error. */
const succeed = async (...args: string[]): Promise<string> => {
  const ended = await runInThread(args);
  assert.deepEqual({ code: ended.code, stderr: ended.stderr }, { code: 0, stderr: "" });
  return ended.stdout;
};
const succeedAsJson = async (...args: string[]): Promise<unknown> =>
  JSON.parse(await succeed(...args, "--json"));

/** The command must exit with this code, and print only one message. */
const refuse = async (args: string[], code: number, message: RegExp, settings = {}) => {
  const ended = await runInThread(args, settings);
  assert.equal(ended.code, code, ended.stderr);
  assert.equal(ended.stdout, "");
  assert.match(ended.stderr, message);
  assertNoTrace(ended);
};

test("environments are created, listed and deleted, as text and as JSON", async () => {
  const database = await storeOf();
  const data = ["--data", database];
  assert.match(await succeed("environments", "list", ...data), /^NAME {2}FLAGS {2}CREATED .*\n$/);
  const staging = await runInThread(["environments", "create", "staging", ...data]);
  assert.match(staging.stdout, /^hal_[0-9a-f]{16}_[\w-]{43}\n$/);
  assert.ok(
    staging.stderr.startsWith(
      `Created the environment "staging" in the database ${database}. This is`,
    ),
  );
  const made = (await succeedAsJson("environments", "create", "qa", ...data)) as { key: object };
  const { key, ...qa } = made;
  assert.deepEqual(Object.keys(key), ["id", "key"]);
  const listed = (await succeedAsJson("environments", "list", ...data)) as { name: string }[];
  assert.deepEqual({ ...listed[0], database }, qa);
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["qa", "staging"],
  );
  assert.match(
    await succeed("environments", "list", ...data),
    /^NAME {5}FLAGS {2}CREATED .*\nqa {7}0 {6}\d{4}-\S+Z {2}never .*\nstaging {2}0 {6}\d{4}-\S+Z .*\n$/,
  );
  await refuse(["environments", "create", "qa", ...data], 5, /"qa" already exists/);
  await refuse(["environments", "create", "Q A", ...data], 2, /name must be 1 to 63 characters/);
  await refuse(["environments", "delete", "nope", ...data], 3, /"nope" does not exist/);

  const remove = (name: string) => ["environments", "delete", name, ...data];
  await refuse(
    remove("qa"),
    2,
    /Delete the environment "qa" in the database \S+ with 0 flags, 0 webhooks, 1 key and all history\?.* confirm with --yes\.\n$/,
  );
  assert.match(await succeed("environments", "list", ...data), /^qa /m);
  assert.match(await succeed(...remove("qa"), "--yes"), /^Deleted .* "qa"/);
  assert.deepEqual(await succeedAsJson(...remove("staging"), "-y"), {
    name: "staging",
    flags: 0,
    deleted: true,
    database,
  });
  assert.deepEqual(await succeedAsJson("environments", "list", ...data), []);
  const deleted = await succeedAsJson("environments", "list", "--deleted", ...data);
  assert.deepEqual(
    (deleted as { name: string; flags: number }[]).map(({ name, flags }) => [name, flags]),
    [
      ["staging", 0],
      ["qa", 0],
    ],
  );
  assert.match(
    await succeed("environments", "list", "--deleted", ...data),
    /^NAME {5}FLAGS {2}WEBHOOKS {2}KEYS {2}DELETED {19}BY\nstaging {2}0 {6}0 {9}1 {5}\d{4}-\S+Z {2}operator\nqa /,
  );
});

suite("next to a running server", () => {
  let server: RunningServer;
  let folder: string;
  let data: string[];
  before(async () => {
    folder = folderOf();
    data = ["--data", folder];
    server = await serveHalyard(folder);
  });
  after(async () => {
    server.kill("SIGTERM");
    assert.equal((await server.ended).code, 0);
  });

  const call = async (key: string, body?: object, what = "flags") => {
    const response = await fetch(`${server.url}/api/v1/${what}`, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const create = (role: string, name: string, environment = "development") =>
    ["keys", "create", "-e", environment, "-r", role, "-n", name, ...data] as const;

  /** Another process deleted the key, which the server must notice within a second. */
  const stops = (key: string) => until("the key to stop", async () => (await call(key)) === 401);

  test("a key works immediately, and stops working soon after revocation", async () => {
    const made = await runInThread(create("server", "web"));
    assert.equal(made.code, 0);
    // Standard output contains only the key, for use in scripts.
    const [, id = ""] = /^hal_([0-9a-f]+)_[\w-]{43}\n$/.exec(made.stdout) ?? [];
    assert.match(made.stderr, new RegExp(`server key "web" \\(${id}\\).*won't be shown again`));
    const key = made.stdout.trim();
    assert.equal(await call(key), 200);
    assert.equal(await call(key, { key: "a", type: "boolean" }), 403);

    const list = await succeed("keys", "list", "-e", "development", ...data);
    assert.match(list, /^ID +ROLE +CREATED +LAST USED +EXPIRES +MAX FLIPS +NAME +ORIGINS\n/);
    assert.match(list, new RegExp(`^${id} +server +\\S+Z +never +never +none +web$`, "m"));
    assert.ok(!list.includes(key));

    const revoke = ["keys", "revoke", id, "-e", "development", ...data];
    await refuse(["keys", "revoke", id, "-e", "production", ...data], 3, /does not exist/);
    assert.equal(await call(key), 200);
    assert.equal(
      await succeed(...revoke),
      `Revoked the key ${id} in development in the database ${folder}.\n`,
    );
    await stops(key);
    assert.ok(!(await succeed("keys", "list", "-e", "development", ...data)).includes(id));
    await refuse(revoke, 3, new RegExp(`The API key "${id}" does not exist`));
  });

  test("the same as JSON", async () => {
    const made = await succeedAsJson(...create("client", "page"));
    const { key, environment, database, ...shown } = made as Record<string, string>;
    const place = { environment: "development", database: folder };
    assert.deepEqual({ environment, database }, place);
    const fields = "createdAt expiresAt id lastUsedAt name origins role user";
    assert.equal(Object.keys(shown).sort().join(" "), fields);
    const list = await succeedAsJson("keys", "list", "-e", "development", ...data);
    assert.deepEqual(
      (list as { id: string }[]).filter(({ id }) => id === shown.id),
      [shown],
    );
    assert.equal(await call(key ?? ""), 403);
    const revoke = ["keys", "revoke", shown.id ?? "", "-e", "development", ...data];
    assert.deepEqual(await succeedAsJson(...revoke), { id: shown.id, revoked: true, ...place });
    await stops(key ?? "");
  });

  test("an environment with flags is deleted only by --force, and its keys stop", async () => {
    const key = (await runInThread(["environments", "create", "staging", ...data])).stdout.trim();
    assert.equal(await call(key, { key: "a", type: "boolean" }), 201);
    const remove = ["environments", "delete", "staging", ...data];
    await refuse(
      remove,
      5,
      /"staging" in the database \S+ has 1 flag\. .*: add --force to do so\.\n$/,
    );
    assert.equal(await call(key), 200);
    const listed = await succeedAsJson("environments", "list", ...data);
    assert.deepEqual(
      (listed as { name: string; flags: number }[]).map(({ name, flags }) => [name, flags]),
      [
        ["development", 0],
        ["production", 0],
        ["staging", 1],
      ],
    );
    await refuse(
      [...remove, "--yes"],
      5,
      /"staging" in the database \S+ has 1 flag\. .*: add --force to do so\.\n$/,
    );
    const webhook = { url: "http://127.0.0.1:9/", events: ["*"] };
    assert.equal(await call(key, webhook, "webhooks"), 201);
    const question =
      /"staging" in the database \S+ with 1 flag, 1 webhook, 1 key and all history\?.* confirm with --yes\.\n$/;
    await refuse([...remove, "--force"], 2, question);
    assert.equal(await call(key), 200);
    const answer = (word: string) =>
      runAtTerminal([...remove, "--force"], {}, [[/1 webhook, .*\[y\/N\] /, `${word}\n`]]);
    if (noTerminal === false) {
      const kept = await answer("n");
      assert.equal(kept.code, 2, kept.screen);
      assert.match(kept.screen, /Nothing was changed/);
      assert.equal(await call(key), 200);
      const gone = await answer("y");
      assert.equal(gone.code, 0, gone.screen);
      assert.match(gone.screen, /Deleted the environment "staging"/);
    } else {
      const gone = await succeed(...remove, "--force", "--yes");
      assert.match(gone, /^Deleted the environment "staging"/);
    }
    await stops(key);
  });

  test("secrets are encrypted again, and counted", async () => {
    const said = (count: string) =>
      `Encrypted ${count} in the database ${folder} with the newest key.\n`;
    assert.equal(await succeed("secrets", "reencrypt", ...data), said("0 secrets"));
    const response = await fetch(`${server.url}/api/v1/webhooks`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.keys.production}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ url: "https://example.com/hook", events: ["*"] }),
    });
    assert.equal(response.status, 201);
    assert.equal(await succeed("secrets", "reencrypt", ...data), said("1 secret"));
    assert.deepEqual(await succeedAsJson("secrets", "reencrypt", ...data), {
      reencrypted: 1,
      database: folder,
    });
    const database = new DatabaseSync(join(folder, "halyard.db"));
    const loseKey = () => {
      database.exec("delete from installation");
      const sealed = createSecretCipher([randomBytes(32)]).seal("lost", "installation");
      database.prepare("insert into installation values ('installation', ?)").run(sealed);
    };
    loseKey();
    await refuse(["secrets", "reencrypt", ...data], 1, /secret key.* reencrypt --lost-address-key/);
    const again = ["secrets", "reencrypt", "--lost-address-key", ...data];
    const lost =
      "The key that protects account email addresses could not be decrypted, so a new one was created. Halyard now compares current addresses only, and no longer addresses that accounts had before.\n";
    assert.equal(await succeed(...again), said("2 secrets") + lost);
    loseKey();
    assert.deepEqual(await succeedAsJson(...again), {
      reencrypted: 2,
      lostAddresses: true,
      database: folder,
    });
    database.close();
  });
});

test("a database in use results in one sentence, not a stack trace", async () => {
  const folder = await storeOf();
  const holder = new DatabaseSync(join(folder, "halyard.db"));
  holder.exec("begin immediate");
  await refuse(
    ["environments", "create", "qa", "--data", folder],
    6,
    /^halyard: The .*database .*(locked|busy)/,
  );
  holder.close();
});

test("HALYARD_DATA sets the folder, and --data takes precedence", async () => {
  const [one, two] = [await storeOf(), await storeOf()];
  const settings = { HALYARD_DATA: one };
  assert.equal((await runInThread(["environments", "create", "one"], settings)).code, 0);
  const other = await runInThread(["environments", "list", "--json", "--data", two], settings);
  assert.equal(other.stdout, "[]\n");
  const listed = await runInThread(["environments", "list"], settings);
  assert.match(listed.stdout, /^one /m);
  // That address must not be contacted: a configured database must be ignored.
  const DATABASE_URL = "postgres://u:secret-word@127.0.0.1:1/x";
  for (const check of [[], ["--check"]]) {
    const migrated = await runInThread(["migrate", ...check, "--data", two], { DATABASE_URL });
    assert.deepEqual([migrated.code, migrated.stderr], [0, ""]);
    assert.match(migrated.stdout, new RegExp(`^The schema of ${two} (is|was) up to date`));
  }
});

test("no database is created in a wrong folder", async () => {
  const folder = join(folderOf(), "typo");
  const said = /^halyard: There is no Halyard database in .*typo: run this in the server's folder/;
  await refuse(["environments", "create", "qa", "--data", folder], 3, said);
  await refuse(["secrets", "reencrypt", "--data", folder], 3, said);
  await refuse(["migrate", "--data", folder], 3, said);
  await refuse(["migrate", "--check", "--data", folder], 3, said);
  assert.equal(existsSync(folder), false);
});
