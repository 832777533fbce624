// A server that is killed while it copies an environment: the repeated request continues the copy, and its first response is repeated.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { createApi } from "./support/api.ts";
import { readRows } from "./support/database.ts";
import { type RunningServer, serveHalyard } from "./support/halyard-process.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

const folder = newFolder();
const running: RunningServer[] = [];
after(async () => {
  for (const server of running) server.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

const start = async (): Promise<RunningServer> => {
  const server = await serveHalyard(folder, { HALYARD_LOG_LEVEL: "fatal" });
  running.push(server);
  return server;
};

/** Enough parts that the copy is still on its way when its first rows are seen. */
const memberCount = 60_000;
const atOnce = 10_000;

const makeSource = async (): Promise<string> => {
  const operator = await composeOperator(parseConfig(await storeSettings(folder)));
  try {
    const made = await operator.environments.create("source");
    assert.ok(made.ok);
    const key = { role: "owner", name: "owner" } as const;
    return (await operator.keys.createAsOperator(made.value.id, key)).text;
  } finally {
    await operator.close();
  }
};

test("a copy that was interrupted by a kill continues with its Idempotency-Key", async () => {
  const first = await start();
  const key = await makeSource();
  const source = createApi(first.url, key);
  await until("the key is known", async () => (await source("GET", "/flags")).status === 200);
  assert.equal((await source("POST", "/segments", { key: "many" })).status, 201);
  for (let begin = 0; begin < memberCount; begin += atOnce) {
    const add = Array.from({ length: atOnce }, (_, index) => `member-${begin + index}`);
    const changed = await source("POST", "/segments/many/members", { include: { add } });
    assert.equal(changed.status, 200, changed.text);
  }
  const when = { segment: ["many"] };
  const rules = [{ id: "many", when, serve: "on" }];
  const flag = { key: "shown", type: "boolean", rules, otherwise: "off" };
  assert.equal((await source("POST", "/flags", flag)).status, 201);

  const wanted = { name: "copied", copyOf: "source" };
  const once = { "idempotency-key": "copy-1" };
  const interrupted = source("POST", "/environments", wanted, once).then(
    () => "answered",
    () => "cut off",
  );
  const copies = async () =>
    readRows(
      { folder },
      "select copy_of, (select count(*) from segment_members where environment_id = environments.id) as members from environments where name = 'copied'",
    );
  await until("a part is copied", async () => Number((await copies())[0]?.members ?? 0) > 0);
  first.kill("SIGKILL");
  assert.equal(await interrupted, "cut off");
  await first.ended;
  const [left] = await copies();
  assert.notEqual(left?.copy_of, null, "it was still on its way");
  assert.ok(Number(left?.members) < memberCount);

  const second = await start();
  const owner = createApi(second.url, key);
  // What changes in between is in the copy.
  const change = { include: { add: ["member-new"], remove: ["member-0"] } };
  assert.equal((await owner("POST", "/segments/many/members", change)).status, 200);
  // On a slow machine the lease can have ended by now: the partial copy is then removed, and the copy starts over.
  const made = await until("the copy is complete", async () => {
    const response = await owner("POST", "/environments", wanted, once);
    return response.status !== 503 && response;
  });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get("idempotency-replayed"), null);
  const again = await owner("POST", "/environments", wanted, once);
  assert.deepEqual([again.status, again.body], [201, made.body]);
  assert.equal(again.headers.get("idempotency-replayed"), "true");

  const copied = createApi(second.url, (made.body as { key: { key: string } }).key.key);
  for (const path of ["/flags", "/segments", "/segments/many"]) {
    assert.deepEqual((await copied("GET", path)).body, (await owner("GET", path)).body, path);
  }
  const { include } = (await copied("GET", "/segments/many")).body as { include: string[] };
  assert.equal(include.length, memberCount);
  assert.ok(include.includes("member-new") && !include.includes("member-0"));
});
