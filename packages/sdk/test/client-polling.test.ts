// The client without a stream: it polls, asks only for what is new, and comes back to streaming.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, test } from "node:test";
import type { Flag } from "@halyard/sdk";
import { until } from "../../server/test/support/until.ts";
import { clientOf } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  scriptedServer,
  sendJson,
  snapshotOf,
  snapshotText,
} from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";
const snapshot = "GET /api/v1/snapshot";

const sendSnapshot = (response: ServerResponse, tag: string, ...flags: readonly Flag[]) =>
  response
    .writeHead(200, { "content-type": "application/json", etag: tag })
    .end(JSON.stringify(snapshotOf(...flags)));

suite("polling", () => {
  const notStreams: readonly [name: string, answer: (response: ServerResponse) => unknown][] = [
    ["404", (response) => sendJson(response, 404, { error: "NOT_FOUND", message: "no such path" })],
    ["501", (response) => response.writeHead(501).end()],
    ["a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("hello")],
    ["503 for streams only", (response) => response.writeHead(503).end()],
    ["connections cut", (response) => response.destroy()],
    [
      "streams cut before any data",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        response.destroy();
      },
    ],
    [
      "a proxy that holds the stream back",
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
    ],
  ];
  for (const [name, answer] of notStreams) {
    test(`instead of a stream: ${name}`, async (t) => {
      const server = await scriptedServer(t, {
        [stream]: answer,
        [snapshot]: (response) => sendSnapshot(response, '"1"', booleanFlag("a", true)),
      });
      const { client } = clientOf(t, server.url, { timing: { requestTimeout: 200 } });
      assert.deepEqual(await client.ready({ timeout: 60_000 }), { ok: true });
      assert.equal(client.isEnabled("a"), true);
    });
  }

  test("an outage that lets polls through ends with a stream, not with minutes of polling", async (t) => {
    let outage = true;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        if (outage) return response.writeHead(502).end();
        openStream(response);
        return response.write(snapshotText("5-a", booleanFlag("a", true)));
      },
      [snapshot]: (response) => sendSnapshot(response, '"1"', booleanFlag("a", false)),
    });
    // Polling by interval would outlast the test.
    const timing = { pollInterval: 3_600_000, streamRetry: 3_600_000 };
    const { client, names } = clientOf(t, server.url, { timing });
    assert.deepEqual(await client.ready(), { ok: true });
    await until("several attempts to stream", () => server.to(stream).length > 5);
    const [polls, streams] = [server.to(snapshot).length, server.to(stream).length];
    assert.ok(polls >= streams - 2 && polls <= streams, "a poll before each further attempt");
    assert.equal(client.state, "live");
    outage = false;
    await until("the stream", () => client.isEnabled("a"));
    assert.deepEqual(
      names().filter((name) => name !== "error"),
      ["ready", "change"],
    );
  });

  test("an outage during long polling ends with an attempt to stream", async (t) => {
    let isDown = false;
    let streams = false;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        if (!streams) return response.writeHead(isDown ? 503 : 404).end();
        openStream(response);
        return response.write(snapshotText("5-a", booleanFlag("a", true)));
      },
      [snapshot]: (response) =>
        isDown
          ? response.writeHead(503).end()
          : sendSnapshot(response, '"1"', booleanFlag("a", false)),
    });
    const { client } = clientOf(t, server.url, { timing: { streamRetry: 3_600_000 } });
    await until("several polls", () => server.to(snapshot).length > 3);
    assert.equal(server.to(stream).length, 1);
    assert.equal(client.transport, "poll");
    isDown = true;
    await until("stale", () => client.state === "stale");
    streams = true;
    isDown = false;
    await until("the stream", () => client.transport === "stream");
    assert.equal(client.isEnabled("a"), true);
  });

  test("only what is new is sent, and a change is reported", async (t) => {
    let revision = 1;
    const server = await scriptedServer(t, {
      [snapshot]: (response, { headers }) => {
        const tag = `"${revision}"`;
        if (headers["if-none-match"] === tag) return response.writeHead(304, { etag: tag }).end();
        return sendSnapshot(response, tag, booleanFlag("a", revision > 1));
      },
    });
    const { client, names, changed } = clientOf(t, server.url, { streaming: false });
    assert.deepEqual(await client.ready(), { ok: true });
    await until("a poll that brought nothing", () => server.to(snapshot).length > 2);
    revision = 2;
    await until("a is on", () => client.isEnabled("a"));
    assert.deepEqual(changed(), ["a"]);
    assert.deepEqual(names(), ["ready", "change"]);
    const tags = server.to(snapshot).map(({ headers }) => headers["if-none-match"]);
    assert.deepEqual([tags[0], tags[1]], [undefined, '"1"']);
    assert.equal(server.to(stream).length, 0);
  });

  test("streaming is tried again later, and meanwhile nothing counts as lost", async (t) => {
    let streams = false;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        if (!streams) return response.writeHead(404).end();
        openStream(response);
        return response.write(snapshotText("5-a", booleanFlag("a", true)));
      },
      [snapshot]: (response) => sendSnapshot(response, '"1"', booleanFlag("a", false)),
    });
    const { client, names } = clientOf(t, server.url, { timing: { streamRetry: 30 } });
    assert.deepEqual(await client.ready(), { ok: true });
    await until("several attempts to stream", () => server.to(stream).length > 3);
    streams = true;
    await until("the stream", () => client.isEnabled("a"));
    assert.deepEqual(
      names().filter((name) => name !== "error"),
      ["ready", "change"],
    );
    assert.ok(server.to(stream).every(({ headers }) => headers["last-event-id"] === undefined));
    const polls = server.to(snapshot).length;
    assert.equal(client.state, "live");
    await client.close();
    assert.equal(server.to(snapshot).length, polls);
  });

  test("polls that fail make it stale, and the values stay", async (t) => {
    let answer: "snapshot" | "error" | "nonsense" | "list" | "refused" = "snapshot";
    const server = await scriptedServer(t, {
      [snapshot]: (response) => {
        if (answer === "error") return response.writeHead(500).end();
        if (answer === "nonsense") return response.writeHead(200).end("<html>");
        if (answer === "list") return sendJson(response, 200, [booleanFlag("a", false)]);
        if (answer === "refused") return response.writeHead(401).end();
        return sendSnapshot(response, '"1"', booleanFlag("a", true));
      },
    });
    const { client, count, errors } = clientOf(t, server.url, { streaming: false });
    assert.deepEqual(await client.ready(), { ok: true });
    for (const [bad, state, code] of [
      ["error", "stale", "UNREACHABLE"],
      ["nonsense", "stale", "UNEXPECTED_ANSWER"],
      ["list", "stale", "UNEXPECTED_ANSWER"],
      ["refused", "failed", "UNAUTHORIZED"],
    ] as const) {
      answer = bad;
      await until(state, () => client.state === state);
      assert.equal(errors().at(-1), code);
      assert.equal(client.isEnabled("a"), true);
      answer = "snapshot";
      await until("live", () => client.state === "live");
    }
    assert.equal(count("stale"), 3);
    assert.equal(count("reconnected"), 4);
  });
});
