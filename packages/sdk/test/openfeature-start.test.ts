// The providers in OpenFeature's SDKs before a started server responds: while it hangs, while it is down, when it is back.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { OpenFeature } from "@openfeature/server-sdk";
import { OpenFeature as WebOpenFeature } from "@openfeature/web-sdk";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { key } from "./support/clients.ts";
import { type Gate, gateBefore } from "./support/gate.ts";
import { heardBy, newDomain } from "./support/openfeature.ts";
import { booleanFlag, quick } from "./support/scripted-server.ts";
import { makeTypedFlags } from "./support/typed-flags.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(async () => {
  await OpenFeature.close();
  await WebOpenFeature.close();
  await server.close();
});

/** The flags `old` and `new` are on at the server. */
const environmentWithFlags = async (): Promise<TestEnvironment> => {
  const environment = await server.environment();
  for (const flag of ["old", "new"]) {
    await environment.admin("POST", "/flags", { key: flag, type: "boolean" });
    await environment.admin("PATCH", `/flags/${flag}`, { enabled: true });
  }
  return environment;
};

/** What the last run knew: the server turned `new` on since. */
const lastFlags = [booleanFlag("old", true), booleanFlag("new", false)];
const cache = {
  load: async () => JSON.stringify({ format: 2, flags: lastFlags }),
  save: async () => {},
};
const settings = { reportUsage: false, log: false, timing: quick } as const;

const outages: readonly [string, (gate: Gate) => Promise<void>][] = [
  ["hangs", (gate) => gate.hang()],
  ["is down", (gate) => gate.shut()],
];

const eventsOf = (changed: string): string[] => [
  "PROVIDER_READY",
  "PROVIDER_STALE",
  `PROVIDER_CONFIGURATION_CHANGED: ${changed}`,
  "PROVIDER_READY",
];

suite("values without the server", () => {
  for (const [outage, begin] of outages) {
    for (const [source, values] of [
      ["bootstrap", { bootstrap: lastFlags }],
      ["cache", { cache }],
    ] as const) {
      test(`${source} applies in a program while the server ${outage}, and then the server's`, async (t) => {
        const { keys } = await environmentWithFlags();
        const gate = await gateBefore(t, server.url);
        await begin(gate);
        const domain = newDomain();
        const client = OpenFeature.getClient(domain);
        const heard = heardBy(client);
        const options = { ...settings, ...values, url: gate.url, key: keys.server };
        await OpenFeature.setProviderAndWait(domain, new HalyardProvider(options));
        assert.equal(await client.getBooleanValue("old", false), true);
        assert.equal(await client.getBooleanValue("new", true), false);
        await until("stale", () => client.providerStatus === "STALE");
        await gate.open();
        await until("ready", () => client.providerStatus === "READY");
        assert.equal(await client.getBooleanValue("new", false), true);
        assert.deepEqual(heard, eventsOf("new"));
      });
    }

    test(`bootstrap applies on a page at once while the server ${outage}, and then the server's values`, async (t) => {
      const { keys } = await environmentWithFlags();
      const gate = await gateBefore(t, server.url);
      await begin(gate);
      const domain = newDomain();
      const client = WebOpenFeature.getClient(domain);
      const heard = heardBy(client);
      const bootstrap = { old: true, new: false };
      const options = { ...settings, bootstrap, url: gate.url, key: keys.client };
      const set = WebOpenFeature.setProviderAndWait(domain, new HalyardWebProvider(options));
      // The first render comes right after it, and does not wait.
      assert.deepEqual(
        ["old", "new"].map((flag) => client.getBooleanDetails(flag, !bootstrap.old).reason),
        ["CACHED", "CACHED"],
      );
      await set;
      await until("stale", () => client.providerStatus === "STALE");
      assert.equal(client.getBooleanValue("old", false), true);
      await gate.open();
      await until("ready", () => client.providerStatus === "READY");
      assert.equal(client.getBooleanValue("new", false), true);
      // Their reason is no longer CACHED.
      assert.deepEqual(heard, eventsOf("new old"));
    });
  }

  test("without any, the start still waits for the server and says why it failed", async (t) => {
    const gate = await gateBefore(t, server.url);
    await gate.shut();
    const options = { ...settings, url: gate.url, key, readyTimeout: 50 };
    const provider = new HalyardProvider({ ...options, bootstrap: [] });
    const webProvider = new HalyardWebProvider({ ...options, bootstrap: {} });
    const starts = [
      OpenFeature.setProviderAndWait(newDomain(), provider),
      WebOpenFeature.setProviderAndWait(newDomain(), webProvider),
    ];
    for (const start of starts) {
      await assert.rejects(start, { code: "PROVIDER_NOT_READY", message: /ECONNREFUSED/ });
    }
  });

  test("a rejected key is an error, and the values of bootstrap still apply", async () => {
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    const options = { ...settings, url: server.url, key, bootstrap: lastFlags };
    await OpenFeature.setProviderAndWait(domain, new HalyardProvider(options));
    await until("an error", () => client.providerStatus === "ERROR");
    assert.equal(await client.getBooleanValue("old", false), true);
  });
});

suite("another context during an outage", () => {
  test("the values of the previous user are STALE, and then those of the new user apply", async (t) => {
    const { keys, admin } = await server.environment();
    await makeTypedFlags(admin);
    const gate = await gateBefore(t, server.url);
    const domain = newDomain();
    const client = WebOpenFeature.getClient(domain);
    await WebOpenFeature.setContext(domain, { targetingKey: "ada", plan: "pro" });
    const options = { ...settings, url: gate.url, key: keys.client };
    await WebOpenFeature.setProviderAndWait(domain, new HalyardWebProvider(options));
    const shown = () => {
      const { value, reason } = client.getStringDetails("size", "?");
      return [value, reason];
    };
    assert.deepEqual(shown(), ["L", "TARGETING_MATCH"]);
    await until("a stream", () => gate.streams() === 1);

    await gate.shut();
    await until("stale", () => client.providerStatus === "STALE");
    // OpenFeature calls that READY.
    await WebOpenFeature.setContext(domain, { targetingKey: "ada", plan: "pro" });
    await until("stale again", () => client.providerStatus === "STALE");
    assert.deepEqual(shown(), ["L", "TARGETING_MATCH"], "the same user");

    await WebOpenFeature.setContext(domain, { targetingKey: "bob" });
    assert.equal(client.providerStatus, "ERROR");
    assert.deepEqual(shown(), ["L", "STALE"], "the value of ada");
    await gate.open();
    await until("ready", () => client.providerStatus === "READY");
    assert.deepEqual(shown(), ["S", "DEFAULT"]);
  });
});

suite("initialize, called twice", () => {
  for (const Provider of [HalyardProvider, HalyardWebProvider]) {
    test(`${Provider.name} keeps one stream, and onClose ends it`, async (t) => {
      const { keys, admin } = await environmentWithFlags();
      const gate = await gateBefore(t, server.url);
      const role = Provider === HalyardProvider ? "server" : "client";
      const provider = new Provider({ ...settings, url: gate.url, key: keys[role] });
      t.after(() => provider.onClose());
      await Promise.all([provider.initialize(), provider.initialize()]);
      await provider.initialize();
      await until("a stream", () => gate.streams() > 0);
      await admin("PATCH", "/flags/old", { enabled: false });
      await until("the change", async () => {
        const { value } = await provider.resolveBooleanEvaluation("old", true, {});
        return !value;
      });
      assert.equal(gate.streams(), 1);
      await provider.onClose();
      await until("no stream", () => gate.streams() === 0);

      await provider.initialize();
      await until("a stream again", () => gate.streams() === 1);
    });
  }
});
