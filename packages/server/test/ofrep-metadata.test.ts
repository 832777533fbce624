// What telemetry needs to join an evaluation with the history: over OFREP only when it is asked for, in the providers always.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createContextClient } from "@halyard/sdk/browser";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { createEvaluationEvent, type Hook, OpenFeature } from "@openfeature/server-sdk";
import { OpenFeature as WebSide } from "@openfeature/web-sdk";
import type { Api } from "./support/api.ts";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let plain: TestServer;
let telling: TestServer;
before(async () => {
  plain = await startTestServer();
  telling = await startTestServer({ HALYARD_OFREP_METADATA: "on" });
});
after(async () => {
  await OpenFeature.close();
  await WebSide.close();
  await Promise.all([plain.close(), telling.close()]);
});

const context = { targetingKey: "user-1" };
type Flag = { readonly key: string; readonly metadata?: object };

const single = async (server: TestServer, key: string, flag: string) => {
  const answer = await server.api(key)("POST", `//ofrep/v1/evaluate/flags/${flag}`, { context });
  return { status: answer.status, ...(answer.body as Flag) };
};
const bulk = async (server: TestServer, key: string) => {
  const answer = await server.api(key)("POST", "//ofrep/v1/evaluate/flags", { context });
  const { flags, metadata } = answer.body as { flags: Flag[]; metadata: object };
  return { flags, metadata, tag: answer.headers.get("etag") };
};

const makeFlags = async (admin: Api) => {
  await makeFlag(admin, { key: "off", type: "boolean" });
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
};
const versionOf = async (admin: Api, key: string): Promise<string> =>
  String(
    ((await admin("GET", "/history?subject=flag&limit=100")).body as Entry[]).find(
      ({ id }) => id === key,
    )?.version,
  );
interface Entry {
  readonly id: string;
  readonly version: number;
}

suite("over OFREP", () => {
  test("without the setting answers have nothing of it", async () => {
    const { admin, keys } = await plain.environment();
    await makeFlags(admin);
    const { flags, metadata } = await bulk(plain, keys.server);
    assert.deepEqual(
      flags.map((flag) => flag.metadata),
      [{ reason: "DISABLED" }, undefined],
    );
    assert.deepEqual(Object.keys(metadata), ["environment"]);
    assert.equal((await single(plain, keys.client, "on")).metadata, undefined);
  });

  test("with it every value has version and flagSetId, for every key, and a new tag with a new version", async () => {
    const { admin, keys, name } = await telling.environment();
    await makeFlags(admin);
    const version = await versionOf(admin, "on");
    const told = { version, flagSetId: name };
    for (const key of [keys.client, keys.server]) {
      assert.deepEqual((await single(telling, key, "on")).metadata, told);
      const { flags } = await bulk(telling, key);
      const off = { version: await versionOf(admin, "off"), flagSetId: name, reason: "DISABLED" };
      assert.deepEqual(
        flags.map((flag) => flag.metadata),
        [off, told],
      );
    }
    const before = await bulk(telling, keys.client);
    assert.equal((await bulk(telling, keys.client)).tag, before.tag);
    await changeFlag(admin, "on", { description: "the value stays" });
    const after = await until("the change", async () => {
      const now = await bulk(telling, keys.client);
      return now.tag !== before.tag && now;
    });
    assert.deepEqual(after.flags[1]?.metadata, {
      version: String(Number(version) + 1),
      flagSetId: name,
    });
    assert.deepEqual((await single(telling, keys.client, "on")).metadata, after.flags[1]?.metadata);
    const missing = await single(telling, keys.client, "missing");
    assert.deepEqual([missing.status, missing.metadata], [404, undefined]);
  });
});

suite("the events of the standard hooks name an entry of the history", () => {
  /** As the hooks for OpenTelemetry make them. */
  const events: { name: string; attributes: object }[] = [];
  const hook: Hook = {
    finally: (hookContext, details) => {
      events.push(createEvaluationEvent(hookContext, details));
    },
  };

  test("with the OFREP provider and with ours", async () => {
    const { admin, keys, name } = await telling.environment();
    await makeFlags(admin);
    await changeFlag(admin, "on", { description: "a second version" });
    const expected = {
      "feature_flag.key": "on",
      "feature_flag.set.id": name,
      "feature_flag.version": await versionOf(admin, "on"),
      "feature_flag.result.variant": "on",
      "feature_flag.context.id": "user-1",
    };
    const headers: [string, string][] = [["Authorization", `Bearer ${keys.server}`]];
    for (const [domain, provider] of [
      ["ofrep", new OFREPProvider({ baseUrl: telling.url, headers })],
      ["halyard", new HalyardProvider({ url: telling.url, key: keys.server })],
    ] as const) {
      await OpenFeature.setProviderAndWait(domain, provider);
      const client = OpenFeature.getClient(domain).addHooks(hook);
      assert.equal(await client.getBooleanValue("on", false, context), true);
      const last = events.at(-1);
      assert.equal(last?.name, "feature_flag.evaluation");
      assert.partialDeepStrictEqual(last?.attributes, expected, domain);
    }
  });

  test("ours for pages passes on what the server tells, and a new version alone is no change", async () => {
    const { admin, keys, name } = await telling.environment();
    await makeFlags(admin);
    const version = await versionOf(admin, "on");
    await WebSide.setProviderAndWait(
      "page",
      new HalyardWebProvider({ url: telling.url, key: keys.client }),
    );
    const { flagMetadata } = WebSide.getClient("page").getBooleanDetails("on", false);
    assert.deepEqual(flagMetadata, { version, flagSetId: name });

    const client = createContextClient({ url: telling.url, key: keys.client });
    await client.ready();
    const changes: object[] = [];
    client.on("change", (change) => changes.push(change));
    await changeFlag(admin, "on", { description: "the value stays" });
    await until("the version", () => client.flagMetadata("on")?.version !== version);
    assert.deepEqual(changes, []);
    await client.close();

    const elsewhere = await plain.environment();
    await makeFlags(elsewhere.admin);
    const quiet = createContextClient({ url: plain.url, key: elsewhere.keys.client });
    await quiet.ready();
    assert.equal(quiet.flagMetadata("on"), undefined);
    await quiet.close();
  });
});
