// The fast path is taken by the usual evaluation, and answers as the framework does, to the header.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { fastPathChannel } from "../src/evaluation/fast-path/fast-path.ts";
import { makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Everything that is told, but for what differs by its nature. */
const ask = async (path: string, key: string, body: string | Uint8Array) => {
  const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-request-id": "same",
    },
    body,
  });
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  return { status: response.status, headers, text: await response.text() };
};

/** How many requests the fast path answers while the work is done. */
const countFast = async (work: () => Promise<unknown>): Promise<number> => {
  let count = 0;
  const listener = () => {
    count += 1;
  };
  fastPathChannel.subscribe(listener);
  try {
    await work();
  } finally {
    fastPathChannel.unsubscribe(listener);
  }
  return count;
};

test("the usual evaluation takes the fast path, once its key is known", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const body = '{"context":{}}';
  assert.equal(await countFast(() => ask("a", keys.client, body)), 0, "an unknown key");
  for (const key of [keys.client, keys.client]) {
    assert.equal(await countFast(() => ask("a", key, body)), 1);
  }
  for (const [path, key] of [
    ["a?x", keys.client],
    ["%61", keys.client],
    ["missing", keys.client],
    ["", keys.client],
    ["a", "hal_wrong_key-0123456789"],
  ] as const) {
    assert.equal(await countFast(() => ask(path, key, body)), 0, path);
  }
});

test("who wants to see every request sees them all", async (t) => {
  const logged = await startTestServer({ HALYARD_ACCESS_LOG: "on" });
  t.after(() => logged.close());
  const { admin, client } = await logged.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const evaluate = () => client("POST", "//ofrep/v1/evaluate/flags/a", { context: {} });
  assert.equal((await evaluate()).status, 200);
  assert.equal(await countFast(evaluate), 0);
});

test("both ways give the same answer", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "b", type: "rollout", percentage: 50, enabled: true });
  await makeFlag(admin, { key: "c", type: "boolean" });
  const bodies = [
    '{"context":{}}',
    ...Array.from({ length: 10 }, (_, user) => `{"context":{"targetingKey":"user-${user}"}}`),
    '{"context":{"targetingKey":"ü"}}',
    "{",
    "ü",
    "{}",
    '{"context":{"targetingKey":5}}',
    new Uint8Array([0xff]),
    `{"context":{"long":"${"ü".repeat(100_000)}"}}`,
  ];
  const statuses = new Set<number>();
  for (const key of [keys.client, keys.server, keys.admin]) {
    for (const flag of ["a", "b", "c"]) {
      for (const body of bodies) {
        // A parameter that means nothing is unusual enough.
        const framework = await ask(`${flag}?x`, key, body);
        const fast = await countFast(async () => {
          assert.deepEqual(await ask(flag, key, body), framework);
        });
        assert.equal(fast, 1);
        statuses.add(framework.status);
      }
    }
  }
  assert.deepEqual(
    [...statuses].sort((a, b) => a - b),
    [200, 400],
  );
});

/** The head of an evaluation whose body is still to come, as the server has read it. */
const begin = async (key: string, length: number) => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const head = [
    "POST /ofrep/v1/evaluate/flags/a HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    "Connection: close",
    "\r\n",
  ].join("\r\n");
  await new Promise((resolve) => socket.write(head, resolve));
  // Asked after it, and answered.
  assert.equal((await server.anonymous("GET", "//readyz")).status, 200);
  return socket;
};

test("what changes while the body is on its way is seen", async () => {
  const { admin } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const made = await admin("POST", "/keys", { name: "page", role: "client" });
  const { id, key } = made.body as { id: string; key: string };
  const body = '{"context":{}}';
  // A key that was not seen before goes through the framework.
  assert.equal((await ask("a", key, body)).status, 200);

  const afterPatch = await begin(key, body.length);
  assert.equal((await admin("PATCH", "/flags/a", { enabled: true })).status, 200);
  afterPatch.write(body);
  assert.match(await readText(afterPatch), /"value":true/);

  const afterDelete = await begin(key, body.length);
  assert.equal((await admin("DELETE", "/flags/a")).status, 204);
  afterDelete.write(body);
  assert.match(await readText(afterDelete), /^HTTP\/1\.1 404 .*"errorCode":"FLAG_NOT_FOUND"/s);

  await makeFlag(admin, { key: "a", type: "boolean" });
  const afterRevoke = await begin(key, body.length);
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  afterRevoke.write(body);
  const refused = await readText(afterRevoke);
  assert.match(refused, /^HTTP\/1\.1 401 .*www-authenticate: Bearer realm="halyard"/s);
  assert.match(
    refused,
    /\{"errorDetails":"This API key is not valid; it may have been revoked\."\}$/,
  );
});

test("an environment that is deleted while the body is on its way is gone", async () => {
  const { name, admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const body = '{"context":{}}';
  const ofClient = () => ask("a", keys.client, body);
  assert.equal((await ofClient()).status, 200);
  const waiting = await begin(keys.client, body.length);
  const operator = await composeOperator(parseConfig(await storeSettings(server.folder)));
  try {
    assert.ok((await operator.environments.remove(name, true)).ok);
  } finally {
    await operator.close();
  }
  await until("the server to hear of it", async () => (await ofClient()).status === 401);
  waiting.write(body);
  assert.match(await readText(waiting), /^HTTP\/1\.1 401 /);
});

test("a client that goes away in the middle of its body disturbs nobody", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  assert.equal((await ask("a", keys.client, '{"context":{}}')).status, 200);
  const socket = await begin(keys.client, 100);
  socket.write("{");
  socket.destroy();
  assert.equal((await ask("a", keys.client, '{"context":{}}')).status, 200);
});
