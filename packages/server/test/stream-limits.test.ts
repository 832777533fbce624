// How streams end: slow and dead readers, revoked keys, a full server, a server that stops.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { fastify } from "fastify";
import { createBroadcaster } from "../src/evaluation/streams/broadcaster.ts";
import {
  createEventStreams,
  type StreamSettings,
  type Subscriber,
} from "../src/evaluation/streams/event-streams.ts";
import { frameOf } from "../src/evaluation/streams/frame.ts";
import { createOpenStreams } from "../src/evaluation/streams/open-streams.ts";
import { limitSending } from "../src/platform/http/load/connections.ts";
import { createHttpMeter } from "../src/platform/telemetry/http-meter.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const settings: StreamSettings = {
  heartbeat: 60_000,
  maxStreams: 100,
  maxStreamsPerEnvironment: 100,
  maxStreamsPerKey: 100,
  maxUnsent: 256 * 1_024,
};

/** Streams of their own behind a real port, to publish whatever a test needs. */
const startStreams = async (
  t: TestContext,
  changed: Partial<StreamSettings>,
  first = "",
  sendTimeout = 60_000,
) => {
  const openStreams = createOpenStreams(settings, createHttpMeter().streams);
  const streams = createEventStreams({ ...settings, ...changed }, openStreams);
  const broadcaster = createBroadcaster<Subscriber>(streams.send);
  const app = fastify({ forceCloseConnections: "idle" });
  limitSending(app.server, sendTimeout);
  app.addHook("preClose", async () => streams.close());
  app.get("/", async (_request, reply) =>
    streams.open(reply, {
      kind: "flags",
      holder: { environmentId: 1, keyId: "some" },
      begin: () => ({ frames: [frameOf(first)], broadcaster }),
    }),
  );
  const port = Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
  });
  const read = () => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    const reader = { socket, bytes: 0, ended: false };
    socket.on("data", (chunk) => {
      reader.bytes += chunk.length;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      reader.ended = true;
    });
    socket.write("GET / HTTP/1.1\r\nHost: halyard\r\n\r\n");
    return reader;
  };
  return { app, openStreams, broadcaster, read };
};

suite("a reader that does not keep up", () => {
  test("is cut off, while the others get everything", async (t) => {
    const { broadcaster, read } = await startStreams(t, {});
    const slow = read();
    const others = [read(), read(), read()];
    await until("four readers", () => broadcaster.size === 4);
    slow.socket.pause();
    const frame = frameOf(`data: ${"x".repeat(64 * 1_024)}\n\n`);
    let published = 0;
    await until("the slow reader's end", () => {
      broadcaster.publish(frame);
      published += 1;
      return broadcaster.size === 3;
    });
    await until("all bytes for the others", () =>
      others.every(({ bytes }) => bytes > published * frame.length),
    );
    assert.ok(others.every(({ ended }) => !ended));
    slow.socket.resume();
    await until("the slow reader's own end", () => slow.ended);
    assert.ok(slow.bytes < published * frame.length);
  });

  test("is given time for a beginning that is longer than what may wait", async (t) => {
    const first = `data: ${"x".repeat(16 * 1_024 * 1_024)}\n\n`;
    const { broadcaster, read } = await startStreams(t, {}, first);
    const slow = read();
    slow.socket.pause();
    await until("a reader", () => broadcaster.size === 1);
    for (let turn = 0; turn < 10; turn += 1) broadcaster.publish(frameOf("data: 1\n\n"));
    await new Promise(setImmediate);
    slow.socket.resume();
    await until("the whole beginning", () => slow.bytes > first.length + 90);
    assert.ok(!slow.ended);
  });

  test("one who takes nothing at all of what waits is cut off as every client is", async (t) => {
    const first = `data: ${"x".repeat(16 * 1_024 * 1_024)}\n\n`;
    const { broadcaster, read } = await startStreams(t, {}, first, 1_000);
    const [dead, alive] = [read(), read()];
    dead.socket.pause();
    await until("two readers", () => broadcaster.size === 2);
    await until("the end of the dead one", () => broadcaster.size === 1);
    await until("all for the other", () => alive.bytes > first.length);
    assert.ok(!alive.ended);
  });

  test("one who takes its beginning slowly is not, however long it takes", async (t) => {
    const first = `data: ${"x".repeat(24 * 1_024 * 1_024)}\n\n`;
    const { broadcaster, read } = await startStreams(t, { heartbeat: 500 }, first, 2_000);
    const slow = read();
    slow.socket.pause();
    await until("a reader", () => broadcaster.size === 1);
    // Some 3 MiB a second: several signs of life pass meanwhile.
    const reading = setInterval(() => {
      slow.socket.resume();
      slow.socket.once("data", () => slow.socket.pause());
    }, 20);
    t.after(() => clearInterval(reading));
    await until("the whole beginning", () => slow.ended || slow.bytes > first.length);
    assert.ok(!slow.ended, `it was cut off after ${slow.bytes} bytes`);
  });

  test("does not outlive its key, whatever waits for it", async (t) => {
    const first = `data: ${"x".repeat(16 * 1_024 * 1_024)}\n\n`;
    const { openStreams, broadcaster, read } = await startStreams(t, {}, first);
    read().socket.pause();
    await until("a reader", () => broadcaster.size === 1);
    openStreams.endOf(new Set(["another"]));
    openStreams.endOf(new Set(["some"]));
    await until("its end", () => broadcaster.size === 0);
  });

  test("does not keep a server from stopping", async (t) => {
    const first = `data: ${"x".repeat(16 * 1_024 * 1_024)}\n\n`;
    const { app, broadcaster, read } = await startStreams(t, {}, first);
    const slow = read();
    slow.socket.pause();
    await until("a reader", () => broadcaster.size === 1);
    await app.close();
  });
});

test("signs of life come to a quiet reader, also beyond the time limit of requests", async (t) => {
  const server = await startTestServer({}, { requestTimeout: 1_000, streams: { heartbeat: 100 } });
  t.after(() => server.close());
  const { keys } = await server.environment();
  const stream = await openStream(`${server.url}/api/v1/stream`, bearer(keys.server));
  await until("thirty signs of life", () => stream.comments >= 30);
  assert.ok(!stream.ended);
  stream.close();
});

test("a server that holds as many streams as it may says so, and takes the next when one has gone", async (t) => {
  const server = await startTestServer({}, { streams: { maxStreams: 2 } });
  t.after(() => server.close());
  const { keys, server: api } = await server.environment();
  const open = () => openStream(`${server.url}/api/v1/stream`, bearer(keys.server));
  const [one, two] = [await open(), await open()];
  const refused = await api("GET", "/stream");
  assert.equal(refused.status, 503);
  assert.equal((refused.body as { error: string }).error, "UNAVAILABLE");
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  one.close();
  const three = await until("a free place", async () => {
    const tried = await open();
    return tried.status === 200 && tried;
  });
  await three.first(1);
  assert.ok(!two.ended);
  for (const stream of [two, three]) stream.close();
});

test("the limit on requests of a key does not count streams, and reports of usage on their own", async (t) => {
  const server = await startTestServer({ HALYARD_RATE_LIMIT: "3" });
  t.after(() => server.close());
  const { keys, server: api } = await server.environment();
  const evaluations = [{ key: "a", on: 1, off: 0 }];
  for (let turn = 0; turn < 10; turn += 1) {
    const stream = await openStream(`${server.url}/api/v1/stream`, bearer(keys.server));
    assert.equal(stream.status, 200);
    stream.close();
  }
  for (const turn of [1, 2, 3, 4]) {
    const isOver = turn === 4;
    const reported = await api("POST", "/usage", { evaluations });
    assert.equal(reported.status, isOver ? 429 : 204);
    assert.equal((await api("GET", "/flags")).status, isOver ? 429 : 200);
  }
});

test("a revoked key's streams end, another key's go on", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin, keys } = await server.environment();
  const made = await admin("POST", "/keys", { name: "short-lived", role: "server" });
  const { id, key } = made.body as { id: string; key: string };
  const path = `${server.url}/api/v1/stream`;
  const doomed = [await openStream(path, bearer(key)), await openStream(path, bearer(key))];
  const other = await openStream(path, bearer(keys.server));
  for (const stream of [...doomed, other]) await stream.first(1);
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  for (const stream of doomed) await stream.untilEnded();
  const again = await openStream(path, bearer(key));
  assert.equal(again.status, 401);
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  await other.first(2);
  other.close();
});

test("a server that stops ends its streams and takes no more", async () => {
  const server = await startTestServer();
  const { keys } = await server.environment();
  const path = `${server.url}/api/v1/stream`;
  const streams = await Promise.all(
    Array.from({ length: 20 }, () => openStream(path, bearer(keys.server))),
  );
  await Promise.all(streams.map((stream) => stream.first(1)));
  await server.close();
  for (const stream of streams) await stream.untilEnded();
  await assert.rejects(openStream(path, bearer(keys.server)));
});

test("two thousand streams at once: each gets every change, and a revoked key ends them all", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin } = await server.environment();
  const made = await admin("POST", "/keys", { name: "fleet", role: "server" });
  const { id, key } = made.body as { id: string; key: string };
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const port = Number(new URL(server.url).port);
  const ask = `GET /api/v1/stream HTTP/1.1\r\nHost: halyard\r\nX-API-Key: ${key}\r\n\r\n`;
  const tally = { snapshots: 0, changes: 0, ends: 0 };
  const open = (): Socket => {
    const socket = connect(port, "127.0.0.1", () => socket.write(ask));
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const seen = text.split("event: ").length;
      text += chunk;
      for (const event of text.split("event: ").slice(seen)) {
        tally[event.startsWith("snapshot") ? "snapshots" : "changes"] += 1;
      }
    });
    socket.on("close", () => {
      tally.ends += 1;
    });
    return socket;
  };
  const count = 2_000;
  for (let opened = 0; opened < count; opened += 200) {
    for (let index = 0; index < 200; index += 1) open();
    await until("the snapshots", () => tally.snapshots === opened + 200);
  }
  for (let turn = 1; turn <= 3; turn += 1) {
    await admin("PATCH", "/flags/a", { enabled: turn % 2 === 1 });
  }
  await until("the changes", () => tally.changes === 3 * count);
  await admin("DELETE", `/keys/${id}`);
  await until("the ends", () => tally.ends === count);
  assert.deepEqual(tally, { snapshots: count, changes: 3 * count, ends: count });
});
