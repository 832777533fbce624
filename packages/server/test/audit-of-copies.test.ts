// A copy of an environment is hidden until it is finished: the audit log must not take it for one that was deleted.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { createSecretCipher } from "../src/store/secrets/secret-cipher.ts";
import { secretKeysIn } from "../src/store/secrets/secret-key-file.ts";
import { createSqlStore } from "../src/store/sql/store.ts";
import { openSqliteEngine } from "../src/store/sqlite/store.ts";
import { createAudit } from "../src/telemetry/audit.ts";
import { newFolder } from "./support/server.ts";

test("an unfinished copy, and one that was never made, are not told as deleted", async (t) => {
  const folder = newFolder();
  const lines: object[] = [];
  const audit = createAudit({ info: (fields) => lines.push(fields) });
  const store = audit.store(
    createSqlStore(
      await openSqliteEngine(folder, true),
      createSecretCipher(secretKeysIn(folder, [])),
    ),
  );
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = new Date();
  const { id } = await store.transact((transaction) => transaction.insertEnvironment("one", at));
  await store.positions();
  await store.transact((transaction) => transaction.insertEnvironment("copy", at, {}, id));
  await store.positions();
  const refused = store.transact(async (transaction) => {
    await transaction.insertEnvironment("never", at);
    throw new Error("refused");
  });
  await assert.rejects(refused, /refused/);
  await store.positions();
  assert.deepEqual(lines, []);
});
