// Flags that a newer version has written: they are shown, kept and turned off, but never evaluated by guessing.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { readRows, writeRows } from "./support/database.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
let environment: TestEnvironment;
before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "plain", type: "boolean" });
  await environment.admin("PATCH", "/flags/plain", { enabled: true });
});
after(() => server.close());

/** As another instance of a newer version would: the row, its history and the revision. */
const writeAsNewer = async (flag: Readonly<Record<string, unknown>>, level: number | null) => {
  const { key, type, enabled, description, percentage, ...rest } = flag;
  const [row] = await readRows(
    server,
    "select id, revision from environments where name = ?",
    environment.name,
  );
  assert.ok(row);
  const revision = Number(row.revision) + 1;
  await writeRows(
    server,
    `insert into flags (environment_id, key, type, enabled, thousandths, description, version, definition, level)
     values (?, ?, ?, ?, ?, ?, 1, ?, ?)`,
    ...[row.id as number, String(key), String(type), enabled ? 1 : 0],
    ...[percentage === undefined ? null : Number(percentage) * 1_000, null],
    ...[JSON.stringify(rest), level],
  );
  await writeRows(
    server,
    `insert into history (environment_id, revision, subject, subject_id, version, at, actor_name, actions, after, level)
     values (?, ?, 'flag', ?, 1, ?, 'newer', '["flag.created"]', ?, ?)`,
    ...[row.id as number, revision, String(key), Date.now()],
    ...[JSON.stringify({ key, type, enabled, percentage, description, ...rest }), level],
  );
  await writeRows(
    server,
    "update environments set revision = ?, flag_count = flag_count + 1 where id = ?",
    ...[revision, row.id as number],
  );
};

const post = async (path: string) => {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { ...bearer(environment.keys.client), "content-type": "application/json" },
    body: JSON.stringify({ context: { targetingKey: "user-1" } }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const turnOff = (key: string) =>
  fetch(`${server.url}/api/v1/flags/${key}`, {
    method: "PATCH",
    headers: { ...bearer(environment.keys.admin), "content-type": "application/json" },
    body: '{"enabled":false}',
  });
const read = async (path: string) => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    headers: bearer(environment.keys.admin),
  });
  return (await response.json()) as Record<string, unknown>;
};

const newer: Readonly<Record<string, { flag: Record<string, unknown>; level: number | null }>> = {
  "a type that is not known": {
    flag: { key: "sizes", type: "layer", enabled: true, parts: { small: 1 }, off: "small" },
    level: 3,
  },
  "a level that is not known": {
    flag: {
      ...{ key: "ruled", type: "rollout", enabled: true, percentage: 5 },
      rules: [{ id: "staff", serve: "on", schedule: "daily" }],
    },
    level: 3,
  },
};

test("a flag that cannot be read keeps none of the others from being evaluated", async () => {
  const broken = { key: "broken", type: "boolean", enabled: true, description: null };
  await writeAsNewer({ ...broken, otherwise: "off", rules: [{ id: "no-condition" }] }, 2);
  await until("it is known", async () => (await read("/flags/broken")).key === "broken");
  assert.equal((await post("/ofrep/v1/evaluate/flags/broken")).body.errorCode, "GENERAL");
  assert.equal((await post("/ofrep/v1/evaluate/flags/plain")).body.value, true);
});

for (const [name, { flag, level }] of Object.entries(newer)) {
  suite(name, () => {
    const key = String(flag.key);
    before(async () => {
      await writeAsNewer({ ...flag, description: null }, level);
      await until("it is known", async () => (await read(`/flags/${key}`)).key === key);
      await until("it is in memory", async () => {
        const { flags } = (await read("/snapshot")) as { flags: { flag: { key: string } }[] };
        return flags.some((entry) => entry.flag.key === key);
      });
    });

    test("is an error when it is evaluated, and the others are not", async () => {
      const { status, body } = await post(`/ofrep/v1/evaluate/flags/${key}`);
      assert.equal(status, 400);
      assert.equal(body.errorCode, "GENERAL");
      assert.match(String(body.errorDetails), /newer/);
      assert.equal(body.value, undefined);
      const all = (await post("/ofrep/v1/evaluate/flags")).body.flags as Record<string, unknown>[];
      assert.equal(all.find((each) => each.key === key)?.errorCode, "GENERAL");
      assert.equal(all.find((each) => each.key === "plain")?.value, true);
    });

    test("is shown and streamed with all that it has, and its level", async () => {
      assert.deepEqual(await read(`/flags/${key}`), { ...flag, description: null });
      const stream = await openStream(
        `${server.url}/api/v1/stream`,
        bearer(environment.keys.server),
      );
      const [snapshot] = await stream.first(1);
      stream.close();
      assert.ok(snapshot);
      const { flags } = snapshot.data as { flags: { flag: { key: string }; level?: number }[] };
      assert.equal(flags.find((each) => each.flag.key === key)?.level, 3);
      assert.equal(flags.find((each) => each.flag.key === "plain")?.level, undefined);
    });

    test("can be turned off and keeps what this version does not know", async () => {
      const changed = await turnOff(key);
      assert.equal(changed.status, 200);
      assert.deepEqual(await changed.json(), { ...flag, enabled: false, description: null });
      const [row] = await readRows(
        server,
        "select definition, level, enabled from flags where key = ?",
        key,
      );
      const { key: _, type: _type, enabled: _on, percentage: _share, ...rest } = flag;
      assert.deepEqual(JSON.parse(String(row?.definition)), rest);
      assert.deepEqual([row?.level, row?.enabled], [3, 0]);
      // A newer version may serve something else while it is off: still no guess.
      assert.equal((await post(`/ofrep/v1/evaluate/flags/${key}`)).body.errorCode, "GENERAL");
    });
  });
}

test("a variant flag that is stored without variants can be turned off and deleted", async () => {
  await writeAsNewer({ key: "bare", type: "variant", enabled: true, off: "a" }, null);
  assert.equal((await turnOff("bare")).status, 200);
  assert.equal((await environment.admin("DELETE", "/flags/bare")).status, 204);
});

test("a member that is not known at a known level is ignored when the flag is evaluated", async () => {
  await writeAsNewer(
    { key: "tagged", type: "boolean", enabled: true, description: null, labels: ["a"] },
    null,
  );
  await until("it is evaluated", async () => {
    const { body } = await post("/ofrep/v1/evaluate/flags/tagged");
    return body.value === true;
  });
});

test("a revision of a kind that is not known is skipped, and what follows it arrives", async () => {
  const stream = () => openStream(`${server.url}/api/v1/stream`, bearer(environment.keys.server));
  const open = await stream();
  const [snapshot] = await open.first(1);
  assert.ok(snapshot);
  const [row] = await readRows(
    server,
    "select id, revision from environments where name = ?",
    environment.name,
  );
  assert.ok(row);
  const revision = Number(row.revision) + 1;
  await writeRows(
    server,
    `insert into history (environment_id, revision, subject, subject_id, version, at, actor_name, actions, after)
     values (?, ?, 'constellation', 'x', 1, ?, 'newer', '["constellation.created"]', '{"key":"x"}')`,
    ...[row.id as number, revision, Date.now()],
  );
  await writeRows(
    server,
    "update environments set revision = ? where id = ?",
    ...[revision, row.id as number],
  );
  await environment.admin("PATCH", "/flags/plain", { description: "after it" });
  const [, change] = await open.first(2);
  open.close();
  assert.equal(change?.event, "change");
  assert.equal((change.data as { revision: number }).revision, revision + 1);

  const resumed = await openStream(`${server.url}/api/v1/stream`, {
    ...bearer(environment.keys.server),
    "last-event-id": snapshot.id,
  });
  const [missed] = await resumed.first(1);
  resumed.close();
  assert.deepEqual(missed, change);
});
