// Who may evaluate, from where, and in what shape the protocol's paths refuse.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { assertProtocolRefusal, evaluateAll, evaluateOne, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const paths = ["//ofrep/v1/evaluate/flags", "//ofrep/v1/evaluate/flags/a"];

test("a key of any role may evaluate, presented in either way", async () => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (const key of Object.values(keys)) {
    assert.equal((await evaluateOne(server.api(key), "a")).status, 200);
    assert.equal((await evaluateAll(server.api(key))).status, 200);
    const headers = { "x-api-key": key };
    assert.equal((await evaluateOne(server.anonymous, "a", undefined, headers)).status, 200);
  }
});

test("no key or a bad one is 401 in the protocol's shape, before the body is looked at", async () => {
  for (const path of paths) {
    for (const headers of [{}, { authorization: "Bearer nonsense" }, { "x-api-key": "" }]) {
      const answer = await server.anonymous("POST", path, "{", headers);
      assertProtocolRefusal(answer, 401, "key");
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="halyard"');
    }
  }
});

test("a revoked key stops evaluating with the next request", async () => {
  const { admin, keys } = await server.environment();
  const made = await admin("POST", "/keys", { name: "page", role: "client" });
  const { id, key } = made.body as { id: string; key: string };
  const page = server.api(key);
  assert.equal((await evaluateAll(page)).status, 200);
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  for (const path of paths) assertProtocolRefusal(await page("POST", path, {}), 401, "revoked");
  assert.equal((await evaluateAll(server.api(keys.client))).status, 200);
});

test("a key that is revoked while the body is on its way evaluates nothing", async () => {
  const { admin } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const made = await admin("POST", "/keys", { name: "page", role: "client" });
  const { id, key } = made.body as { id: string; key: string };
  assert.equal((await evaluateAll(server.api(key))).status, 200);
  const body = '{"context":{}}';
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(
    [
      "POST /ofrep/v1/evaluate/flags/a HTTP/1.1",
      "Host: 127.0.0.1",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "Expect: 100-continue",
      "Connection: close",
      "\r\n",
    ].join("\r\n"),
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 100 /, "the head has been read");
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  socket.write(body);
  const answer = await readText(socket);
  assert.match(answer, /^HTTP\/1\.1 401 /);
  assert.match(
    answer,
    /\{"errorDetails":"This API key is not valid; it may have been revoked\."\}$/,
  );
});

test("other paths, methods, types and sizes are refused in the protocol's shape", async () => {
  const { client, admin } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (const path of ["//ofrep/v1", "//ofrep/v1/configuration"]) {
    assertProtocolRefusal(await client("POST", path, { context: {} }), 404, "path does not exist");
  }
  for (const path of paths) {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await client(method, path);
      assertProtocolRefusal(answer, 405, method);
      assert.equal(answer.headers.get("allow"), "OPTIONS, POST");
    }
    for (const type of ["text/plain", "application/json; charset=latin1", "application/xml", ""]) {
      const answer = await client("POST", path, '{"context":{}}', { "content-type": type });
      assertProtocolRefusal(answer, 415, "application/json");
    }
    const large = { context: { attribute: "x".repeat(256 * 1_024) } };
    assertProtocolRefusal(await client("POST", path, large), 413, "256 KiB");
  }
});

test("a key in the path that was not encoded is that of no flag, and one that cannot be decoded is a parse error", async () => {
  const { client, keys } = await server.environment();
  for (const [path, key] of [
    ["a/b", "a/b"],
    ["a/b/", "a/b/"],
    ["a%2fb", "a/b"],
    ["", ""],
  ] as const) {
    const { status, body } = await evaluateOne(client, path);
    assert.equal(status, 404, path);
    assert.deepEqual(body, {
      key,
      errorCode: "FLAG_NOT_FOUND",
      errorDetails: `The flag "${key}" does not exist.`,
    });
  }
  for (const path of ["%", "%ff", "a/%zz?x=1"]) {
    const { status, body } = await evaluateOne(client, path);
    assert.equal(status, 400, path);
    const { errorDetails, ...rest } = body as Record<string, string>;
    assert.deepEqual(rest, { key: path.replace(/\?.*/, ""), errorCode: "PARSE_ERROR" });
    assert.match(errorDetails ?? "", /percent-encoding/);
  }
  assertProtocolRefusal(
    await server.anonymous("POST", "//ofrep/v1/evaluate/flags/a/b", { context: {} }),
    401,
    "key",
  );
  assert.equal((await evaluateOne(server.api(keys.client), "a/b", "{")).status, 400);
});

test("the content type is JSON in UTF-8, however it is written", async () => {
  const { client } = await server.environment();
  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "Application/JSON",
  ]) {
    assert.equal(
      (await evaluateAll(client, undefined, { "content-type": type })).status,
      200,
      type,
    );
  }
});

test("a body of 256 KiB is still read", async () => {
  const { client } = await server.environment();
  const body = JSON.stringify({ context: { attribute: "" } });
  const full = body.replace('""', `"${"x".repeat(256 * 1_024 - body.length)}"`);
  assert.equal((await evaluateAll(client, full)).status, 200);
  assertProtocolRefusal(await client("POST", paths[0] ?? "", `${full} `), 413, "256 KiB");
});

test("browsers are told what they may do, without a key", async () => {
  for (const path of paths) {
    const answer = await server.anonymous("OPTIONS", path, undefined, {
      origin: "https://shop.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,if-none-match",
    });
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    const header = (name: string) => answer.headers.get(`access-control-${name}`);
    assert.equal(header("allow-origin"), "*");
    assert.equal(header("allow-credentials"), null);
    assert.equal(header("allow-methods"), "POST");
    const allowed = (header("allow-headers") ?? "").split(", ");
    for (const name of ["authorization", "x-api-key", "content-type", "if-none-match"]) {
      assert.ok(allowed.includes(name), name);
    }
    assert.ok(Number(header("max-age")) > 0);
  }
  const management = await server.anonymous("OPTIONS", "/flags");
  assert.equal(management.status, 405);
  const { admin } = await server.environment();
  for (const answer of [management, await admin("GET", "/flags")]) {
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
  }
});

test("evaluation has no limit for a key, failed authentications have one", async (t) => {
  const limited = await startTestServer({
    HALYARD_RATE_LIMIT: "2",
    HALYARD_AUTH_FAILURE_LIMIT: "3",
  });
  t.after(() => limited.close());
  const { client, keys } = await limited.environment();
  for (let turn = 0; turn < 10; turn++) assert.equal((await evaluateAll(client)).status, 200);
  const bad = limited.api("nonsense");
  for (let turn = 0; turn < 2; turn++) {
    assertProtocolRefusal(await bad("POST", paths[turn] ?? "", {}), 401, "not valid");
  }
  assert.equal((await bad("GET", "/flags")).status, 401, "both kinds of paths count together");
  const refused = await bad("POST", paths[0] ?? "", {});
  assertProtocolRefusal(refused, 429, "Too many failed");
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  for (const key of [keys.client, keys.server]) {
    assert.equal((await evaluateAll(limited.api(key))).status, 200, "a good key is not refused");
  }
});
