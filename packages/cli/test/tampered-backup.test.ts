// Backups that were changed consistently: which changes are detected with which key, and which ones are only reported as unverified.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { before, test } from "node:test";
import { parseConfig } from "@halyard/server";
import { backUp, restore, verify } from "@halyard/server/operator/backup";
import {
  type Manifest,
  renderManifest,
  signManifest,
} from "../../server/src/platform/database/maintenance/backup-manifest.ts";
import { openDatabase as openStoreFile } from "../../server/src/platform/database/sqlite/data-folder.ts";
import { makeStore, newPath, openDatabase } from "./support/backup-store.ts";
import { runInThread } from "./support/command-thread.ts";

const take = async (data: string, withSecretKey: boolean): Promise<string> => {
  const folder = newPath();
  const silent = { progress: () => undefined, began: () => undefined };
  const config = parseConfig({ HALYARD_DATA: data });
  const made = await backUp(config, { folder, withSecretKey, ...silent });
  assert.ok(made.ok);
  return folder;
};

const describe = (folder: string, name: string) => {
  const bytes = readFileSync(join(folder, name));
  return { name, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
};

/** Changes a copy of the backup, and writes a matching manifest. */
const forge = (
  original: string,
  tamper: (folder: string) => void,
  sign: (manifest: Manifest) => Manifest = (manifest) => manifest,
): string => {
  const folder = newPath();
  cpSync(original, folder, { recursive: true });
  tamper(folder);
  const path = join(folder, "manifest.json");
  const { sha256: _, format: __, ...old } = JSON.parse(readFileSync(path, "utf8"));
  const rows = openDatabase(folder, (database) =>
    Object.fromEntries(
      database
        .prepare(
          "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
        )
        .all()
        .map(({ name }) => [
          name,
          database.prepare(`select count(*) as count from ${String(name)}`).get()?.count,
        ]),
    ),
  );
  const files = (old as Manifest).files.map(({ name }) => describe(folder, name));
  writeFileSync(path, renderManifest(sign({ ...old, rows, files })));
  return folder;
};

const inDatabase = (change: (database: DatabaseSync) => void) => (folder: string) =>
  openDatabase(folder, change);
const addKey = inDatabase((database) =>
  database.exec(
    `insert into api_keys (id, environment_id, name, role, hash, created_at)
     select 'abcdef0123456789', id, 'ops', 'admin', x'00', 0 from environments limit 1`,
  ),
);
const addTrigger = inDatabase((database) =>
  database.exec(
    "create trigger spy after insert on api_keys begin update api_keys set role = 'admin'; end",
  ),
);

let data: string;
let secretKey: string;
let withKey: string;
let withoutKey: string;
before(async () => {
  data = (await makeStore()).folder;
  secretKey = readFileSync(join(data, "secret.key"), "utf8").trim();
  withKey = await take(data, true);
  withoutKey = await take(data, false);
});

/** The reason why verify and restore reject the backup; empty if they accept it. Both give the same reason. */
const refusal = async (folder: string, settings = {}, trust = false): Promise<string> => {
  const config = parseConfig({ HALYARD_DATA: newPath(), ...settings });
  const choice = { folder, force: false, pauseWebhooks: false, trust };
  const verified = await verify(config, folder, trust);
  const restored = await restore(config, choice);
  const message = verified.ok ? "" : verified.failure.message;
  assert.equal(restored.ok ? "" : restored.failure.message, message);
  return message;
};

test("an added key is detected, even with --trust-backup", async () => {
  const forged = /signature does not match, so somebody has changed it/;
  for (const [original, settings] of [
    [withKey, {}],
    [withoutKey, { HALYARD_SECRET_KEY: secretKey }],
  ] as const) {
    assert.equal(await refusal(original, settings), "");
    const folder = forge(original, addKey);
    assert.match(await refusal(folder, settings), forged);
    assert.match(await refusal(folder, settings, true), forged);
  }
  const ended = await runInThread(["backup", "verify", forge(withKey, addKey), "--data", data]);
  assert.deepEqual([ended.code, ended.stdout], [1, ""]);
  assert.match(ended.stderr, forged);
});

test("a signature with another key is detected with the right key", async () => {
  const other = randomBytes(32);
  const folder = forge(
    withKey,
    (copy) => {
      addKey(copy);
      writeFileSync(join(copy, "secret.key"), `${other.toString("base64")}\n`);
    },
    (manifest) => signManifest(manifest, other),
  );
  const unknown = /signed with a secret key that is not here \([0-9a-f]{8}\).*--trust-backup/;
  assert.match(await refusal(folder, { HALYARD_SECRET_KEY: secretKey }), unknown);
  // Without a separate key, tampering can't be detected, which the output says.
  const ended = await runInThread(["backup", "verify", folder, "--data", newPath(), "--json"]);
  assert.equal(JSON.parse(ended.stdout).origin, "own key");
  assert.match(
    ended.stderr,
    /contains the key that signed it.*anyone who can write to the backup can sign/,
  );
});

test("a trigger is detected even if the signature is valid", async () => {
  const sign = (manifest: Manifest) => signManifest(manifest, Buffer.from(secretKey, "base64"));
  const found = /the trigger "spy" on "api_keys" is not Halyard's\. .*--trust-backup/;
  const folder = forge(withKey, addTrigger, sign);
  assert.match(await refusal(folder), found);
  assert.equal(await refusal(folder, {}, true), "");

  for (const [statement, said] of [
    ["create table extra (a)", /the table "extra" is not Halyard's/],
    ["create view keys as select * from api_keys", /the view "keys" is not Halyard's/],
    ["drop index history_by_revision", /the index "history_by_revision" on "history" is missing/],
    [
      "alter table api_keys add column more text default 'x'",
      /the table "api_keys" is not as Halyard creates it/,
    ],
  ] as const) {
    const changed = forge(
      withKey,
      inDatabase((database) => database.exec(statement)),
      sign,
    );
    assert.match(await refusal(changed), said);
  }
  // ANALYZE writes to SQLite's own tables.
  const analyzed = forge(
    withKey,
    inDatabase((database) => database.exec("analyze")),
    sign,
  );
  assert.equal(await refusal(analyzed), "");
});

test("an unsigned backup requires --trust-backup, and unverified properties are reported", async () => {
  const unsign = (manifest: Manifest): Manifest => {
    const { signature: _, ...rest } = manifest;
    return rest;
  };
  const folder = forge(withKey, () => {}, unsign);
  const said =
    /is not signed\. Its files match its manifest, but somebody who changed both.*--trust-/;
  assert.match(await refusal(folder), said);
  const target = newPath();
  const refused = await runInThread(["restore", folder, "--data", target]);
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  const ended = await runInThread(["restore", folder, "--data", target, "--trust-backup"]);
  assert.equal(ended.code, 0);
  assert.equal(ended.stderr, "The backup is not signed, so its origin is not verified.\n");
  assert.ok(statSync(join(target, "halyard.db")).size > 0);
});

test("a database with a trigger can be backed up, with a warning", async () => {
  const { folder } = await makeStore();
  addTrigger(folder);
  const ended = await runInThread(["backup", newPath(), "--data", folder]);
  assert.equal(ended.code, 0);
  assert.match(
    ended.stderr,
    /^In the database, the trigger "spy" on "api_keys" is not Halyard's.*halyard doctor/,
  );
});

test("the database does not trust functions in a schema", () => {
  const database = openStoreFile(join(data, "halyard.db"));
  assert.deepEqual({ ...database.prepare("pragma trusted_schema").get() }, { trusted_schema: 0 });
  database.close();
});
