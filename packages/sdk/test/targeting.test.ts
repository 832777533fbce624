// The client with rules, segments, requirements and variants: what it answers, and which flags it says have changed.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, suite, test } from "node:test";
import type { Cache, Client, Flag, Snapshot } from "@halyard/sdk";
import {
  createManagement,
  type Management,
  type Result,
  type Segment,
} from "@halyard/sdk/management";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { clientOf } from "./support/clients.ts";
import { openStream, scriptedServer, sendJson, snapshotOf } from "./support/scripted-server.ts";

const stream = "GET /api/v1/stream";
const nowhere = "http://127.0.0.1:9";
const ann = { targetingKey: "ann" };
const bob = { targetingKey: "bob" };

const done = async <T>(result: Promise<Result<T>>): Promise<T> => {
  const settled = await result;
  assert.ok(settled.ok, JSON.stringify(settled));
  return settled.value;
};
const inPlan = (plan: string) => ({ attribute: "plan", op: "in", values: [plan] });
const ofBeta = { id: "of-beta", when: { segment: ["beta"] }, serve: "on" };

/** `base` is on for the segment, `top` requires it, `far` requires `top`. */
const flagsOfBeta = [
  { key: "base", type: "boolean", rules: [ofBeta], otherwise: "off" },
  { key: "top", type: "boolean", requires: [{ flag: "base", variant: "on" }] },
  { key: "far", type: "boolean", requires: [{ flag: "top", variant: "on" }] },
  { key: "apart", type: "boolean" },
] as const;

const makeFlagsOfBeta = async ({ segments, flags }: Management): Promise<void> => {
  await done(segments.create({ key: "beta", include: ["ann"] }));
  for (const flag of flagsOfBeta) {
    await done(flags.create(flag));
    await done(flags.update(flag.key, { enabled: true }));
  }
};

suite("a started server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());
  const setUp = async () => {
    const { keys } = await server.environment();
    return { keys, management: createManagement({ url: server.url, key: keys.admin }) };
  };

  for (const streaming of [true, false]) {
    test(`segments and requirements, ${streaming ? "by the stream" : "by polling"}`, async (t) => {
      const { keys, management } = await setUp();
      const { flags, segments } = management;
      await makeFlagsOfBeta(management);
      const { client, emitted, errors } = clientOf(t, server.url, { key: keys.server, streaming });
      assert.deepEqual(await client.ready(), { ok: true });
      const matched = { value: true, variant: "on", reason: "TARGETING_MATCH", rule: "of-beta" };
      const unmatched = { value: false, variant: "off", reason: "DEFAULT" };
      const notMet = { value: false, variant: "off", reason: "PREREQUISITE_FAILED" };
      assert.deepEqual(client.details("base", ann), matched);
      assert.deepEqual(client.details("base", bob), unmatched);
      assert.deepEqual(client.details("top", bob), notMet);
      assert.equal(client.isEnabled("far", ann), true);

      /** The keys of every change since the last call, once this holds. */
      const changedUntil = async (what: string, holds: () => boolean) => {
        await until(what, holds);
        return emitted
          .splice(0)
          .flatMap(({ name, event }) => (name === "change" ? event.keys : []));
      };
      emitted.splice(0);
      const members = { include: { add: ["bob"], remove: ["ann"] } };
      await done(segments.changeMembers("beta", members));
      assert.deepEqual(
        (await changedUntil("bob is in", () => client.isEnabled("base", bob))).toSorted(),
        ["base", "far", "top"],
      );
      assert.deepEqual(client.details("base", ann), unmatched);
      assert.equal(client.isEnabled("far", bob), true);

      await done(segments.changeMembers("beta", { exclude: { add: ["bob"] } }));
      await changedUntil("bob is out", () => !client.isEnabled("far", bob));
      await done(segments.update("beta", { when: inPlan("pro") }));
      await changedUntil("pro is in", () => client.isEnabled("base", { ...ann, plan: "pro" }));
      assert.equal(client.isEnabled("base", { ...bob, plan: "pro" }), false);

      await done(flags.update("base", { rules: null }));
      const keysOfBase = await changedUntil("without rules", () => client.isEnabled("far", {}));
      assert.deepEqual(keysOfBase.toSorted(), ["base", "far", "top"]);
      await done(segments.delete("beta"));
      await done(segments.create({ key: "beta", include: ["zoe"] }));
      await done(flags.update("base", { rules: [ofBeta], otherwise: "off" }));
      const zoe = { targetingKey: "zoe" };
      await changedUntil("anew", () => client.details("base", zoe).rule === "of-beta");
      assert.equal(client.isEnabled("base", bob), false, "nothing is left of the old list");
      assert.deepEqual(errors(), []);
    });
  }

  test("variants of every type, and fallbacks of another", async (t) => {
    const { keys, management } = await setUp();
    const { flags } = management;
    const make = async (
      key: string,
      valueType: "string" | "number" | "object",
      ...values: never[]
    ) => {
      const [small, large] = values;
      const variants = { small, large } as never;
      const rules = [{ id: "pro", when: inPlan("pro"), serve: "large" }];
      const off = "small";
      await done(
        flags.create({ key, type: "variant", valueType, variants, off, otherwise: off, rules }),
      );
      await done(flags.update(key, { enabled: true }));
    };
    await make("size", "string", ...(["S", "L"] as never[]));
    await make("limit", "number", ...([1, 9] as never[]));
    await make("layout", "object", ...([{ columns: 1 }, { columns: 3 }] as never[]));
    const { client } = clientOf(t, server.url, { key: keys.server });
    assert.deepEqual(await client.ready(), { ok: true });
    const pro = { plan: "pro" };
    assert.equal(client.stringValue("size", pro, "?"), "L");
    assert.equal(client.stringValue("size", {}, "?"), "S");
    assert.equal(client.numberValue("limit", pro, 0), 9);
    assert.deepEqual(client.objectValue("layout", pro, { columns: 0 }), { columns: 3 });
    const details: { readonly value: string } = client.details("size", pro, "?");
    assert.deepEqual(details, {
      value: "L",
      variant: "large",
      reason: "TARGETING_MATCH",
      rule: "pro",
    });
    for (const wrong of [
      client.details("size", pro, 7),
      client.details("limit", pro, "?"),
      client.details("layout", pro, "?"),
      client.details("layout", pro),
    ]) {
      assert.deepEqual([wrong.reason, wrong.errorCode], ["ERROR", "TYPE_MISMATCH"]);
      assert.ok(["?", 7, false].includes(wrong.value));
    }
    assert.equal(client.isEnabled("size", pro, true), true);
    assert.equal(client.numberValue("size", pro, 7), 7);
    assert.equal(client.stringValue("missing", pro, "?"), "?");
  });

  test("a bootstrap and a cache carry segments", async (t) => {
    const { keys, management } = await setUp();
    await makeFlagsOfBeta(management);
    const { body } = await server.api(keys.server)("GET", "/snapshot");
    let kept: string | undefined;
    const cache: Cache = {
      load: () => Promise.resolve(kept),
      save: async (text) => {
        kept = text;
      },
    };
    const first = clientOf(t, server.url, { key: keys.server, cache, bootstrap: body as Snapshot });
    const check = (client: Client) =>
      assert.deepEqual([client.isEnabled("far", ann), client.isEnabled("far", bob)], [true, false]);
    check(first.client);
    await first.client.ready();
    assert.deepEqual(first.changed(), [], "the server has nothing else");
    await done(management.segments.changeMembers("beta", { include: { add: ["eve"] } }));
    const eve = { targetingKey: "eve" };
    await until("eve is in", () => first.client.isEnabled("far", eve));
    await first.client.close();

    const second = clientOf(t, nowhere, { cache, bootstrap: body as Snapshot });
    check(second.client);
    await until("the kept segment", () => second.client.isEnabled("far", eve));
    assert.deepEqual(second.changed().toSorted(), ["base", "far", "top"]);
    // What something else has written may be anything.
    const { format, flags } = JSON.parse(kept ?? "") as { format: number; flags: Flag[] };
    const odd = [
      { requires: [null, 7] },
      { rules: [null] },
      { rules: [{ when: 7 }] },
      { rules: 7 },
    ];
    const oddFlags = odd.map((part, index) => ({
      ...{ key: `odd-${index}`, type: "boolean", enabled: true, description: null },
      ...{ otherwise: "on", level: 2, ...part },
    }));
    const lists = { include: [], exclude: [] };
    for (const beta of [
      7,
      null,
      ann,
      lists,
      { ...lists, when: { all: 7 } },
      { ...lists, when: 7 },
    ]) {
      const segments = [beta === null || beta === 7 ? beta : { ...(beta as object), key: "beta" }];
      kept = JSON.stringify({ format, flags: [...flags, ...oddFlags], segments });
      const third = clientOf(t, nowhere, { cache, bootstrap: body as Snapshot });
      await until("the kept flags", () => third.changed().includes("odd-0"));
      assert.equal(third.client.isEnabled("base", ann, true), false);
      assert.equal(third.client.isEnabled("apart"), true);
      for (const { key } of oddFlags) assert.equal(third.client.isEnabled(key, ann), false, key);
    }
  });
});

suite("a scripted stream", () => {
  const beta: Segment = {
    key: "beta",
    description: null,
    include: ["ann"],
    exclude: [],
    when: null,
  };
  const flag = { key: "base", description: null, type: "boolean", enabled: true } as const;
  const base = { flag: { ...flag, rules: [ofBeta], otherwise: "off" } as Flag, level: 2 };
  const snapshot = { ...snapshotOf(base), segments: [{ version: 1, segment: beta }] };
  const snapshotEvent = `id: 1-a\nevent: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`;
  const segmentEvent = (id: string, added: string[], removed: string[]) => {
    const { key, description, when } = beta;
    const counts = { include: 1, exclude: 0 };
    const segment = { key, description, when, counts, include: { added, removed } };
    const data = { revision: 2, at: null, key, version: 2, segment };
    return `id: ${id}\nevent: segment\ndata: ${JSON.stringify(data)}\n\n`;
  };

  test("changes of a list that are missed are made up on resumption", async (t) => {
    let first: ServerResponse | undefined;
    const server = await scriptedServer(t, {
      [stream]: (response, { headers }) => {
        openStream(response);
        if (headers["last-event-id"] === undefined) {
          first = response;
          response.write(snapshotEvent);
        } else response.write(segmentEvent("3-c", ["eve"], ["bob"]));
      },
    });
    const { client, changed } = clientOf(t, server.url);
    await client.ready();
    first?.write(segmentEvent("2-b", ["bob"], []));
    await until("bob is in", () => client.isEnabled("base", bob));
    first?.end();
    await until("eve is in", () => client.isEnabled("base", { targetingKey: "eve" }));
    assert.equal(server.to(stream)[1]?.headers["last-event-id"], "2-b");
    assert.equal(client.isEnabled("base", bob), false);
    assert.equal(client.isEnabled("base", ann), true, "as the snapshot had it");
    assert.deepEqual(changed(), ["base", "base"]);
  });

  test("a snapshot replaces every list, and one without segments leaves none", async (t) => {
    let sent: object = snapshot;
    const server = await scriptedServer(t, {
      "GET /api/v1/snapshot": (response) => sendJson(response, 200, sent),
    });
    const { client, changed } = clientOf(t, server.url, { streaming: false });
    await client.ready();
    sent = { ...snapshot, segments: [{ version: 2, segment: { ...beta, include: ["bob"] } }] };
    await until("bob is in", () => client.isEnabled("base", bob));
    assert.equal(client.isEnabled("base", ann), false);
    assert.deepEqual(changed(), ["base"]);
    sent = snapshotOf(base);
    await until("the segment is empty", () => !client.isEnabled("base", bob));
    assert.deepEqual(changed(), ["base", "base"]);
    const polls = server.received.length;
    await until("two more polls", () => server.received.length > polls + 1);
    assert.deepEqual(changed(), ["base", "base"], "nothing has changed since");
  });

  test("a requirement that is gone, or of a newer level, is not met", async (t) => {
    const top = { ...flag, key: "top", requires: [{ flag: "base", variant: "on" }] };
    const entries = (level: number) => [
      { flag: base.flag, level },
      { flag: top, level: 2 },
    ];
    for (const flags of [entries(3), entries(2).slice(1)]) {
      const { client } = clientOf(t, nowhere, {
        bootstrap: { flags, segments: [{ segment: beta }] } as Snapshot,
      });
      assert.equal(client.details("top", ann).reason, "PREREQUISITE_FAILED");
    }
  });
});
