// What is logged of requests when nothing is set: the slow ones, and failed authentications up to a bound.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { test } from "node:test";
import { createCappedLog } from "../src/platform/http/request/capped-log.ts";
import { createApi } from "./support/api.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { serveWithOptions } from "./support/halyard-process.ts";
import { logLines } from "./support/log-lines.ts";
import { newFolder } from "./support/server.ts";

const key = "access-key-0123456789abcdef";

/** A request whose body comes later than its head: the server has answered another one in between. */
const askSlowly = async (url: string, method: string, path: string, body: string) => {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: slow-${method}`,
    "Connection: close",
    "\r\n",
  ].join("\r\n");
  await new Promise((resolve) => socket.write(head, resolve));
  const begun = performance.now();
  do await (await fetch(`${url}/healthz`)).text();
  while (
    // Far longer than a busy server takes to read the head.
    performance.now() - begun <
    400
  );
  socket.write(body);
  return readText(socket);
};

test("slow requests, failures, and nothing of the others", async (t) => {
  const folder = newFolder();
  const halyard = await serveWithOptions(
    folder,
    {
      HALYARD_BOOTSTRAP_KEYS: `development=${key},production=${key}-2`,
      HALYARD_SIGN_IN_LINK: "off",
    },
    { slowRequest: 25 },
  );
  t.after(async () => {
    halyard.kill("SIGKILL");
    await halyard.ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const admin = createApi(halyard.url, key);
  await admin("POST", "/flags", { key: "one", type: "boolean" });
  const stream = await openStream(`${halyard.url}/api/v1/stream`, bearer(key));
  await stream.first(1);
  const evaluation = "/ofrep/v1/evaluate/flags/one";
  assert.match(await askSlowly(halyard.url, "POST", evaluation, '{"context":{}}'), /^HTTP.* 200 /);
  assert.match(
    await askSlowly(halyard.url, "PATCH", "/api/v1/flags/one?", '{"enabled":true}'),
    /^HTTP.* 200 /,
  );
  stream.close();
  await Promise.all(
    Array.from({ length: 14 }, () => askSlowly(halyard.url, "POST", "/session", '{"x":1}')),
  );
  // The dashboard asks so when nobody is signed in, which is no failure.
  assert.equal((await fetch(`${halyard.url}/session`)).status, 401);
  const refused = `hal_0123456789abcdef_${"x".repeat(43)}`;
  for (let turn = 0; turn < 14; turn += 1) {
    assert.equal((await createApi(halyard.url, refused)("GET", "/flags")).status, 401);
  }
  halyard.kill("SIGTERM");
  const { stdout } = await halyard.ended;
  const lines = logLines(stdout);

  const slowOnes = lines.filter(
    ({ msg, reqId }) => msg === "slow request" && reqId?.startsWith("slow-"),
  );
  const withoutKey = lines.filter(
    ({ msg, keyId }) => msg === "slow request" && keyId === undefined,
  );
  assert.equal(withoutKey.length, 10, "of those without a key a few have a line");
  const slow = slowOnes.filter(({ route }) => route !== "/session");
  assert.deepEqual(
    slow.map(({ reqId, method, route, path, status, level, keyName, address }) => [
      ...[reqId, method, route, path, status, level],
      ...[keyName, address],
    ]),
    [
      ["slow-POST", "POST", "/ofrep/v1/evaluate/flags/:key", evaluation, 200, 40],
      ["slow-PATCH", "PATCH", "/api/v1/flags/:key", "/api/v1/flags/one", 200, 40],
    ].map((line) => [...line, "bootstrap", "127.0.0.1"]),
  );
  for (const { milliseconds } of slow) assert.ok(Number(milliseconds) >= 25);
  assert.deepEqual(
    lines.filter(({ msg, route }) => msg === "request" || route === "/api/v1/stream"),
    [],
    "no access log, and a stream is not slow",
  );
  const failed = lines.filter(({ msg }) => msg === "failed authentication");
  assert.equal(failed.length, 10);
  for (const line of failed) {
    assert.equal(line.keyId, "0123456789abcdef");
    assert.equal(line.route, "/api/v1/flags");
    assert.equal(line.address, "127.0.0.1");
    assert.match(line.reqId ?? "", /^req-/);
  }
});

test("of many failures a few are told each minute, and how many there were", () => {
  const lines: object[] = [];
  const warn = (fields: object, msg: string) => lines.push({ ...fields, msg });
  let now = 0;
  const failures = createCappedLog({ warn }, () => now, ["failed", "failed too"]);
  const fail = (count: number) => {
    for (let turn = 0; turn < count; turn += 1) failures.warn(() => ({ turn }));
  };
  fail(1_000);
  assert.equal(lines.length, 10);
  now = 59_999;
  fail(5);
  assert.equal(lines.length, 10);
  now = 60_000;
  fail(1);
  assert.deepEqual(lines.slice(10), [
    { more: 995, msg: "failed too" },
    { turn: 0, msg: "failed" },
  ]);
  now = 120_000;
  fail(1);
  assert.equal(lines.length, 13, "nothing was left out");
});
