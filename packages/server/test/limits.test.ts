// How much is too much: requests a minute for a key, failed authentications for an address, bytes of a body.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { parseConfig } from "@halyard/server";
import { assertRefused } from "./support/answers.ts";
import { type Answer, createApi } from "./support/api.ts";
import { readCounters } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const start = async (
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> => {
  const server = await startTestServer(settings);
  t.after(() => server.close());
  return server;
};

const assertLimited = (answer: Answer, word: string): void => {
  assert.equal(answer.status, 429, answer.text);
  const { error, message } = answer.body as { error: string; message: string };
  assert.equal(error, "RATE_LIMITED");
  assert.ok(message.includes(word), message);
  const wait = answer.headers.get("retry-after") ?? "";
  assert.match(wait, /^\d+$/);
  assert.ok(Number(wait) >= 1 && Number(wait) <= 60, wait);
};

test("HALYARD_RATE_LIMIT=5: the sixth request of a key within a minute is 429 with Retry-After", async (t) => {
  const server = await start(t, { HALYARD_RATE_LIMIT: "5" });
  const { name, admin, server: reader } = await server.environment();
  const statuses = [];
  for (const [method, path, body] of [
    ["GET", "/flags"],
    ["POST", "/flags", { key: "a", type: "boolean" }],
    ["GET", "/flags/missing"],
    ["POST", "/flags", { key: "?" }],
    ["GET", "/webhooks"],
  ] as const) {
    statuses.push((await admin(method, path, body)).status);
  }
  assert.deepEqual(statuses, [200, 201, 404, 400, 200], "what is refused counts too");
  const before = await readCounters(server, name);
  assertLimited(await admin("GET", "/flags"), "this API key");
  assertLimited(await admin("POST", "/flags", { key: "b", type: "boolean" }), "this API key");
  assert.deepEqual(await readCounters(server, name), before);

  assert.equal((await reader("GET", "/flags")).status, 200, "another key has its own count");
  const other = await server.environment();
  assert.equal((await other.admin("GET", "/flags")).status, 200);
  for (let turn = 0; turn < 10; turn++) {
    assert.equal((await server.anonymous("GET", "//healthz")).status, 200);
  }
});

test("many requests at once are counted one by one", async (t) => {
  const server = await start(t, { HALYARD_RATE_LIMIT: "5" });
  const { admin } = await server.environment();
  const answers = await Promise.all(Array.from({ length: 20 }, () => admin("GET", "/flags")));
  assert.equal(answers.filter(({ status }) => status === 200).length, 5);
  assert.equal(answers.filter(({ status }) => status === 429).length, 15);
});

const seventy = async (ask: () => Promise<Answer>): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(Array.from({ length: 70 }, ask))) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
};

test("a server on loopback has no limit of either kind unless one is set", async (t) => {
  for (const HOST of ["127.0.0.1", "localhost", "::1"]) {
    const { rateLimit, authFailureLimit } = parseConfig({ HOST });
    assert.deepEqual([rateLimit, authFailureLimit], [0, 0], HOST);
  }
  const server = await start(t);
  const { admin } = await server.environment();
  assert.deepEqual(await seventy(() => admin("GET", "/flags")), { 200: 70 });
  assert.deepEqual(await seventy(() => server.anonymous("GET", "/flags")), { 401: 70 });
});

test("a server that others can reach takes 6,000 requests a minute of a key, and 60 failures of an address", async (t) => {
  for (const HOST of ["0.0.0.0", "::", "192.168.0.1", "halyard.internal"]) {
    const { rateLimit, authFailureLimit, addressLimit } = parseConfig({ HOST });
    assert.deepEqual([rateLimit, authFailureLimit, addressLimit], [6_000, 60, 600], HOST);
  }
  const server = await start(t, { HOST: "0.0.0.0" });
  const { keys } = await server.environment();
  const url = server.url.replace("0.0.0.0", "127.0.0.1");
  const admin = createApi(url, keys.admin);
  assert.deepEqual(await seventy(() => admin("GET", "/flags")), { 200: 70 });
  const anonymous = createApi(url);
  assert.deepEqual(await seventy(() => anonymous("GET", "/flags")), { 401: 60, 429: 10 });
});

test("HALYARD_AUTH_FAILURE_LIMIT=3: the fourth failure is 429, and no good key is refused for it", async (t) => {
  const server = await start(t, { HALYARD_AUTH_FAILURE_LIMIT: "3" });
  const { admin, client, server: unseen, keys } = await server.environment();
  assert.equal((await admin("GET", "/flags")).status, 200);
  assertRefused(await client("GET", "/flags"), 403);
  for (const bad of [server.anonymous, server.api("nonsense"), server.api(`${keys.admin}x`)]) {
    assertRefused(await bad("GET", "/flags"), 401);
  }
  assertLimited(await server.anonymous("GET", "/flags"), "failed authentications");
  assertLimited(await server.api("nonsense")("GET", "/flags"), "failed authentications");
  assert.equal((await unseen("GET", "/flags")).status, 200, "a key that comes for the first time");
  const later = await server.environment();
  assert.equal((await later.admin("GET", "/flags")).status, 200, "a key that was just created");
  assert.equal((await admin("GET", "/flags")).status, 200);
  assertRefused(await client("GET", "/flags"), 403);
  assert.equal((await server.anonymous("GET", "//readyz")).status, 200);
});

test("HALYARD_ADDRESS_LIMIT=3: the fourth sign-in and the fourth report of an address are 429, each on its own", async (t) => {
  const server = await start(t, { HALYARD_ADDRESS_LIMIT: "3" });
  const { client, server: reader, keys } = await server.environment();
  const report = { evaluations: [{ key: "a", on: 1, off: 0 }] };
  const signIn = (body: unknown) => server.anonymous("POST", "//session", body);
  for (const body of [{ key: keys.server }, { nonsense: true }, "broken"]) {
    assert.notEqual((await signIn(body)).status, 429);
  }
  for (const api of [client, reader, server.anonymous]) {
    assert.notEqual((await api("POST", "/usage", report)).status, 429);
  }
  assertLimited(await signIn({ key: keys.server }), "from this address");
  assertLimited(await client("POST", "/usage", report), "from this address");
  assert.equal((await reader("GET", "/flags")).status, 200, "nothing else is counted");
});

test("the addresses of one IPv6 network share the limit on sign-ins", async (t) => {
  const server = await start(t, {
    HALYARD_ADDRESS_LIMIT: "1",
    HALYARD_TRUST_PROXY: "127.0.0.0/8",
  });
  const signIn = async (from: string) =>
    (await server.anonymous("POST", "//session", {}, { "x-forwarded-for": from })).status;
  assert.equal(await signIn("2001:db8::1"), 400);
  assert.equal(await signIn("2001:db8::2"), 429);
  assert.equal(await signIn("2001:db8:0:1::1"), 400);
});

test("reports are counted for each key, apart from its other requests; a sign-in counts as one", async (t) => {
  const server = await start(t, { HALYARD_RATE_LIMIT: "2" });
  const { client, server: reader, keys } = await server.environment();
  const report = { evaluations: [{ key: "a", on: 1, off: 0 }] };
  for (const api of [client, client, reader]) {
    assert.equal((await api("POST", "/usage", report)).status, 204);
  }
  assertLimited(await client("POST", "/usage", report), "this API key");
  assert.equal((await reader("POST", "/usage", report)).status, 204);
  assert.equal((await reader("GET", "/flags")).status, 200);
  assert.equal((await server.anonymous("POST", "//session", { key: keys.server })).status, 200);
  assertLimited(await server.anonymous("POST", "//session", { key: keys.server }), "this API key");
});

test("a key that was good before and is revoked is a failure like any other", async (t) => {
  const server = await start(t, { HALYARD_AUTH_FAILURE_LIMIT: "3" });
  const { admin, server: reader } = await server.environment();
  assert.equal((await reader("GET", "/flags")).status, 200);
  const keys = (await admin("GET", "/keys")).body as { id: string; name: string }[];
  const { id } = keys.find(({ name }) => name === "server") ?? {};
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  for (let turn = 0; turn < 3; turn++) assertRefused(await reader("GET", "/flags"), 401);
  assertLimited(await reader("GET", "/flags"), "failed authentications");
});

test("X-Forwarded-For changes nobody's address unless the proxy is trusted", async (t) => {
  const fail = (server: TestServer, from: string) =>
    server.anonymous("GET", "/flags", undefined, { "x-forwarded-for": from });
  const direct = await start(t, { HALYARD_AUTH_FAILURE_LIMIT: "1" });
  assertRefused(await fail(direct, "192.0.2.1"), 401);
  assertLimited(await fail(direct, "192.0.2.2"), "failed authentications");
  const trusting = await start(t, {
    HALYARD_AUTH_FAILURE_LIMIT: "1",
    HALYARD_TRUST_PROXY: "127.0.0.0/8",
  });
  assertRefused(await fail(trusting, "192.0.2.1"), 401);
  assertRefused(await fail(trusting, "192.0.2.2"), 401);
  assertLimited(await fail(trusting, "192.0.2.1"), "failed authentications");
  // One host has all addresses of its /64 network.
  assertRefused(await fail(trusting, "2001:db8:0:1::1"), 401);
  assertLimited(await fail(trusting, "2001:db8:0:1:ffff::9"), "failed authentications");
  assertRefused(await fail(trusting, "2001:db8:0:2::1"), 401);
  assertLimited(await fail(trusting, "::ffff:192.0.2.2"), "failed authentications");
});

test("a body of 256 KiB is read, and one byte more is 413", async (t) => {
  const server = await start(t);
  const { name, admin } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const before = await readCounters(server, name);
  const padded = (bytes: number) => '{"enabled":true}'.padEnd(bytes);
  const limit = 256 * 1_024;
  assertRefused(await admin("PATCH", "/flags/a", padded(limit + 1)), 413, "256 KiB");
  assertRefused(await admin("POST", "/flags", padded(limit + 1)), 413, "256 KiB");
  assertRefused(await admin("POST", "/webhooks", padded(limit + 1)), 413, "256 KiB");
  assert.deepEqual(await readCounters(server, name), before);
  assert.equal((await admin("PATCH", "/flags/a", padded(limit))).status, 200);
  assertRefused(await server.anonymous("PATCH", "/flags/a", padded(limit + 1)), 401);
});

/** Long enough for the server to have answered what has come so far. */
const answered = async ({ url }: TestServer) => {
  for (let turn = 0; turn < 3; turn += 1) await (await fetch(`${url}/healthz`)).text();
};

const openSocket = ({ url }: TestServer): Socket =>
  connect(Number(new URL(url).port), "127.0.0.1").pause();

/** A server, and how a request to it begins that has a body. */
const startForBodies = async (t: TestContext) => {
  const server = await start(t);
  const { keys } = await server.environment();
  const post = (path: string, length: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${keys.admin}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
  return { server, key: keys.admin, post };
};

/** Sends all of it before it reads, as most clients do, and not faster than the server answers. */
const sendThenRead = async (
  server: TestServer,
  ...parts: readonly (string | Uint8Array)[]
): Promise<string> => {
  const socket = openSocket(server);
  for (const part of parts) {
    await new Promise<void>((resolve, reject) => {
      socket.write(part, (error) => (error ? reject(error) : resolve()));
    });
    await answered(server);
  }
  return readText(socket.resume());
};

test("a client that sends a body over the limit reads the 413 when it has sent it", async (t) => {
  const { server, post } = await startForBodies(t);
  const body = Buffer.alloc(3 * 1_024 * 1_024, " ");
  for (const path of ["/api/v1/flags", "/ofrep/v1/evaluate/flags/a"]) {
    const head = post(path, `Content-Length: ${body.length}`);
    const parts = [0, 1, 2].map((part) => body.subarray(part * 2 ** 20, (part + 1) * 2 ** 20));
    assert.match(await sendThenRead(server, head, ...parts), /^HTTP\/1\.1 413 /, path);
  }
  const chunk = Buffer.concat([
    Buffer.from("100000\r\n"),
    body.subarray(0, 2 ** 20),
    Buffer.from("\r\n"),
  ]);
  const head = post("/api/v1/flags", "Transfer-Encoding: chunked");
  assert.match(await sendThenRead(server, head, chunk, chunk, "0\r\n\r\n"), /^HTTP\/1\.1 413 /);
});

test("who sends far more than the limit is cut off", async (t) => {
  const { server, post } = await startForBodies(t);
  const socket = openSocket(server);
  socket.on("error", () => {});
  socket.write(post("/api/v1/flags", "Content-Length: 999999999"));
  const part = Buffer.alloc(2 ** 20, " ");
  let sent = 0;
  while (!socket.destroyed && sent < 200) {
    sent += 1;
    await new Promise((resolve) => socket.write(part, resolve));
  }
  assert.ok(sent < 200, "it would have taken all of it");
});
