// Bad HTTP over bare sockets: answered in the shape of every error and cut off, and nothing is changed by it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { exchange } from "./support/raw-http.ts";
import { assertError, readEverything } from "./support/refusals.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
let environment: TestEnvironment;
let head: string;
before(async () => {
  server = await startTestServer({}, { requestTimeout: 1_000 });
  environment = await server.environment();
  head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${environment.keys.admin}\r\nContent-Type: application/json\r\n`;
});
after(() => server.close());

let unchanged: unknown;
beforeEach(async () => {
  unchanged = await readEverything(server);
});
afterEach(async () => {
  assert.deepEqual(
    await readEverything(server),
    unchanged,
    "a refused request has changed something",
  );
  assert.equal((await environment.admin("GET", "/flags")).status, 200, "it still answers");
});

const line = (method: string, path: string, more = "") =>
  `${method} ${path} HTTP/1.1\r\n${head}Connection: close\r\n${more}\r\n`;

/** What never became a request has no id, but has the shape. */
const assertBroken = async (status: number, ...parts: (string | Uint8Array)[]): Promise<void> => {
  const { answers, text } = await exchange(server.url, ...parts);
  assert.equal(answers.length, 1, text);
  const [answer] = answers;
  assert.ok(answer);
  assert.equal(answer.status, status, text);
  const { error, message, ...rest } = answer.body as Record<string, unknown>;
  assert.deepEqual([error, typeof message, rest], ["VALIDATION_FAILED", "string", {}]);
};

test("what is not HTTP is answered 400 and cut off", async () => {
  const post = `POST /api/v1/flags HTTP/1.1\r\n${head}`;
  const flag = '{"key":"b","type":"boolean"}';
  for (const text of [
    "garbage\r\n\r\n",
    "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001",
    "GET /healthz HTTP/9.9\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `BREW /api/v1/flags HTTP/1.1\r\n${head}\r\n`,
    `GET /api/v1/fl ags HTTP/1.1\r\n${head}\r\n`,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nbad header: 1\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\u0000b\r\n\r\n`,
    `${post}Content-Length: ${flag.length}\r\nTransfer-Encoding: chunked\r\n\r\n${flag}`,
    `${post}Content-Length: ${flag.length}\r\nContent-Length: 3\r\n\r\n${flag}`,
    `${post}Content-Length: -1\r\n\r\n${flag}`,
    `${post}Content-Length: 1e3\r\n\r\n${flag}`,
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n${flag}`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n${flag}`,
    `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${flag}`,
  ]) {
    await assertBroken(400, text);
  }
  const { answers } = await exchange(
    server.url,
    "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
  );
  assertError(answers[0], 400, "Host");
});

test("headers of more than 16 KiB are 431, and so is a path of that length", async () => {
  await assertBroken(431, line("GET", "/healthz", `X-Large: ${"a".repeat(17_000)}\r\n`));
  await assertBroken(431, line("GET", "/healthz", "X-Small: a\r\n".repeat(2_000)));
  await assertBroken(431, line("GET", `/api/v1/flags/${"a".repeat(17_000)}`));
});

test("a client that is too slow is answered 408 and cut off", async () => {
  const post = `POST /api/v1/flags HTTP/1.1\r\n${head}Content-Length: 28\r\n\r\n{"key":"b"`;
  await Promise.all([
    assertBroken(408, ""),
    assertBroken(408, "GET /healthz HTTP/1.1\r\nHos"),
    assertBroken(408, post),
  ]);
});

test("a client that sends a byte now and then is cut off too", async () => {
  const drip = connect(Number(new URL(server.url).port), "127.0.0.1");
  // Writing to a connection that was just cut off fails, which is what is waited for.
  drip.on("error", () => {});
  drip.write("GET /healthz HTTP/1.1\r\nX: ");
  const timer = setInterval(() => drip.write("a"), 50);
  let answer = "";
  drip.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  await once(drip, "close");
  clearInterval(timer);
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test("a chunked body over the limit is 413, however it is cut", async () => {
  const post = `POST /api/v1/flags HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`;
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`;
  for (const chunks of [[256 * 1_024 + 1], Array.from({ length: 257 }, () => 1_024)]) {
    const { answers } = await exchange(server.url, post, ...chunks.map(chunk));
    assertError(answers[0], 413, "256 KiB");
  }
});

test("two Host headers are refused, on every way to an answer", async () => {
  const two = "Host: 127.0.0.1\r\nHost: elsewhere.example\r\n";
  for (const hosts of [two, "Host: 127.0.0.1, elsewhere.example\r\n"]) {
    const { answers } = await exchange(
      server.url,
      `GET /healthz HTTP/1.1\r\n${hosts}\r\n`,
      `GET /healthz HTTP/1.0\r\n${hosts}Connection: close\r\n\r\n`,
    );
    assert.equal(answers.length, 2);
    for (const answer of answers) assertError(answer, 400, "Host");
  }
  const body = '{"context":{}}';
  const { admin, keys } = await server.environment();
  await admin("POST", "/flags", { key: "b", type: "boolean" });
  unchanged = await readEverything(server);
  const { answers } = await exchange(
    server.url,
    `POST /ofrep/v1/evaluate/flags/b HTTP/1.1\r\n${two}X-API-Key: ${keys.client}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  assert.equal(answers[0]?.status, 400);
});

test("each request on a connection gets its own answer, in order", async () => {
  const body = '{"enabled":true}';
  const { answers } = await exchange(
    server.url,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`,
    `PATCH /api/v1/flags/a HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `GET /nothing HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n`,
    line("GET", "/readyz"),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 404, 200],
  );
});

test("a request is handled when the one before it is answered", async () => {
  const { keys } = await server.environment();
  unchanged = undefined;
  const flag = '{"key":"ahead","type":"boolean"}';
  const sender = `Host: x\r\nX-API-Key: ${keys.admin}\r\n`;
  const { answers } = await exchange(
    server.url,
    `POST /api/v1/flags HTTP/1.1\r\n${sender}Content-Type: application/json\r\nContent-Length: ${flag.length}\r\n\r\n${flag}` +
      `GET /api/v1/flags/ahead HTTP/1.1\r\n${sender}\r\n` +
      `DELETE /api/v1/flags/ahead HTTP/1.1\r\n${sender}\r\n` +
      `GET /api/v1/flags/ahead HTTP/1.1\r\n${sender}Connection: close\r\n\r\n`,
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 200, 204, 404],
  );
  unchanged = await readEverything(server);
});

test("32 requests may be sent ahead; a connection with more is cut off", async () => {
  const ask = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  const { answers } = await exchange(server.url, ask.repeat(32) + line("GET", "/healthz"));
  assert.equal(answers.length, 33);
  await assert.rejects(exchange(server.url, ask.repeat(33) + line("GET", "/healthz")), {
    code: "ECONNRESET",
  });
});

test("a request keeps its answer when garbage follows it", async () => {
  const { name, admin, keys } = await server.environment();
  unchanged = undefined;
  const body = '{"key":"b","type":"boolean"}';
  const post = `POST /api/v1/flags HTTP/1.1\r\nHost: x\r\nX-API-Key: ${keys.admin}\r\nContent-Type: application/json\r\n`;
  const { answers } = await exchange(
    server.url,
    `${post}Content-Length: ${body.length}\r\n\r\n${body}garbage\r\n\r\n`,
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201],
    name,
  );
  assert.equal((await admin("GET", "/flags/b")).status, 200);
  unchanged = await readEverything(server);
});

test("a request id of the sender is kept when it is plain, and replaced when it is not", async () => {
  const idFor = async (given: string) => {
    const more = `X-Request-Id: ${given}\r\n`;
    const { answers } = await exchange(server.url, line("GET", "/nothing", more));
    return answers[0]?.headers.get("x-request-id");
  };
  assert.equal(await idFor("trace-1:a.b_c"), "trace-1:a.b_c");
  for (const given of ["a b", "<script>", '"}', "a".repeat(129), ""]) {
    assert.match((await idFor(given)) ?? "", /^req-[a-z0-9]+-[a-z0-9]+$/, given);
  }
});
