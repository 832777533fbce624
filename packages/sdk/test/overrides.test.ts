// Overrides for tests and local development: with a server, and in a client without one.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type ClientOptions, createClient, type Flag, type Snapshot } from "@halyard/sdk";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { OpenFeature } from "@openfeature/server-sdk";
import { until } from "../../server/test/support/until.ts";
import { clientOf, key } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";

const sizes: Flag = {
  key: "size",
  type: "variant",
  enabled: true,
  description: null,
  valueType: "object",
  variants: { small: { px: 1 }, large: { px: 9 } },
  off: "small",
  otherwise: "small",
};
const top: Flag = {
  ...booleanFlag("top", true),
  requires: [
    { flag: "a", variant: "on" },
    { flag: "size", variant: "large" },
  ],
};

suite("with a server", () => {
  test("an override applies before the server answers and after, and can be taken back", async (t) => {
    const usage = "POST /api/v1/usage";
    const server = await scriptedServer(t, {
      "GET /api/v1/stream": (response) => {
        openStream(response);
        response.write(snapshotText("1-a", booleanFlag("a", false), { flag: sizes, level: 2 }));
      },
      [usage]: (response) => response.writeHead(204).end(),
    });
    const { client, changed } = clientOf(t, server.url, {
      overrides: { a: true, "no-such-flag": "text" },
      reportUsage: true,
    });
    const overridden = { value: true, variant: "on", reason: "STATIC", overridden: true };
    assert.deepEqual(client.details("a"), overridden);
    await client.ready();
    assert.deepEqual(client.details("a"), overridden);
    assert.equal(client.isEnabled("a"), true);
    const text = { value: "text", reason: "STATIC", overridden: true };
    assert.deepEqual(client.details("no-such-flag", {}, ""), text);
    assert.equal(client.details("no-such-flag").errorCode, "TYPE_MISMATCH");
    assert.equal(client.isEnabled("no-such-flag", {}, true), true);
    assert.deepEqual(
      client.flags().map((flag) => flag.key),
      ["a", "size"],
      "the server's flags alone",
    );

    assert.deepEqual(changed(), []);
    client.override("a", undefined);
    assert.equal(client.details("a").reason, "DISABLED");
    client.override("size", { px: 9 });
    assert.equal(client.details("size", {}, {}).variant, "large");
    client.override("size", { px: 9 });
    client.override("size", { px: 4 });
    assert.deepEqual(client.objectValue("size", {}, {}), { px: 4 });
    assert.equal(client.details("size", {}, {}).variant, undefined);
    client.override("missing", undefined);
    assert.deepEqual(changed(), ["a", "size", "size"]);
    await client.close();
    const [report] = server.to(usage);
    assert.deepEqual(JSON.parse(report?.body ?? ""), {
      evaluations: [{ key: "a", on: 0, off: 1 }],
    });
  });
});

suite("without a server", () => {
  test("it is ready at once, makes no request, and answers from overrides and bootstrap", async (t) => {
    t.mock.method(globalThis, "fetch", () => assert.fail("a request"));
    const flags = [
      { flag: booleanFlag("a", false) },
      { flag: sizes, level: 2 },
      { flag: top, level: 2 },
    ];
    const client = createClient({ overrides: { b: true, n: 7 }, bootstrap: { flags } as Snapshot });
    assert.equal(client.isEnabled("b"), true);
    assert.equal(client.numberValue("n", {}, 0), 7);
    assert.equal(client.details("a").reason, "DISABLED");
    assert.equal(client.details("missing").errorCode, "FLAG_NOT_FOUND");
    const heard: string[] = [];
    client.on("ready", () => heard.push("ready"));
    client.on("change", ({ keys }) => heard.push(...keys));
    assert.deepEqual(await client.ready(), { ok: true });
    assert.equal(client.state, "live");
    assert.equal(client.error, undefined);
    assert.deepEqual([client.transport, client.valuesAge], [undefined, undefined]);

    // Flags that require an overridden one see the override.
    assert.equal(client.details("top").reason, "PREREQUISITE_FAILED");
    client.override("a", true);
    client.override("size", { px: 9 });
    assert.equal(client.isEnabled("top"), true);
    await until("all", () => heard.length >= 5);
    assert.deepEqual(heard, ["ready", "a", "top", "size", "top"]);
    await client.close();
    assert.equal(client.isEnabled("top"), true);
  });

  test("strict throws at a key that is neither in overrides nor in bootstrap", async () => {
    const client = createClient({
      overrides: { b: true, n: 7 },
      bootstrap: [booleanFlag("a", false)],
      strict: true,
    });
    assert.equal(client.isEnabled("a"), false);
    assert.equal(client.isEnabled("b"), true);
    assert.deepEqual(client.values({}), { a: false, b: true, n: 7 });
    assert.equal(client.details("n").errorCode, "TYPE_MISMATCH");
    const unlisted =
      /^Error: The flag "missing" is neither in overrides nor in bootstrap \(strict\)\.$/;
    for (const evaluate of [
      () => client.isEnabled("missing", {}, true),
      () => client.stringValue("missing", {}, "text"),
      () => client.numberValue("missing", {}, 1),
      () => client.objectValue("missing", {}, {}),
      () => client.details("missing"),
      () => client.values({}, ["a", "missing"]),
    ]) {
      assert.throws(evaluate, unlisted);
    }
    client.override("missing", true);
    assert.equal(client.isEnabled("missing"), true);
    client.override("missing", undefined);
    assert.throws(() => client.isEnabled("missing"), unlisted);
    await client.close();
    const loose = createClient({ overrides: {}, strict: false });
    assert.equal(loose.isEnabled("missing", {}, true), true);
    await loose.close();
  });

  test("strict is refused where there is a server", () => {
    assert.throws(
      () => createClient({ url: "http://127.0.0.1:9", key, strict: true } as ClientOptions),
      /^TypeError: strict is for tests without a server/,
    );
  });

  test("an address that is missing by mistake is still named", () => {
    const bad: object[] = [
      {},
      { url: undefined, key: undefined, overrides: {} },
      { key, overrides: {} },
      { url: "http://127.0.0.1:9", overrides: {} },
      { log: false },
    ];
    for (const options of bad) {
      assert.throws(() => createClient(options as ClientOptions), /(url|key) must be/);
    }
  });

  test("the type of the options wants url and key, or neither", () => {
    const both: ClientOptions = { url: "http://127.0.0.1:9", key };
    const neither: ClientOptions = { overrides: {} };
    // @ts-expect-error the key is missing
    const noKey: ClientOptions = { url: "http://127.0.0.1:9" };
    // @ts-expect-error the url is missing
    const noUrl: ClientOptions = { key, overrides: {} };
    assert.equal([both, neither, noKey, noUrl].length, 4);
  });

  test("the OpenFeature provider takes overrides alone", async (t) => {
    t.after(() => OpenFeature.close());
    const overrides = { "new-checkout": true, "button-size": "large" };
    await OpenFeature.setProviderAndWait(new HalyardProvider({ overrides }));
    const client = OpenFeature.getClient();
    const { value, variant, reason, flagMetadata } = await client.getBooleanDetails(
      "new-checkout",
      false,
    );
    assert.deepEqual([value, variant, reason], [true, "on", "STATIC"]);
    assert.deepEqual(flagMetadata, { overridden: true });
    assert.equal(await client.getStringValue("button-size", "small"), "large");
  });
});
