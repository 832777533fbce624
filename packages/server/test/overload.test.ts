// What happens when more is asked than can be done: who waits, who is refused and how, and who never is.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { createOverload, type OverloadDependencies } from "../src/http/load/overload.ts";
import { type Answered, type Connection, createConnection } from "./load/connection.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { exchange } from "./support/raw-http.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const limit = { timeout: 60_000 };

const ask = async (connection: Connection, path: string, key?: string): Promise<Answered> => {
  const answered = await connection.ask({ method: "GET", path, ...(key && { key }) });
  assert.ok(answered !== "cut", `${path}: the connection was cut`);
  return answered;
};

/** A bare server behind the guard, whose clock the test moves. */
const guarded = async (settings: Partial<OverloadDependencies> = {}) => {
  const lines: { readonly fields: object; readonly message: string }[] = [];
  const line = (fields: object, message: string) => lines.push({ fields, message });
  let [pace, step] = [1, 0];
  let [movedAt, moved] = [performance.now(), 0];
  const now = () => {
    moved += step;
    return moved + (performance.now() - movedAt) * pace;
  };
  const overload = createOverload({
    maxConnections: 0,
    maxLag: 500,
    maxWaiting: 2,
    now,
    log: { warn: line, info: line },
    ...settings,
  });
  const served: string[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    served.push(request.url ?? "");
    const body = JSON.stringify(request.url);
    response.setHeader("content-length", body.length).end(body);
  };
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const commonHeaders = { "x-common": "yes" };
  overload.guard(server, { serve, requestIdOf: () => "req-1", commonHeaders });
  const address = server.address();
  assert.ok(address && typeof address === "object");
  after(() => {
    overload.close();
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    served,
    lines,
    figures: overload.figures,
    /** From now on the clock moves on by so much whenever it is asked: the server always finds itself late. */
    setStep: (milliseconds: number): void => {
      step = milliseconds;
    },
    /** From now on the clock runs so much faster than time: whatever the server does seems to last that much longer. */
    setPace: (faster: number): void => {
      [moved, movedAt] = [now(), performance.now()];
      pace = faster;
    },
  };
};

const head = (path: string, last = false): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${last ? "Connection: close\r\n" : ""}\r\n`;

test(
  "when the server is late, changes wait in their order, evaluation and health do not",
  limit,
  async () => {
    const { url, served, setStep } = await guarded({ maxLag: 0 });
    setStep(40);
    const { answers } = await exchange(
      url,
      [
        ...["/api/v1/a", "/api/v1/b", "/ofrep/v1/c", "/healthz", "/readyz?x", "/metrics"].map(
          (path) => head(path),
        ),
        head("/ofrep/v1/last", true),
      ].join(""),
    );
    assert.deepEqual(served, [
      ...["/ofrep/v1/c", "/healthz", "/readyz?x", "/metrics", "/ofrep/v1/last"],
      ...["/api/v1/a", "/api/v1/b"],
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200, 200],
    );
  },
);

test(
  "those for whom there is no place to wait are refused with 503 and Retry-After",
  limit,
  async () => {
    const { url, served, setStep, figures, lines } = await guarded({ maxLag: 0 });
    setStep(40);
    const { answers } = await exchange(
      url,
      ["/api/v1/a", "/api/v1/b", "/api/v1/c", "/api/v1/usage", "/"]
        .map((path) => head(path))
        .join("") + head("/healthz", true),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 503, 503, 503, 200],
    );
    assert.deepEqual(served, ["/healthz", "/api/v1/a", "/api/v1/b"]);
    const [, , refused, open] = answers;
    assert.deepEqual(refused?.body, {
      error: "UNAVAILABLE",
      message: "The server has too much to do just now; try again.",
    });
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-3]$/);
    assert.equal(refused.headers.get("x-request-id"), "req-1");
    assert.equal(refused.headers.get("x-common"), "yes");
    assert.equal(refused.headers.get("access-control-allow-origin"), null);
    assert.equal(open?.headers.get("access-control-allow-origin"), "*");
    assert.deepEqual(figures().refused, { management: 3, evaluation: 0, connection: 0, store: 0 });
    assert.equal(lines.length, 1, "said once, not for each");
  },
);

test(
  "evaluation is refused only when the server has been far too late for long",
  limit,
  async () => {
    const { url, setPace, figures, lines } = await guarded();
    const connection = createConnection(url);
    const evaluate = () => ask(connection, "/ofrep/v1/evaluate/flags/a");
    assert.equal((await evaluate()).status, 200);
    setPace(100);
    const refused = await until("a refusal", async () => {
      const answered = await evaluate();
      return answered.status === 503 && answered;
    });
    assert.deepEqual(JSON.parse(refused.text), {
      errorDetails: "The server has too much to do just now; try again.",
    });
    assert.match(refused.head, /\r\nretry-after: [1-3]\r\n/i);
    assert.match(refused.head, /\r\naccess-control-allow-origin: \*\r\n/i);
    assert.ok(figures().isRefusing && figures().refused.evaluation > 0);
    assert.equal((await ask(connection, "/healthz")).status, 200);
    setPace(1);
    await until("an answer", async () => (await evaluate()).status === 200);
    await until("the end of it", () => !figures().isRefusing);
    assert.deepEqual(
      lines.map(({ message }) => message),
      ["too much is asked: requests are refused", "requests are no longer refused"],
    );
    const { longestLag } = (lines[1]?.fields ?? {}) as { readonly longestLag?: number };
    assert.ok((longestLag ?? 0) > 500);
    connection.close();
  },
);

test("a single pause, however long, is no overload", limit, async () => {
  const { url, setPace } = await guarded();
  const connection = createConnection(url);
  await ask(connection, "/ofrep/v1/a");
  setPace(1_000_000);
  setPace(1);
  assert.equal((await ask(connection, "/ofrep/v1/a")).status, 200);
  assert.equal((await ask(connection, "/api/v1/a")).status, 200);
  connection.close();
});

test("connections beyond the limit get an answer, and health even then", limit, async (t) => {
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
    message: "The server has as many connections as it may; try again.",
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
  assert.equal(stdout.match(/too much is asked/g)?.length, 1, "said once, not for each");
});

test("connections that say nothing do not pile up beyond the limit", limit, async () => {
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

test(
  "a store that is slow fills up to its limit, then requests are refused at once",
  limit,
  async () => {
    const server = await startTestServer({ HALYARD_MAX_WAITING: "3" });
    after(() => server.close());
    const { admin, client } = await server.environment();
    for (const key of ["a", "b", "c", "d"]) await admin("POST", "/flags", { key, type: "boolean" });
    const other = new DatabaseSync(join(server.folder, "halyard.db"));
    other.exec("begin immediate");
    const waiting = ["a", "b", "c"].map((key) =>
      admin("PATCH", `/flags/${key}`, { enabled: true }),
    );
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
  },
);
