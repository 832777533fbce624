// The stream of an environment for programs that show it themselves: what they receive, and how they control reconnects.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, type TestContext, test } from "node:test";
import {
  type AfterLoss,
  type EnvironmentChange,
  type EnvironmentSnapshot,
  type FollowEnvironment,
  followEnvironment,
} from "@halyard/sdk/follow-environment";
import { until } from "../../server/test/support/until.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  quick,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";

const follow = (
  context: TestContext,
  options: Partial<FollowEnvironment> & { readonly url: string },
) => {
  const stop = new AbortController();
  context.after(() => stop.abort());
  const snapshots: EnvironmentSnapshot[] = [];
  const changes: EnvironmentChange[] = [];
  const calls: string[] = [];
  const done = followEnvironment({
    timing: quick,
    signal: stop.signal,
    onSnapshot: (snapshot) => snapshots.push(snapshot),
    onChange: (change) => changes.push(change),
    onLive: () => calls.push("live"),
    onLost({ kind }) {
      calls.push(kind);
      return "retry";
    },
    ...options,
  });
  return { snapshots, changes, calls, done, stop: () => stop.abort() };
};

suite("following an environment", () => {
  test("snapshots and changes with version, level, revision and time", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(
          snapshotText("1-a", booleanFlag("a", true), { flag: booleanFlag("b", true), level: 2 }),
        );
        response.write(changeText("2-b", "b", { flag: booleanFlag("b", false), level: 3 }));
        response.write(changeText("3-c", "a", null));
      },
    });
    const { snapshots, changes, calls } = follow(t, {
      url: `${server.url}/`,
      headers: { authorization: "Bearer mine" },
    });
    await until("the changes", () => changes.length === 2);
    assert.deepEqual(snapshots, [
      {
        environment: "production",
        revision: 1,
        at: null,
        entries: [
          { kind: "flag", key: "a", version: 1, value: booleanFlag("a", true) },
          { kind: "flag", key: "b", version: 1, value: booleanFlag("b", true), level: 2 },
        ],
      },
    ]);
    const common = { kind: "flag", version: 2, revision: 2, at: null };
    assert.deepEqual(changes, [
      { ...common, key: "b", value: booleanFlag("b", false), level: 3 },
      { ...common, key: "a", value: null },
    ]);
    assert.deepEqual(calls, ["live"]);
    assert.equal(server.received[0]?.headers.authorization, "Bearer mine");
  });

  test("onLost and onLive are called once each, whatever arrives between them", async (t) => {
    let connections = 0;
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        connections += 1;
        if (connections === 2) return response.writeHead(503).end();
        openStream(response);
        if (connections === 1) return response.end(snapshotText("1-a", booleanFlag("a", true)));
        return response.write(`:\n\n:\n\n${changeText("2-b", "a", null)}`);
      },
    });
    const { changes, calls } = follow(t, { url: server.url });
    await until("the change", () => changes.length === 1);
    assert.deepEqual(calls, ["live", "over", "unreachable", "live"]);
  });

  test("an event of an unknown name moves the place at which the stream resumes", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response, { headers }) => {
        openStream(response);
        const id = headers["last-event-id"];
        // Without a snapshot its place is of no use: what came before it is not known.
        if (id === undefined && server.received.length === 1) {
          response.end("id: 7-x\nevent: weather\ndata: sunny\n\n");
        } else if (id === undefined) {
          response.write(snapshotText("8-a", booleanFlag("a", true)));
          response.end("id: 9-x\nevent: weather\ndata: rain\n\n");
        } else response.write("id: 10-x\nevent: weather\ndata: snow\n\n");
      },
    });
    const { calls } = follow(t, { url: server.url });
    await until("live again", () => calls.length === 4);
    assert.deepEqual(
      server.to(stream).map(({ headers }) => headers["last-event-id"]),
      [undefined, undefined, "9-x"],
    );
    assert.deepEqual(calls, ["over", "live", "over", "live"]);
  });

  test("onLost stops it, restarts it with a snapshot, or leaves it to the pauses", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.end(snapshotText("1-a", booleanFlag("a", true)));
      },
    });
    const answers: AfterLoss[] = ["retry", "restart", "stop"];
    const waits: number[] = [];
    const counts: number[] = [];
    const { done } = follow(t, {
      url: server.url,
      onLost(_outcome, failures) {
        counts.push(failures);
        return answers.shift() ?? "stop";
      },
      wait: async (milliseconds) => void waits.push(milliseconds),
    });
    assert.equal((await done)?.kind, "over");
    assert.deepEqual(
      server.to(stream).map(({ headers }) => headers["last-event-id"]),
      [undefined, "1-a", undefined],
    );
    assert.deepEqual(counts, [1, 2, 1]);
    assert.equal(waits.length, 1);
    assert.ok(waits.every((wait) => wait <= quick.minimumDelay));
  });

  test("a connection that its own signal ends is no loss, and the next one resumes", async (t) => {
    let response: ServerResponse | undefined;
    const server = await scriptedServer(t, {
      [stream]: (opened, { headers }) => {
        response = opened;
        openStream(opened);
        if (headers["last-event-id"] === undefined) {
          opened.write(snapshotText("1-a", booleanFlag("a", true)));
        } else opened.write(changeText("2-b", "a", null));
      },
    });
    const visible = Promise.withResolvers<void>();
    const connections: AbortController[] = [];
    const { snapshots, changes, calls, done, stop } = follow(t, {
      url: server.url,
      async connectionSignal() {
        if (connections.length === 1) await visible.promise;
        const connection = new AbortController();
        connections.push(connection);
        return connection.signal;
      },
    });
    await until("the snapshot", () => snapshots.length === 1);
    connections[0]?.abort();
    await until("the connection is closed", () => response?.destroyed === true);
    assert.equal(server.received.length, 1);
    visible.resolve();
    await until("the change", () => changes.length === 1);
    assert.deepEqual(calls, ["live"]);
    stop();
    assert.equal(await done, undefined);
  });
});
