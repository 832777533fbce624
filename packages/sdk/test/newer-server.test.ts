// A server that is newer than the client: what the client does not understand it never guesses, and never loses.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Cache, Client, Flag, Snapshot } from "@halyard/sdk";
import { until } from "../../server/test/support/until.ts";
import { clientOf } from "./support/clients.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  scriptedServer,
  sendJson,
  snapshotOf,
  snapshotText,
} from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";
const nowhere = "http://127.0.0.1:9";

const targeted = {
  ...booleanFlag("targeted", true),
  rules: [{ id: "staff", serve: "off" }],
} as unknown as Flag;
const strange = { key: "strange", type: "number", enabled: true, description: null, value: 3 };
const ofUnknownType = strange as unknown as Flag;

const assertNotEvaluated = (client: Client, key: string) => {
  for (const fallback of [true, false]) {
    assert.equal(client.isEnabled(key, {}, fallback), fallback);
    const { errorMessage, ...details } = client.details(key, {}, fallback);
    assert.deepEqual(details, { value: fallback, reason: "ERROR", errorCode: "GENERAL" });
    assert.match(errorMessage ?? "", /newer SDK/);
  }
};

suite("a newer server", () => {
  test("flags of an unknown level or type are known but not evaluated", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(
          snapshotText(
            "1-a",
            { flag: targeted, level: 3 },
            ofUnknownType,
            { flag: booleanFlag("first", true), level: 1 },
            booleanFlag("later", true),
          ),
        );
      },
    });
    const { client, errors } = clientOf(t, server.url);
    assert.deepEqual(await client.ready(), { ok: true });
    assertNotEvaluated(client, "targeted");
    assertNotEvaluated(client, "strange");
    assert.equal(client.isEnabled("first"), true);
    assert.deepEqual(client.flags(), [
      { ...booleanFlag("first", true), level: 1 },
      booleanFlag("later", true),
      strange,
      { ...targeted, level: 3 },
    ]);
    assert.deepEqual(errors(), []);
  });

  test("a change takes a flag to an unknown level and back", async (t) => {
    const level2 = Promise.withResolvers<void>();
    const server = await scriptedServer(t, {
      [stream]: async (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", true)));
        response.write(changeText("2-b", "a", { flag: booleanFlag("a", true), level: 3 }));
        await level2.promise;
        response.write(changeText("3-c", "a", booleanFlag("a", true)));
      },
    });
    const { client, changed } = clientOf(t, server.url);
    await until("level 2", () => client.details("a").errorCode === "GENERAL");
    assertNotEvaluated(client, "a");
    level2.resolve();
    await until("level 1", () => client.isEnabled("a"));
    assert.deepEqual(changed(), ["a", "a"]);
  });

  test("unknown members at a known level are ignored and kept", async (t) => {
    const tagged = { ...booleanFlag("a", true), tags: ["x"] };
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", tagged));
      },
    });
    const { client } = clientOf(t, server.url);
    assert.deepEqual(await client.ready(), { ok: true });
    assert.deepEqual(client.details("a"), { value: true, variant: "on", reason: "STATIC" });
    assert.deepEqual(client.flags(), [tagged]);
  });

  test("a member whose value this version does not know is not evaluated", async (t) => {
    const flag = { ...booleanFlag("a", true), type: "rollout", percentage: "half" };
    const { client } = clientOf(t, nowhere, { bootstrap: [flag as unknown as Flag] });
    assertNotEvaluated(client, "a");
  });

  test("events of unknown names are passed over", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write("event: weather\ndata: sunny\n\n");
        response.write(snapshotText("1-a", booleanFlag("a", false)));
        response.write('id: 2-b\nevent: segment\ndata: {"key":"beta","segment":null}\n\n');
        response.write(changeText("3-c", "a", booleanFlag("a", true)));
      },
    });
    const { client, errors } = clientOf(t, server.url);
    await until("the change", () => client.isEnabled("a"));
    assert.equal(server.received.length, 1);
    assert.deepEqual(errors(), []);
  });

  test("polls carry levels, and lists of unknown kinds are passed over", async (t) => {
    const snapshot = snapshotOf({ flag: targeted, level: 3 }, booleanFlag("a", true));
    const server = await scriptedServer(t, {
      "GET /api/v1/snapshot": (response) =>
        sendJson(response, 200, { ...snapshot, segments: [{ version: 1, segment: {} }] }),
    });
    const { client } = clientOf(t, server.url, { streaming: false });
    assert.deepEqual(await client.ready(), { ok: true });
    assertNotEvaluated(client, "targeted");
    assert.equal(client.isEnabled("a"), true);
  });
});

suite("levels before the server answers", () => {
  const entries = [{ flag: targeted, level: 3 }, booleanFlag("a", true)] as const;

  test("a bootstrap carries them, as a snapshot or as flags() gave it", (t) => {
    const first = clientOf(t, nowhere, { bootstrap: snapshotOf(...entries) as Snapshot });
    const list = JSON.parse(JSON.stringify(first.client.flags())) as Flag[];
    const second = clientOf(t, nowhere, { bootstrap: list });
    for (const { client } of [first, second]) {
      assertNotEvaluated(client, "targeted");
      assert.equal(client.isEnabled("a"), true);
    }
    const { client } = clientOf(t, nowhere, { bootstrap: {} as Snapshot });
    assert.equal(client.details("a").errorCode, "FLAG_NOT_FOUND");
  });

  test("a cache carries them, and one of the first format still loads", async (t) => {
    const server = await scriptedServer(t, {
      [stream]: (response) => {
        openStream(response);
        response.write(snapshotText("1-a", ...entries));
      },
    });
    let kept: string | undefined;
    const cache: Cache = {
      load: () => Promise.resolve(kept),
      save: async (text) => {
        kept = text;
      },
    };
    const first = clientOf(t, server.url, { cache });
    await first.client.ready();
    await first.client.close();
    const second = clientOf(t, nowhere, { cache });
    await until("the kept flags", () => second.client.isEnabled("a"));
    assertNotEvaluated(second.client, "targeted");
    await second.client.close();

    assert.equal((JSON.parse(kept ?? "") as { format: unknown }).format, 2);
    kept = JSON.stringify({ format: 1, flags: [booleanFlag("old", true)] });
    const third = clientOf(t, nowhere, { cache });
    await until("the old flags", () => third.client.isEnabled("old"));
  });
});
