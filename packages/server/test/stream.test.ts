// GET /stream: the whole environment first, then every change, and where a reader goes on who comes back.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { bearer, openStream, type StreamEvent } from "./support/event-reader.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const follow = (environment: TestEnvironment, lastEventId?: string) =>
  openStream(`${server.url}/api/v1/stream`, {
    ...bearer(environment.keys.server),
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  });

const flag = (key: string, more: object = {}) => ({
  key,
  type: "boolean",
  enabled: false,
  description: null,
  ...more,
});
const dataOf = (event: StreamEvent | undefined) =>
  (event?.data ?? {}) as Readonly<Record<string, unknown>>;

suite("what a reader gets", () => {
  test("headers that no proxy keeps back, a pause for reconnecting, and the whole environment", async () => {
    const environment = await server.environment();
    const stream = await follow(environment);
    assert.equal(stream.status, 200);
    assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(stream.headers.get("cache-control"), "no-store");
    assert.equal(stream.headers.get("x-accel-buffering"), "no");
    assert.match(stream.headers.get("x-request-id") ?? "", /^req-/);
    assert.equal(stream.headers.get("content-length"), null);
    assert.equal(stream.headers.get("transfer-encoding"), "chunked");
    const [empty] = await stream.first(1);
    assert.equal(stream.retry, 2_000);
    assert.deepEqual(empty, {
      id: "0-0",
      event: "snapshot",
      data: { environment: environment.name, revision: 0, at: null, flags: [] },
    });
    stream.close();

    await environment.admin("POST", "/flags", { key: "b", type: "rollout", percentage: 12.5 });
    await environment.admin("POST", "/flags", { key: "A", type: "boolean" });
    await environment.admin("PATCH", "/flags/A", { enabled: true, description: "ä\n\r\n: x" });
    const again = await follow(environment);
    const [snapshot] = await again.first(1);
    const data = dataOf(snapshot);
    assert.deepEqual(data, {
      environment: environment.name,
      revision: 3,
      at: data.at,
      flags: [
        { version: 2, flag: flag("A", { enabled: true, description: "ä\n\r\n: x" }) },
        { version: 1, flag: flag("b", { type: "rollout", percentage: 12.5 }) },
      ],
    });
    const at = new Date(String(data.at));
    assert.equal(at.toISOString(), data.at);
    assert.equal(snapshot?.id, `3-${at.getTime().toString(36)}`);
    again.close();
  });

  test("every change with its revision, its flag and its version, in order", async () => {
    const environment = await server.environment();
    const stream = await follow(environment);
    await stream.first(1);
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    await environment.admin("DELETE", "/flags/a");
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    const [, ...changes] = await stream.first(5);
    assert.deepEqual(
      changes.map(({ event, data }) => [event, { ...(data as object), at: undefined }]),
      [
        [1, 1, flag("a")],
        [2, 2, flag("a", { enabled: true })],
        [3, 3, null],
        [4, 4, flag("a")],
      ].map(([revision, version, after]) => [
        "change",
        { revision, version, key: "a", flag: after, at: undefined },
      ]),
    );
    for (const { id, data } of changes) {
      const { revision, at } = data as { revision: number; at: string };
      assert.equal(id, `${revision}-${new Date(at).getTime().toString(36)}`);
    }
    stream.close();
  });

  test("only its own environment", async () => {
    const [one, other] = [await server.environment(), await server.environment()];
    const stream = await follow(one);
    await stream.first(1);
    await other.admin("POST", "/flags", { key: "theirs", type: "boolean" });
    await one.admin("POST", "/flags", { key: "ours", type: "boolean" });
    const [, change] = await stream.first(2);
    assert.equal(dataOf(change).key, "ours");
    assert.equal(stream.events.length, 2);
    stream.close();
  });

  test("fifty readers get a hundred changes, each once and in order", async () => {
    const environment = await server.environment();
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow(environment)));
    await Promise.all(streams.map((stream) => stream.first(1)));
    const change = async (_: unknown, writer: number) => {
      for (let index = 0; index < 10; index += 1) {
        await environment.admin("POST", "/flags", { key: `f${writer}-${index}`, type: "boolean" });
      }
    };
    const changed = Array.from({ length: 10 }, change);
    // Some come while it goes on.
    const late = await Promise.all(Array.from({ length: 20 }, () => follow(environment)));
    await Promise.all(changed);
    for (const stream of [...streams, ...late]) {
      await until("the last revision", () => dataOf(stream.events.at(-1)).revision === 100);
      const revisions = stream.events.map(({ data }) => (data as { revision: number }).revision);
      const begin = revisions[0] ?? 0;
      assert.deepEqual(
        revisions,
        Array.from({ length: 101 - begin }, (_, index) => begin + index),
      );
      stream.close();
    }
  });
});

test("whatever changes in a large environment, a newcomer gets all of it, as a poller does", async () => {
  const environment = await server.environment();
  const keys = Array.from({ length: 300 }, (_, index) => `f${index}`);
  await Promise.all(
    keys.map((key) => environment.admin("POST", "/flags", { key, type: "boolean" })),
  );
  const changes: (() => Promise<unknown>)[] = [
    async () => undefined,
    () => environment.admin("PATCH", "/flags/f17", { description: "other" }),
    () => environment.admin("DELETE", "/flags/f0"),
    () => environment.admin("DELETE", "/flags/f299"),
    () => environment.admin("POST", "/flags", { key: "A-first", type: "boolean" }),
    () => environment.admin("POST", "/flags", { key: "z-last", type: "boolean" }),
    () => environment.admin("POST", "/flags", { key: "f150x", type: "boolean" }),
    () => Promise.all(keys.map((key) => environment.admin("DELETE", `/flags/${key}`))),
  ];
  for (const change of changes) {
    await change();
    const stream = await follow(environment);
    const [first] = await stream.first(1);
    stream.close();
    const flags = (await environment.admin("GET", "/flags")).body as { key: string }[];
    const sent = dataOf(first).flags as { flag: { key: string } }[];
    assert.deepEqual(
      sent.map(({ flag }) => flag),
      flags,
    );
    assert.deepEqual((await environment.admin("GET", "/snapshot")).body, first?.data);
  }
});

suite("a reader who comes back", () => {
  test("gets only what it has missed, at once", async () => {
    const environment = await server.environment();
    const first = await follow(environment);
    for (const key of ["a", "b", "c", "d"]) {
      await environment.admin("POST", "/flags", { key, type: "boolean" });
    }
    const ids = (await first.first(5)).map(({ id }) => id);
    first.close();
    for (const [known, missed] of [
      [1, ["b", "c", "d"]],
      [3, ["d"]],
      [0, ["a", "b", "c", "d"]],
    ] as const) {
      const again = await follow(environment, ids[known]);
      await again.first(missed.length);
      assert.deepEqual(
        again.events.map(({ event, data }) => [event, dataOf({ data } as StreamEvent).key]),
        missed.map((key) => ["change", key]),
      );
      again.close();
    }
  });

  test("who has missed nothing is told that it is connected, and then what changes", async () => {
    const environment = await server.environment();
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    const first = await follow(environment);
    const [snapshot] = await first.first(1);
    first.close();
    const again = await follow(environment, snapshot?.id);
    await until("a comment", () => again.comments > 0);
    assert.equal(again.events.length, 0);
    assert.equal(again.empty, 0, "nothing that a reader could take for an event");
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    const [change] = await again.first(1);
    assert.equal(change?.event, "change");
    again.close();
  });

  test("an id that is unknown, ahead, of another history or no id at all gives the whole", async () => {
    const environment = await server.environment();
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    const first = await follow(environment);
    const id = (await first.first(1))[0]?.id ?? "";
    first.close();
    const time = id.split("-")[1] ?? "";
    for (const strange of [
      `3-${time}`,
      `1-${time}`,
      "2-0",
      "2",
      "999999999999999-zzzzzzzz",
      "0-1",
      "-",
      `${id} `.repeat(3).trim(),
      "x".repeat(5_000),
    ]) {
      const again = await follow(environment, strange);
      const [snapshot] = await again.first(1);
      assert.equal(snapshot?.event, "snapshot", strange.slice(0, 50));
      assert.equal(snapshot?.id, id);
      again.close();
    }
  });
});
