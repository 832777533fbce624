// The client on a stream: snapshots and changes, resumption, outages, refusals, and streams that misbehave.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { retryDelay, standardTiming } from "../src/transport/timing.ts";
import { clientOf, key } from "./support/clients.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  scriptedServer,
  sendJson,
  snapshotText,
} from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";
const snapshot = "GET /api/v1/snapshot";

suite("a stream", () => {
  test("a snapshot, then changes and deletions", async (t) => {
    let response: ServerResponse | undefined;
    const server = await scriptedServer(t, {
      [stream]: (opened) => {
        response = opened;
        openStream(opened);
        opened.write(snapshotText("1-a", booleanFlag("a", false), booleanFlag("b", true)));
      },
    });
    const { client, names, changed } = clientOf(t, server.url);
    assert.equal(client.state, "connecting");
    assert.equal(client.details("a").errorCode, "PROVIDER_NOT_READY");
    assert.equal(client.isEnabled("a", {}, true), true);
    assert.deepEqual(await client.ready(), { ok: true });
    assert.equal(client.state, "live");
    assert.deepEqual(client.details("a"), { value: false, variant: "off", reason: "DISABLED" });
    assert.deepEqual(client.details("b"), { value: true, variant: "on", reason: "STATIC" });
    assert.equal(client.details("c", {}, true).errorCode, "FLAG_NOT_FOUND");
    assert.equal(client.isEnabled("c", {}, true), true);

    response?.write(changeText("2-b", "a", booleanFlag("a", true)));
    await until("a is on", () => client.isEnabled("a"));
    response?.write(changeText("3-c", "b", null) + changeText("4-d", "c", booleanFlag("c", true)));
    await until("c is on", () => client.isEnabled("c"));
    assert.equal(client.details("b").errorCode, "FLAG_NOT_FOUND");
    assert.deepEqual(client.flags(), [booleanFlag("a", true), booleanFlag("c", true)]);
    assert.deepEqual(changed(), ["a", "b", "c"]);
    assert.deepEqual(names(), ["ready", "change", "change", "change"]);
    const [request] = server.received;
    assert.equal(request?.headers.authorization, `Bearer ${key}`);
    assert.equal(request?.headers.accept, "text/event-stream");
    assert.equal(request?.headers["last-event-id"], undefined);
  });

  test("byte by byte, with CRLF and characters of several bytes", async (t) => {
    const flag = { ...booleanFlag("a", true), description: "Grüße 🚀" };
    const server = await scriptedServer(t, {
      [stream]: async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.socket?.setNoDelay(true);
        const text = `\uFEFF: hello\n\n${snapshotText("1-a", flag)}`.replaceAll("\n", "\r\n");
        for (const byte of Buffer.from(text)) {
          response.write(Uint8Array.of(byte));
          await new Promise(setImmediate);
        }
      },
    });
    const { client } = clientOf(t, server.url);
    assert.deepEqual(await client.ready(), { ok: true });
    assert.deepEqual(client.flags(), [flag]);
  });

  test("a lost stream is resumed where it was, and a comment says that nothing was missed", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response, { headers }) => {
        openStream(response);
        if (headers["last-event-id"] === undefined) {
          response.write(snapshotText("1-a", booleanFlag("a", false)));
          response.end(changeText("2-b", "a", booleanFlag("a", true)));
        } else response.write(":\n\n");
      },
    });
    const { client, names, errors } = clientOf(t, server.url);
    await until("reconnected", () => names().includes("reconnected"));
    assert.equal(client.state, "live");
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(
      server.to(stream).map(({ headers }) => headers["last-event-id"]),
      [undefined, "2-b"],
    );
    assert.deepEqual(names(), ["ready", "change", "error", "stale", "reconnected"]);
    assert.deepEqual(errors(), ["UNREACHABLE"]);
  });

  test("a new snapshot after a loss emits only what has changed", async (t) => {
    const before = ["a", "b", "c"].map((name) => booleanFlag(name, true));
    const after = [booleanFlag("a", true), booleanFlag("b", false), booleanFlag("d", true)];
    const server = await scriptedServer(t, {
      [stream]: (response, { headers }) => {
        openStream(response);
        if (headers["last-event-id"] === undefined) response.end(snapshotText("9-a", ...before));
        else response.write(snapshotText("2-b", ...after));
      },
    });
    const { client, changed } = clientOf(t, server.url);
    await until("the second snapshot", () => client.isEnabled("d"));
    assert.deepEqual(changed().toSorted(), ["b", "c", "d"]);
    assert.deepEqual(client.flags(), after);
  });

  for (const [name, bad] of [
    ["no JSON", "id: 2-b\nevent: change\ndata: {oops\n\n"],
    ["no object", "id: 2-b\nevent: change\ndata: null\n\n"],
    ["no key", 'id: 2-b\nevent: change\ndata: {"flag":null}\n\n'],
    ["no value", 'id: 2-b\nevent: change\ndata: {"key":"a"}\n\n'],
    ["no flags", "id: 2-b\nevent: snapshot\ndata: {}\n\n"],
  ] as const) {
    test(`an event that cannot be understood (${name}) makes it begin anew`, async (t) => {
      let connections = 0;
      const server = await scriptedServer(t, {
        [stream]: (response) => {
          openStream(response);
          connections += 1;
          if (connections === 1) response.write(snapshotText("1-a", booleanFlag("a", true)) + bad);
          else response.write(snapshotText("3-c", booleanFlag("a", true), booleanFlag("b", true)));
        },
      });
      const { client, errors } = clientOf(t, server.url);
      await until("the second snapshot", () => client.isEnabled("b"));
      assert.equal(server.to(stream)[1]?.headers["last-event-id"], undefined);
      assert.deepEqual(errors(), ["UNEXPECTED_ANSWER"]);
    });
  }

  test("a stream that falls silent is left and made again", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response, { headers }) => {
        openStream(response);
        // The connection stays open, as a half-open one does, and nothing comes.
        if (headers["last-event-id"] === undefined) {
          response.write(snapshotText("1-a", booleanFlag("a", true)));
        } else response.write(changeText("2-b", "b", booleanFlag("b", true)));
      },
    });
    const { client, emitted } = clientOf(t, server.url, { timing: { silence: 100 } });
    await until("reconnected", () => client.isEnabled("b"));
    assert.equal(client.isEnabled("a"), true);
    assert.ok(
      emitted.some(
        ({ name, event }) =>
          name === "stale" && /timed out after 100 ms$/.test(event.error.message),
      ),
    );
  });

  test("heartbeats keep it", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", false)));
        let beats = 0;
        const beat = setInterval(() => {
          beats += 1;
          response.write(beats < 30 ? ":\n\n" : changeText("2-b", "a", booleanFlag("a", true)));
        }, 50);
        response.on("close", () => clearInterval(beat));
      },
    });
    const { client } = clientOf(t, server.url, { timing: { silence: 1_000 } });
    await until("a is on", () => client.isEnabled("a"));
    assert.equal(server.received.length, 1);
  });
});

suite("a server that does not give a stream", () => {
  test("500 and 503 are tried again, and nothing is lost meanwhile", async (t) => {
    let attempts = 0;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        attempts += 1;
        if (attempts === 1) return sendJson(response, 500, { error: "INTERNAL", message: "oops" });
        if (attempts < 4) return response.writeHead(503, { "retry-after": "0" }).end("<html>");
        openStream(response);
        return response.write(snapshotText("1-a", booleanFlag("a", true)));
      },
      [snapshot]: (response) => response.writeHead(503).end(),
    });
    const { client, errors, emitted } = clientOf(t, server.url, {
      bootstrap: [booleanFlag("a", false)],
    });
    assert.equal(client.details("a").reason, "DISABLED");
    assert.deepEqual(await client.ready(), { ok: true });
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(errors(), ["UNREACHABLE", "UNREACHABLE", "UNREACHABLE"]);
    const [first] = emitted;
    assert.ok(first?.name === "error" && first.event.error.status === 500);
    assert.match(first.event.error.message, /500: oops/);
  });

  for (const [status, code, error] of [
    [401, "UNAUTHORIZED", "the key is not valid"],
    [403, "FORBIDDEN", "the role is too low"],
  ] as const) {
    test(`${status} is reported immediately and retried: keys get rotated`, async (t) => {
      let valid = false;
      let response: ServerResponse | undefined;
      const server = await scriptedServer(t, {
        [stream]: (opened) => {
          if (!valid) return sendJson(opened, status, { error: code, message: error });
          response = opened;
          openStream(opened);
          return opened.write(snapshotText("1-a", booleanFlag("a", true)));
        },
      });
      const { client, errors, names } = clientOf(t, server.url);
      assert.equal((await client.ready({ timeout: 60_000 })).ok, false);
      assert.equal(client.state, "failed");
      assert.equal(errors()[0], code);
      valid = true;
      await until("live", () => client.state === "live");
      assert.deepEqual(
        names().filter((name) => name !== "error"),
        ["ready"],
      );
      assert.deepEqual(await client.ready(), { ok: true });

      valid = false;
      response?.end();
      await until("failed", () => client.state === "failed");
      assert.equal(client.isEnabled("a"), true, "the last known value stays");
      valid = true;
      await until("reconnected", () => names().includes("reconnected"));
      assert.equal(server.to(snapshot).length, 0);
    });
  }

  test("a key that is rejected for a moment is tried again soon, however long other pauses may be", async (t) => {
    let isValid = false;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        if (!isValid) return response.writeHead(403).end();
        openStream(response);
        return response.write(snapshotText("1-a", booleanFlag("a", true)));
      },
    });
    const { client } = clientOf(t, server.url, { timing: { maximumDelay: 3_600_000 } });
    assert.equal((await client.ready()).ok, false);
    isValid = true;
    await until("live", () => client.state === "live");
  });
});

test("pauses grow from 1 to 30 seconds while a key is rejected; others stay below a second for 17 failures", () => {
  const rejected = { code: "UNAUTHORIZED", message: "" } as const;
  const down = { code: "UNREACHABLE", message: "" } as const;
  for (const [index, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
    const pause = retryDelay(rejected, index + 1, standardTiming) / 1_000;
    assert.ok(pause >= seconds * 0.9 && pause <= seconds * 1.1, `${pause}`);
  }
  const longest = (failures: number) =>
    Math.max(...Array.from({ length: 1_000 }, () => retryDelay(down, failures, standardTiming)));
  assert.ok(longest(1) <= 500);
  for (let failures = 2; failures <= 17; failures += 1) assert.ok(longest(failures) <= 1_000);
  for (const [index, seconds] of [2, 4, 8, 16, 30, 30].entries()) {
    const pause = longest(18 + index);
    assert.ok(pause <= seconds * 1_000 && pause > seconds * 900, `${pause}`);
  }
  assert.ok(retryDelay(rejected, 1_000, standardTiming) >= 27_000);
  assert.ok(retryDelay(rejected, 1_000, { ...standardTiming, maximumDelay: 5 }) < 6);
});

test("a retry waits for Retry-After, up to maximumDelay", () => {
  for (const code of ["UNREACHABLE", "UNAUTHORIZED"] as const) {
    const after = (retryAfter: number) =>
      retryDelay({ code, message: "", retryAfter }, 1, standardTiming);
    assert.equal(after(7_000), 7_000);
    assert.equal(after(3_600_000), standardTiming.maximumDelay);
  }
});
