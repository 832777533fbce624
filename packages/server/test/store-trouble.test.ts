// What happens when the store is held by another process, undoes a transaction by itself, or is slow to give up a long delivery log.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { createSecretBox } from "../src/store/secret-box.ts";
import { keyRing } from "../src/store/secret-key-file.ts";
import { openSqliteStore } from "../src/store/sqlite.ts";
import { readRows, writeRows } from "./support/database.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("while another process holds the database, everything but changes goes on", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const other = new DatabaseSync(join(server.folder, "halyard.db"));
  other.exec("begin immediate");
  let isChanged = false;
  const change = admin("PATCH", "/flags/a", { enabled: true }).then((answer) => {
    isChanged = true;
    return answer;
  });
  for (let round = 0; round < 20; round += 1) {
    assert.equal((await server.anonymous("GET", "//healthz")).status, 200);
    assert.equal((await admin("GET", "/flags/a")).status, 200);
  }
  assert.equal(isChanged, false, "it waits for the other");
  other.exec("rollback");
  other.close();
  assert.deepEqual((await change).status, 200);
});

test("a transaction that SQLite itself rolls back leaves nothing, and its cause is told", async (t) => {
  // As on a full disk, the transaction is gone before anybody asks for its end.
  const folder = newFolder();
  const store = await openSqliteStore(folder, createSecretBox(keyRing(folder, [])));
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  writeRows(
    { folder },
    `create trigger undo after insert on environments
     begin select raise(rollback, 'not today'); end`,
  );
  const insert = () =>
    store.transact((transaction) => transaction.insertEnvironment("a", new Date()));
  await assert.rejects(insert, /not today/);
  assert.deepEqual(await store.environments(), []);
  writeRows({ folder }, "drop trigger undo");
  assert.equal((await insert()).name, "a");
});

test("a key that is revoked while a body is on its way changes nothing", async () => {
  const { admin, keys } = await server.environment();
  const made = await admin("POST", "/keys", { name: "late", role: "admin" });
  const { id, key } = made.body as { id: string; key: string };
  const body = JSON.stringify({ key: "late", type: "boolean" });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  socket.write(
    `POST /api/v1/flags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  await until("the headers have been read", () => answer.includes("100 Continue"));
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  socket.write(body);
  await until("it is answered", () => /HTTP\/1\.1 [2-5]\d\d [A-Z]/.test(answer.slice(25)));
  assert.match(answer, /HTTP\/1\.1 401 /);
  socket.destroy();
  assert.equal((await server.api(keys.admin)("GET", "/flags/late")).status, 404);
});

test("a webhook with a long delivery log is removed whole", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/webhooks", { url: "http://127.0.0.1:9/x", events: ["*"] });
  const { id } = made.body as { id: string };
  for (let index = 0; index < 30; index += 1) {
    await admin("POST", "/flags", { key: `flag-${index}`, type: "boolean" });
  }
  const replays = 45;
  for (let index = 0; index < replays; index += 1) {
    assert.equal((await admin("POST", `/webhooks/${id}/replay`, { afterSequence: 0 })).status, 202);
  }
  const left = () =>
    Number(readRows(server, "select count(*) as n from deliveries where webhook_id = ?", id)[0]?.n);
  assert.equal(left(), 30 * (replays + 1));
  assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
  assert.equal(left(), 0);
  assert.deepEqual((await admin("GET", "/webhooks")).body, []);
  const [entry] = (await admin("GET", "/history?subject=webhook&limit=1")).body as {
    actions: string[];
    before: { active: boolean };
  }[];
  assert.deepEqual(entry?.actions, ["webhook.deleted"]);
  assert.equal(entry?.before.active, true);
});
