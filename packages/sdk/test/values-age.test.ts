// What a client says about its values: how changes arrive, and when the server last confirmed them.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  type ScriptedServer,
  scriptedServer,
  sendJson,
  snapshotOf,
  snapshotText,
} from "./support/scripted-server.ts";

const snapshot = "GET /api/v1/snapshot";

/** Of the flags of an environment, with the streams that are open. */
const flagServer = async (t: Parameters<typeof scriptedServer>[0]) => {
  const open = new Set<ServerResponse>();
  const server = await scriptedServer(t, {
    "GET /api/v1/stream": (response) => {
      openStream(response);
      open.add(response);
      response.on("close", () => open.delete(response));
      response.write(snapshotText("1-a", booleanFlag("a", true)));
    },
    [snapshot]: (response) => sendJson(response, 200, snapshotOf(booleanFlag("a", true))),
  });
  return { ...server, open };
};

interface Case {
  readonly name: string;
  readonly create: typeof clientOf | typeof contextClientOf;
  readonly serve: (
    t: Parameters<typeof scriptedServer>[0],
  ) => Promise<ScriptedServer & { readonly open: ReadonlySet<ServerResponse> }>;
  /** The request that polls. */
  readonly poll: string;
}
const cases: readonly Case[] = [
  { name: "createClient", create: clientOf, serve: flagServer, poll: snapshot },
  { name: "createContextClient", create: contextClientOf, serve: bulkServer, poll: bulk },
];

for (const { name, create, serve, poll } of cases) {
  suite(name, () => {
    test("has no transport and no age before the server has answered", async (t) => {
      const { client } = create(t, "http://127.0.0.1:9");
      assert.deepEqual([client.transport, client.valuesAge], [undefined, undefined]);
    });

    test("streams; data of the stream confirms the values, and its end starts an age that grows", async (t) => {
      const server = await serve(t);
      const { client } = create(t, server.url);
      await until("the stream", () => client.transport === "stream");
      await until("an age", () => (client.valuesAge ?? 0) > 100);
      await until("a confirmation", () => {
        for (const response of server.open) response.write(":\n\n");
        return (client.valuesAge ?? 100) < 100;
      });
      await server.stop();
      await until("stale", () => client.state === "stale");
      assert.equal(client.transport, undefined);
      await until("an age", () => (client.valuesAge ?? 0) > 100);
    });

    test("polls, and each poll confirms the values", async (t) => {
      const server = await serve(t);
      const { client } = create(t, server.url, { streaming: false });
      await until("live", () => client.state === "live");
      assert.equal(client.transport, "poll");
      assert.equal(typeof client.valuesAge, "number");
      const polls = server.to(poll).length;
      await until("several polls", () => server.to(poll).length > polls + 2);
      assert.equal(client.transport, "poll");
    });

    test("is not live after its process was suspended, until the values are confirmed", async (t) => {
      const server = await serve(t);
      const timing = { silence: 50, requestTimeout: 50 };
      const { client } = create(t, server.url, { streaming: false, timing });
      await until("live", () => client.state === "live");
      // Neither timers nor responses get through meanwhile.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      assert.deepEqual([client.state, client.transport], ["stale", undefined]);
      await until("live again", () => client.state === "live");
    });
  });
}
