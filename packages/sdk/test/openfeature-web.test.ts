// The provider in @openfeature/web-sdk, against a started server: values, contexts, errors and events.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
import { OpenFeature, ProviderStatus } from "@openfeature/web-sdk";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { bulkServer } from "./support/bulk-server.ts";
import { key } from "./support/clients.ts";
import { heardBy, newDomain } from "./support/openfeature.ts";
import { quick } from "./support/scripted-server.ts";
import { makeTypedFlags } from "./support/typed-flags.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(async () => {
  await OpenFeature.close();
  await server.close();
});

suite("with a started server", () => {
  test("values, errors, a change and another context", async () => {
    const { keys, admin } = await server.environment();
    await admin("POST", "/flags", { key: "on", type: "boolean" });
    await admin("PATCH", "/flags/on", { enabled: true });
    await admin("POST", "/flags", { key: "half", type: "rollout", percentage: 50 });
    await admin("PATCH", "/flags/half", { enabled: true });
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    const heard = heardBy(client);
    await OpenFeature.setContext(domain, {});
    await OpenFeature.setProviderAndWait(
      domain,
      new HalyardWebProvider({ url: server.url, key: keys.client }),
    );
    assert.equal(client.providerStatus, ProviderStatus.READY);
    const on = client.getBooleanDetails("on", false);
    assert.deepEqual([on.value, on.variant, on.reason], [true, "on", "STATIC"]);
    const without = client.getBooleanDetails("half", true);
    assert.deepEqual([without.value, without.errorCode], [true, "TARGETING_KEY_MISSING"]);
    assert.equal(client.getBooleanDetails("missing", true).errorCode, "FLAG_NOT_FOUND");
    assert.equal(client.getStringDetails("on", "x").errorCode, "TYPE_MISMATCH");
    assert.equal(client.getNumberDetails("on", 7).value, 7);
    assert.equal(client.getObjectDetails("on", {}).errorCode, "TYPE_MISMATCH");

    const values = new Set<boolean>();
    for (let index = 0; index < 20; index += 1) {
      await OpenFeature.setContext(domain, { targetingKey: `user-${index}` });
      const details = client.getBooleanDetails("half", false);
      assert.equal(details.reason, "SPLIT");
      values.add(details.value);
    }
    assert.equal(values.size, 2);
    assert.ok(heard.includes("PROVIDER_CONTEXT_CHANGED"));

    await admin("PATCH", "/flags/on", { enabled: false });
    await until("the change", () => heard.includes("PROVIDER_CONFIGURATION_CHANGED: on"));
    assert.equal(client.getBooleanValue("on", true), false);
  });
});

test("values of every type, for each context", async () => {
  const { keys, admin } = await server.environment();
  await makeTypedFlags(admin);
  for (const role of ["client", "server"] as const) {
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    await OpenFeature.setContext(domain, {});
    const provider = new HalyardWebProvider({ url: server.url, key: keys[role] });
    await OpenFeature.setProviderAndWait(domain, provider);
    assert.equal(client.getStringValue("size", "?"), "S");
    assert.equal(client.getStringDetails("size", "?").reason, "DEFAULT");
    const needs = client.getBooleanDetails("needs", true);
    assert.deepEqual([needs.value, needs.reason], [false, "DISABLED"]);
    assert.deepEqual(needs.flagMetadata, { reason: "PREREQUISITE_FAILED" });
    await OpenFeature.setContext(domain, { plan: "pro" });
    const { value, variant, reason, flagMetadata } = client.getStringDetails("size", "?");
    assert.deepEqual([value, variant, reason], ["L", "large", "TARGETING_MATCH"]);
    assert.deepEqual(flagMetadata, role === "server" ? { rule: "pro" } : {});
    assert.equal(client.getNumberValue("limit", 0), 9);
    assert.deepEqual(client.getObjectValue("layout", {}), { columns: 3 });
    assert.deepEqual(client.getObjectValue("layout", "?"), { columns: 3 }, "any default");
    assert.equal(client.getBooleanValue("needs", false), true);
    for (const wrong of [
      client.getBooleanDetails("size", true),
      client.getStringDetails("limit", "?"),
      client.getNumberDetails("layout", 7),
      client.getObjectDetails("size", {}),
    ]) {
      assert.deepEqual([wrong.reason, wrong.errorCode], ["ERROR", "TYPE_MISMATCH"]);
    }
  }
});

suite("through an outage", () => {
  test("stale, an error for a context that cannot be had, and ready again", async (t) => {
    const scripted = await bulkServer(t, { isOn: (who) => who === "bob" });
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    const heard = heardBy(client);
    await OpenFeature.setContext(domain, { targetingKey: "ada" });
    await OpenFeature.setProviderAndWait(
      domain,
      new HalyardWebProvider({ url: scripted.url, key, reportUsage: false, timing: quick }),
    );
    await until("the stream", () => scripted.open.size === 1);
    await scripted.stop();
    await until("stale", () => client.providerStatus === ProviderStatus.STALE);
    assert.equal(client.getBooleanValue("a", true), false);
    await OpenFeature.setContext(domain, { targetingKey: "bob" });
    assert.equal(client.providerStatus, ProviderStatus.ERROR);
    assert.ok(heard.includes("PROVIDER_ERROR"));
    const { value, variant, reason } = client.getBooleanDetails("a", true);
    assert.deepEqual([value, variant, reason], [false, "off", "STALE"], "the value of ada");
    await scripted.listen();
    await until("ready", () => client.providerStatus === ProviderStatus.READY);
    const own = client.getBooleanDetails("a", false);
    assert.deepEqual([own.value, own.reason], [true, "SPLIT"]);
  });

  test("the default for another user instead of the previous value, where the program wants that", async (t) => {
    const scripted = await bulkServer(t, { isOn: () => true });
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    await OpenFeature.setContext(domain, { targetingKey: "ada" });
    const options = { url: scripted.url, key, reportUsage: false, timing: quick };
    await OpenFeature.setProviderAndWait(
      domain,
      new HalyardWebProvider({ ...options, readyTimeout: 60_000, keepPreviousValues: false }),
    );
    assert.equal(client.getBooleanValue("a", false), true);
    scripted.state.isBroken = true;
    await OpenFeature.setContext(domain, {});
    const { value, errorCode } = client.getBooleanDetails("a", false);
    assert.deepEqual([value, errorCode], [false, "PROVIDER_NOT_READY"]);
    scripted.state.isBroken = false;
    await until("the value", () => client.getBooleanValue("a", false));
  });
});
