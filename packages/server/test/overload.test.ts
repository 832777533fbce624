// What happens when more is asked than can be done: who waits, who is refused and how, and who never is.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text as readText } from "node:stream/consumers";
import { after, test } from "node:test";
import { networkOf } from "../src/platform/auth/client-network.ts";
import { limitSending } from "../src/platform/http/load/connections.ts";
import { createOverload, type OverloadDependencies } from "../src/platform/http/load/overload.ts";
import { type Answered, type Connection, createConnection } from "./load/connection.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const ask = async (connection: Connection, path: string, key?: string): Promise<Answered> => {
  const answered = await connection.ask({ method: "GET", path, ...(key && { key }) });
  assert.ok(answered !== "cut", `${path}: the connection was cut`);
  return answered;
};

/** A bare server that asks before it serves, whose clock the test moves. */
const guarded = async (settings: Partial<OverloadDependencies> = {}) => {
  const lines: { readonly fields: object; readonly message: string }[] = [];
  const line = (fields: object, message: string) => lines.push({ fields, message });
  let pace = 1;
  let [movedAt, moved] = [performance.now(), 0];
  const now = () => moved + (performance.now() - movedAt) * pace;
  const overload = createOverload({
    maxConnections: 100,
    maxPerAddress: 0,
    networkOf,
    maxLag: 500,
    now,
    log: { warn: line, info: line },
    ...settings,
  });
  // Without Node's own limit on silent connections: a slow machine takes longer to open a thousand.
  const server = createServer({ headersTimeout: 0, requestTimeout: 0 }, (request, response) => {
    const kind = overload.check(request, now());
    const shed = kind && overload.shed(kind);
    const body = JSON.stringify(shed ? shed.failure.message : request.url);
    response
      .writeHead(shed ? 503 : 200, {
        "content-length": body.length,
        ...(shed && { "retry-after": String(shed.retryAfter) }),
      })
      .end(body);
  }).listen(0, "127.0.0.1");
  overload.watch(server);
  await once(server, "listening");
  const address = server.address();
  assert.ok(address && typeof address === "object");
  after(() => {
    overload.close();
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    lines,
    figures: overload.figures,
    /** From now on the clock runs so much faster than time: whatever the server does seems to last that much longer. */
    setPace: (faster: number): void => {
      [moved, movedAt] = [now(), performance.now()];
      pace = faster;
    },
  };
};

for (const [kind, path, maxLag] of [
  ["evaluation", "/ofrep/v1/evaluate/flags/a", 500],
  // A fifth of it is enough for all else.
  ["management", "/api/v1/flags", 2_500],
] as const) {
  test(`${kind} is refused only when the server has been far too late for long`, async () => {
    const { url, setPace, figures, lines } = await guarded({ maxLag });
    const connection = createConnection(url);
    assert.equal((await ask(connection, path)).status, 200);
    setPace(100);
    const refused = await until("a refusal", async () => {
      const answered = await ask(connection, path);
      return answered.status === 503 && answered;
    });
    assert.match(refused.text, /The server is overloaded; try again\./);
    assert.match(refused.head, /\r\nretry-after: [1-3]\r\n/i);
    assert.ok(figures().refused[kind] > 0);
    for (const health of ["/healthz", "/readyz?x", "/metrics"]) {
      assert.equal((await ask(connection, health)).status, 200);
    }
    setPace(1);
    await until("an answer", async () => (await ask(connection, path)).status === 200);
    await until("the end of it", () => !figures().isRefusing);
    // Nothing may have been refused for a while in between, by this clock.
    for (const [index, { message }] of lines.entries()) {
      const isBegin = index % 2 === 0;
      assert.equal(
        message,
        isBegin ? "overloaded: requests are refused" : "requests are no longer refused",
      );
    }
    assert.equal(lines.length % 2, 0);
    const { longestLag } = (lines[1]?.fields ?? {}) as { readonly longestLag?: number };
    assert.ok((longestLag ?? 0) > 500);
    connection.close();
  });
}

test("changes and reads are refused at a lag at which evaluation goes on", async () => {
  const { url, setPace, figures } = await guarded({ maxLag: 50_000 });
  const connection = createConnection(url);
  // Each turn seems to last more than 10 seconds and less than 50.
  setPace(1_000);
  await until("a refusal", async () => (await ask(connection, "/api/v1/a")).status === 503);
  assert.equal(figures().refused.evaluation, 0);
  connection.close();
});

test("what is refused by a server says so, and pages may read it where they may ask", async (t) => {
  const server = await startTestServer({ HALYARD_MAX_LAG: "10" });
  // It shares this process: every turn of its event loop is far too late.
  const block = setInterval(() => {
    const end = performance.now() + 100;
    while (performance.now() < end);
  }, 1);
  t.after(() => server.close());
  t.after(() => clearInterval(block));
  const connection = createConnection(server.url);
  const seen = new Map<string, Answered>();
  const paths = ["/api/v1/flags", "/api/v1/usage", "/ofrep/v1/evaluate/flags/a", "/docs/json"];
  for (const path of paths) {
    const refused = await until("a refusal", async () => {
      const answered = await ask(connection, path);
      return answered.status === 503 && answered;
    });
    seen.set(path, refused);
  }
  assert.equal((await ask(connection, "/healthz")).status, 200);
  clearInterval(block);
  connection.close();
  for (const [path, { head, text }] of seen) {
    assert.match(head, /\r\nretry-after: [1-3]\r\n/i);
    assert.match(head, /\r\nx-request-id: \S+\r\n/i);
    assert.match(head, /\r\nx-content-type-options: nosniff\r\n/i);
    const isForPages = /usage|ofrep/.test(path);
    assert.equal(/\r\naccess-control-allow-origin: \*\r\n/i.test(head), isForPages);
    const message = "The server is overloaded; try again.";
    assert.deepEqual(
      JSON.parse(text),
      path.startsWith("/ofrep/") ? { errorDetails: message } : { error: "UNAVAILABLE", message },
    );
  }
});

test("a single pause, however long, is no overload", async () => {
  const { url, setPace } = await guarded();
  const connection = createConnection(url);
  await ask(connection, "/ofrep/v1/a");
  setPace(1_000_000);
  setPace(1);
  assert.equal((await ask(connection, "/ofrep/v1/a")).status, 200);
  assert.equal((await ask(connection, "/api/v1/a")).status, 200);
  connection.close();
});

test("connections beyond the limit get an answer, and health even then", async (t) => {
  const folder = newFolder();
  const server = await serveHalyard(folder, {
    HALYARD_MAX_CONNECTIONS: "4",
    HALYARD_BOOTSTRAP_KEYS: "test=a-key-of-20-characters",
  });
  t.after(async () => {
    server.kill("SIGKILL");
    await server.ended;
    rmSync(folder, { recursive: true });
  });
  const key = "a-key-of-20-characters";
  const connections = Array.from({ length: 4 }, () => createConnection(server.url));
  for (const connection of connections) {
    assert.equal((await ask(connection, "/api/v1/flags", key)).status, 200);
  }
  const refused = await fetch(`${server.url}/api/v1/flags`, { headers: { "x-api-key": key } });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("connection"), "close");
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-3]$/);
  assert.equal(refused.headers.get("x-content-type-options"), "nosniff");
  assert.deepEqual(await refused.json(), {
    error: "UNAVAILABLE",
    message:
      "The server has reached its limit of connections, in total or from this address; try again.",
  });
  const evaluation = await fetch(`${server.url}/ofrep/v1/evaluate/flags/a`, { method: "POST" });
  assert.equal(evaluation.status, 503);
  assert.deepEqual(Object.keys((await evaluation.json()) as object), ["errorDetails"]);
  const healthy = await fetch(`${server.url}/healthz`);
  assert.equal(healthy.status, 200);
  assert.equal(healthy.headers.get("connection"), "close");
  for (const connection of connections) {
    assert.equal(
      (await ask(connection, "/api/v1/flags", key)).status,
      200,
      "they are not disturbed",
    );
  }
  connections[0]?.close();
  await until("a free place", async () => {
    const { status } = await fetch(`${server.url}/api/v1/flags`, { headers: { "x-api-key": key } });
    return status === 200;
  });
  for (const connection of connections) connection.close();
  server.kill("SIGTERM");
  const { code, stdout } = await server.ended;
  assert.equal(code, 0);
  assert.equal(stdout.match(/overloaded: requests/g)?.length, 1, "said once, not for each");
});

test("one address cannot take every connection", async (t) => {
  const { url } = await guarded({ maxPerAddress: 2 });
  const from = (localAddress: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), localAddress });
      t.after(() => socket.destroy());
      socket.once("error", reject).once("data", (answer) => resolve(String(answer).slice(9, 12)));
      socket.write("GET /api/v1/flags HTTP/1.1\r\nHost: x\r\n\r\n");
    });
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push(await from("127.0.0.1"));
  assert.deepEqual(statuses, ["200", "200", "503"]);
  // Elsewhere a second address of loopback has to be set up first.
  if (process.platform === "linux") assert.equal(await from("127.0.0.2"), "200");
});

test("a client that waits for a slow answer is not cut off, and an idle connection is", async (t) => {
  // Answers when the limit on sending has passed without anything to send.
  const server = createServer(({ socket }, response) => {
    socket.once("timeout", () => response.end("late"));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  server.keepAliveTimeout = 1;
  limitSending(server, 50);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.match(await readText(socket), /^HTTP\/1\.1 200 [\s\S]*late/);
});

test("connections that say nothing do not pile up beyond the limit", async () => {
  const { url, figures } = await guarded({ maxConnections: 3 });
  const silent: Socket[] = [];
  let cut = 0;
  for (let count = 0; count < 1_010; count += 1) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket
      .on("error", () => {})
      .on("close", () => {
        cut += 1;
      });
    silent.push(socket);
    await once(socket, "connect");
  }
  await until(
    "those that are too many to be gone",
    () => cut >= 7 && figures().connections === 1_003,
  );
  for (const socket of silent) socket.destroy();
});

test("a store that is slow fills up to its limit, then requests are refused at once", async () => {
  const server = await startTestServer({}, { maxWaiting: 3 });
  after(() => server.close());
  const { admin, client } = await server.environment();
  for (const key of ["a", "b", "c", "d"]) await admin("POST", "/flags", { key, type: "boolean" });
  const other = new DatabaseSync(join(server.folder, "halyard.db"));
  other.exec("begin immediate");
  const waiting = ["a", "b", "c"].map((key) => admin("PATCH", `/flags/${key}`, { enabled: true }));
  const refused = await until("a refusal", async () => {
    const answer = await admin(
      "POST",
      "/keys",
      { name: "x", role: "client" },
      { "idempotency-key": "1" },
    );
    return answer.status === 503 && answer;
  });
  assert.match(refused.headers.get("retry-after") ?? "", /^\d$/);
  const evaluated = await client("POST", "//ofrep/v1/evaluate/flags/a", { context: {} });
  assert.deepEqual((evaluated.body as { value: boolean }).value, false);
  assert.equal((await server.anonymous("GET", "//readyz")).status, 200);
  other.exec("rollback");
  other.close();
  for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
  assert.equal((await admin("PATCH", "/flags/d", { enabled: true })).status, 200);
});
