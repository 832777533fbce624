// An SDK from before targeting on the present server, and the present SDK on a server from before targeting.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import * as present from "@halyard/sdk";
import * as presentPage from "@halyard/sdk/browser";
import { createManagement, type Flag, type Result } from "@halyard/sdk/management";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { bulk } from "./support/bulk-server.ts";
import { clientOf, contextClientOf, key } from "./support/clients.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  quick,
  scriptedServer,
  sendJson,
  snapshotOf,
  snapshotText,
} from "./support/scripted-server.ts";

type Clients = Pick<typeof present, "createClient"> &
  Pick<typeof presentPage, "createContextClient">;
const file = new URL("./fixtures/sdk-before-targeting.js", import.meta.url);
const old = (await import(file.href)) as Clients;

const done = async <T>(result: Promise<Result<T>>): Promise<T> => {
  const settled = await result;
  assert.ok(settled.ok, JSON.stringify(settled));
  return settled.value;
};
const pro = { attribute: "plan", op: "in", values: ["pro"] };
const people = Array.from({ length: 100 }, (_, index) => ({ targetingKey: `user-${index}` }));

suite("an old SDK on the present server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  /** Four flags without targeting, and one for each of its parts. */
  const setUp = async () => {
    const { keys } = await server.environment();
    const { flags, segments } = createManagement({ url: server.url, key: keys.admin });
    await done(segments.create({ key: "beta", include: ["user-1"] }));
    const rule = { id: "pro", when: pro, serve: "on" };
    const inBeta = { id: "beta", when: { segment: ["beta"] }, serve: "on" };
    const plain = [
      { key: "on", type: "boolean" },
      { key: "off", type: "boolean" },
      { key: "half", type: "rollout", percentage: 50 },
      { key: "tagged", type: "rollout", percentage: 12.5, tags: ["shop"], owner: "team" },
    ] as const;
    const targeted = [
      { key: "rules", type: "boolean", rules: [rule], otherwise: "on" },
      { key: "segment", type: "rollout", percentage: 100, rules: [inBeta] },
      { key: "requires", type: "boolean", requires: [{ flag: "off", variant: "on" }] },
      { key: "seeded", type: "rollout", percentage: 50, bucketSeed: "half" },
      { key: "by", type: "rollout", percentage: 50, bucketBy: "company" },
    ] as const;
    const variants = { small: "S", large: "L" };
    const size = {
      key: "size",
      type: "variant",
      valueType: "string",
      variants,
      off: "small",
      otherwise: "large",
    } as const;
    for (const flag of [...plain, ...targeted, size]) {
      await done(flags.create(flag));
      if (flag.key !== "off") await done(flags.update(flag.key, { enabled: true }));
    }
    return {
      keys,
      flags,
      segments,
      plain: plain.map((flag) => flag.key),
      targeted: [...targeted.map((flag) => flag.key), size.key],
    };
  };

  const assertNewerNeeded = (client: present.Client, name: string) => {
    for (const fallback of [true, false]) {
      const context = { targetingKey: "user-1", plan: "pro", company: "acme" };
      assert.equal(client.isEnabled(name, context, fallback), fallback);
      const { errorMessage, ...details } = client.details(name, context, fallback);
      const expected = { value: fallback, reason: "ERROR", errorCode: "GENERAL" };
      assert.deepEqual(details, expected, name);
      assert.match(errorMessage ?? "", /newer SDK/);
    }
  };

  for (const streaming of [true, false]) {
    test(`gives the same values or its fallback, ${streaming ? "by the stream" : "by polling"}`, async (t) => {
      const { keys, flags, segments, plain, targeted } = await setUp();
      const options = {
        url: server.url,
        key: keys.server,
        reportUsage: false,
        streaming,
        timing: quick,
      };
      let kept: string | undefined;
      const cache: present.Cache = {
        load: () => Promise.resolve(kept),
        save: async (text) => {
          kept = text;
        },
      };
      const before = old.createClient(options);
      const now = present.createClient({ ...options, cache });
      t.after(() => Promise.all([before.close(), now.close()]));
      const errors: string[] = [];
      before.on("error", ({ error }) => errors.push(error.message));
      assert.deepEqual([await before.ready(), await now.ready()], [{ ok: true }, { ok: true }]);
      const assertSame = (client: present.Client) => {
        for (const name of plain) {
          for (const context of people) {
            assert.deepEqual(client.details(name, context), now.details(name, context));
          }
        }
        for (const name of targeted) assertNewerNeeded(client, name);
      };
      assertSame(before);
      assert.equal(now.stringValue("size", {}, "?"), "L");

      // Changes of segments are nothing to it, and those of flags go on arriving.
      await done(segments.changeMembers("beta", { include: { add: ["user-2"] } }));
      await done(flags.update("off", { enabled: true }));
      await until("the change", () => before.isEnabled("off"));
      assertNewerNeeded(before, "requires");
      await done(flags.update("on", { rules: [{ when: pro, serve: "off" }], otherwise: "on" }));
      await until("out of its reach", () => before.details("on").errorCode === "GENERAL");
      assertNewerNeeded(before, "on");
      await done(flags.update("on", { rules: null, description: "as before" }));
      await until("back", () => before.isEnabled("on"));
      assert.deepEqual(errors, []);

      // What the present SDK keeps, the old one reads.
      await until("kept", () => kept?.includes("as before"));
      await Promise.all([before.close(), now.close()]);
      const offline = old.createClient({ url: "http://127.0.0.1:9", key, cache, log: false });
      t.after(() => offline.close());
      await until("the kept flags", () => offline.isEnabled("on"));
      assertSame(offline);
    });
  }

  test("the page's client gets the server's values, and its fallback for what is no boolean", async (t) => {
    const { keys, plain } = await setUp();
    const options = { url: server.url, reportUsage: false, timing: quick };
    const context = { targetingKey: "user-1", plan: "pro", company: "acme" };
    const pages = [old, presentPage].map(({ createContextClient }) =>
      createContextClient({ ...options, key: keys.client, context }),
    );
    t.after(() => Promise.all(pages.map((client) => client.close())));
    const [before, now] = pages;
    assert.ok(before && now);
    assert.deepEqual([await before.ready(), await now.ready()], [{ ok: true }, { ok: true }]);
    for (const name of [...plain, "rules", "segment", "requires", "seeded", "by"]) {
      assert.equal(before.isEnabled(name), now.isEnabled(name), name);
      assert.equal(before.details(name).errorCode, undefined);
    }
    assert.equal(before.details("size").errorCode, "TYPE_MISMATCH");
    assert.equal(before.isEnabled("size", true), true);
  });
});

suite("the present SDK on an old server", () => {
  const half: Flag = { ...booleanFlag("half", true), type: "rollout", percentage: 50 };

  test("a stream and polls without levels and segments", async (t) => {
    const flags = [booleanFlag("a", false), half];
    const server = await scriptedServer(t, {
      "GET /api/v1/stream": (response) => {
        openStream(response);
        response.write(snapshotText("1-a", ...flags));
        response.write(changeText("2-b", "a", booleanFlag("a", true)));
      },
      "GET /api/v1/snapshot": (response) => sendJson(response, 200, snapshotOf(...flags)),
    });
    const streamed = clientOf(t, server.url);
    const polled = clientOf(t, server.url, { streaming: false });
    await Promise.all([streamed.client.ready(), polled.client.ready()]);
    await until("the change", () => streamed.client.isEnabled("a"));
    for (const { client } of [streamed, polled]) {
      const before = old.createClient({ url: server.url, key, bootstrap: flags, log: false });
      t.after(() => before.close());
      for (const context of people) {
        assert.deepEqual(client.details("half", context), before.details("half", context));
      }
      assert.equal(client.details("half", {}).errorCode, "TARGETING_KEY_MISSING");
      assert.equal(client.stringValue("a", {}, "?"), "?");
    }
    assert.deepEqual([...streamed.errors(), ...polled.errors()], []);
  });

  test("values of a context without metadata", async (t) => {
    const server = await scriptedServer(t, {
      [bulk]: (response) =>
        sendJson(response, 200, {
          flags: [
            { key: "a", value: true, variant: "on", reason: "STATIC" },
            { key: "b", value: false, variant: "off", reason: "DISABLED" },
          ],
        }),
    });
    const { client } = contextClientOf(t, server.url);
    await client.ready();
    assert.deepEqual(client.details("a"), { value: true, variant: "on", reason: "STATIC" });
    assert.deepEqual(client.details("b"), { value: false, variant: "off", reason: "DISABLED" });
  });
});
