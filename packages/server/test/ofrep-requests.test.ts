// An evaluation has the same response however it is requested, and sees what changes while its body is on its way.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The whole response, but for what differs by its nature. */
const ask = async (path: string, key: string, body: string | Uint8Array, { url } = server) => {
  const response = await fetch(`${url}/ofrep/v1/evaluate/flags/${path}`, {
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

test("an evaluation has these headers and no others", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const { status, headers, text } = await ask("a", keys.client, '{"context":{}}');
  assert.equal(status, 200);
  assert.deepEqual(headers, {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag, retry-after, x-request-id",
    "cache-control": "no-store",
    connection: "keep-alive",
    "content-length": String(Buffer.byteLength(text)),
    "content-type": "application/json; charset=utf-8",
    "keep-alive": "timeout=72",
    "x-content-type-options": "nosniff",
    "x-request-id": "same",
  });
});

test("the response is the same with a query, an encoded key, and an access log", async (t) => {
  const logged = await startTestServer({ HALYARD_ACCESS_LOG: "on" });
  t.after(() => logged.close());
  const [one, other] = [await server.environment(), await logged.environment()];
  for (const { admin } of [one, other]) {
    await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
    await makeFlag(admin, { key: "b", type: "rollout", percentage: 50, enabled: true });
    await makeFlag(admin, { key: "c", type: "boolean" });
  }
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
  for (const role of ["client", "server", "admin"] as const) {
    for (const flag of ["a", "b", "c"]) {
      for (const body of bodies) {
        const plain = await ask(flag, one.keys[role], body);
        const encoded = `%${flag.charCodeAt(0).toString(16)}`;
        assert.deepEqual(await ask(`${flag}?x`, one.keys[role], body), plain);
        assert.deepEqual(await ask(encoded, one.keys[role], body), plain);
        assert.deepEqual(await ask(flag, other.keys[role], body, logged), plain);
        statuses.add(plain.status);
      }
    }
  }
  assert.deepEqual(
    [...statuses].sort((a, b) => a - b),
    [200, 400],
  );
});

/** The head of an evaluation whose body is still to come, as the server has read it. */
const begin = async (key: string, length: number, { url, anonymous } = server) => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const head = [
    "POST /ofrep/v1/evaluate/flags/a HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    "\r\n",
  ].join("\r\n");
  await new Promise((resolve) => socket.write(head, resolve));
  // Asked after it, and answered.
  assert.equal((await anonymous("GET", "//readyz")).status, 200);
  return socket;
};

/** Sends the body, and gives the response as it comes over the wire. */
const end = async (socket: Socket, body: string): Promise<string> => {
  socket.write(body);
  const [response] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return response.toString();
};

test("a body is read in whatever pieces it comes, and rejected once it is too large", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const pieces = (...texts: readonly string[]) => ({
    duplex: "half" as const,
    body: new ReadableStream({
      async start(controller) {
        for (const text of texts) {
          controller.enqueue(Buffer.from(text));
          // Asked in between, and answered.
          assert.equal((await server.anonymous("GET", "//readyz")).status, 200);
        }
        controller.close();
      },
    }),
  });
  const send = async (path: string, ...texts: readonly string[]) => {
    const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.client}`, "content-type": "application/json" },
      ...pieces(...texts),
    });
    return { status: response.status, text: await response.text() };
  };
  for (const path of ["", "/a"]) {
    const whole = await send(path, '{"context":{"targetingKey":"user-1"}}');
    assert.equal(whole.status, 200);
    assert.deepEqual(await send(path, '{"context":', '{"targetingKey"', ':"user-1"}}'), whole);
    const large = "x".repeat(100 * 1_024);
    const refused = await send(path, '{"context":{"a":"', large, large, large, '"}}');
    assert.equal(refused.status, 413);
    assert.deepEqual(JSON.parse(refused.text), {
      errorDetails: "The body is larger than 256 KiB.",
    });
  }
});

test("what changes while the body is on its way is seen", async () => {
  const { admin } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const made = await admin("POST", "/keys", { name: "page", role: "client" });
  const { id, key } = made.body as { id: string; key: string };
  const body = '{"context":{}}';
  assert.equal((await ask("a", key, body)).status, 200);

  const afterPatch = await begin(key, body.length);
  assert.equal((await admin("PATCH", "/flags/a", { enabled: true })).status, 200);
  assert.match(await end(afterPatch, body), /"value":true/);

  const afterDelete = await begin(key, body.length);
  assert.equal((await admin("DELETE", "/flags/a")).status, 204);
  assert.match(await end(afterDelete, body), /^HTTP\/1\.1 404 .*"errorCode":"FLAG_NOT_FOUND"/s);

  await makeFlag(admin, { key: "a", type: "boolean" });
  const afterRevoke = await begin(key, body.length);
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  const refused = await end(afterRevoke, body);
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
  assert.match(await end(waiting, body), /^HTTP\/1\.1 401 /);
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

test("an evaluation that began before the server stops is answered, and its connection closed", async () => {
  const stopping = await startTestServer();
  const { admin, keys } = await stopping.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const body = '{"context":{}}';
  const waiting = await begin(keys.client, body.length, stopping);
  const stopped = stopping.close();
  await until("the server to take no more connections", () =>
    fetch(`${stopping.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  const response = await end(waiting, body);
  assert.match(response, /^HTTP\/1\.1 200 /);
  assert.match(response, /\r\nconnection: close\r\n/i);
  await stopped;
});
