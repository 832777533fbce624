// The provider in @openfeature/server-sdk, against a started server: values, reasons, errors and events.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { HalyardProvider } from "@halyard/sdk/openfeature/server";
import {
  type EvaluationDetails,
  type FlagValue,
  OpenFeature,
  ProviderStatus,
} from "@openfeature/server-sdk";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { key } from "./support/clients.ts";
import { heardBy, newDomain } from "./support/openfeature.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  quick,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";
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
  test("values, reasons, variants and errors", async () => {
    const { keys, admin } = await server.environment();
    await admin("POST", "/flags", { key: "on", type: "boolean" });
    await admin("PATCH", "/flags/on", { enabled: true });
    await admin("POST", "/flags", { key: "half", type: "rollout", percentage: 50 });
    await admin("PATCH", "/flags/half", { enabled: true });
    const domain = newDomain();
    const provider = new HalyardProvider({ url: server.url, key: keys.server });
    await OpenFeature.setProviderAndWait(domain, provider);
    const client = OpenFeature.getClient(domain);
    assert.equal(client.providerStatus, ProviderStatus.READY);
    assert.equal(client.metadata.providerMetadata.name, "halyard");

    const on = await client.getBooleanDetails("on", false);
    assert.deepEqual([on.value, on.variant, on.reason], [true, "on", "STATIC"]);
    const values = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.getBooleanDetails("half", false, { targetingKey: `user-${index}` }),
      ),
    );
    assert.deepEqual([...new Set(values.map(({ reason }) => reason))], ["SPLIT"]);
    assert.equal(new Set(values.map(({ value }) => value)).size, 2);
    const without = await client.getBooleanDetails("half", true);
    assert.deepEqual(
      [without.value, without.reason, without.errorCode],
      [true, "ERROR", "TARGETING_KEY_MISSING"],
    );
    const missing = await client.getBooleanDetails("missing", true);
    assert.deepEqual([missing.value, missing.errorCode], [true, "FLAG_NOT_FOUND"]);
    assert.match(missing.errorMessage ?? "", /no flag "missing"/);
    for (const wrong of [
      await client.getStringDetails("on", "text"),
      await client.getNumberDetails("on", 7),
      await client.getObjectDetails("on", { deep: true }),
    ]) {
      assert.equal(wrong.errorCode, "TYPE_MISMATCH");
      assert.ok(
        ["text", 7, "object"].includes(
          typeof wrong.value === "object" ? "object" : (wrong.value as string),
        ),
      );
    }
  });

  test("values of every type, with variant, reason and metadata", async () => {
    const { keys, admin, name } = await server.environment();
    await makeTypedFlags(admin);
    const domain = newDomain();
    const provider = new HalyardProvider({ url: server.url, key: keys.server });
    await OpenFeature.setProviderAndWait(domain, provider);
    const client = OpenFeature.getClient(domain);
    const pro = { plan: "pro" };
    const matched = { variant: "large", reason: "TARGETING_MATCH", flagMetadata: { rule: "pro" } };
    const shown = ({ value, variant, reason, flagMetadata }: EvaluationDetails<FlagValue>) => {
      const { version, flagSetId, ...rest } = flagMetadata;
      assert.match(String(version), /^\d+$/);
      assert.equal(flagSetId, name);
      return { value, variant, reason, flagMetadata: rest };
    };
    assert.deepEqual(shown(await client.getStringDetails("size", "?", pro)), {
      value: "L",
      ...matched,
    });
    assert.deepEqual(shown(await client.getNumberDetails("limit", 0, pro)), {
      value: 9,
      ...matched,
    });
    assert.deepEqual(shown(await client.getObjectDetails("layout", {}, pro)), {
      value: { columns: 3 },
      ...matched,
    });
    assert.deepEqual(await client.getObjectValue("layout", [], pro), { columns: 3 }, "any default");
    assert.deepEqual(shown(await client.getStringDetails("size", "?")), {
      value: "S",
      variant: "small",
      reason: "DEFAULT",
      flagMetadata: {},
    });
    assert.deepEqual(shown(await client.getBooleanDetails("needs", true)), {
      value: false,
      variant: "off",
      reason: "DISABLED",
      flagMetadata: { reason: "PREREQUISITE_FAILED" },
    });
    for (const wrong of [
      await client.getBooleanDetails("size", true, pro),
      await client.getStringDetails("limit", "?", pro),
      await client.getNumberDetails("layout", 7, pro),
      await client.getObjectDetails("size", { mine: true }, pro),
    ]) {
      assert.deepEqual([wrong.reason, wrong.errorCode], ["ERROR", "TYPE_MISMATCH"]);
      assert.ok([true, "?", 7].includes(wrong.value as never) || typeof wrong.value === "object");
      assert.match(wrong.errorMessage ?? "", /^The flag "\w+" is of type \w+, not \w+\.$/);
    }
  });

  test("a change event names its flags", async () => {
    const { keys, admin } = await server.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    const heard = heardBy(client);
    await OpenFeature.setProviderAndWait(
      domain,
      new HalyardProvider({ url: server.url, key: keys.server }),
    );
    await admin("PATCH", "/flags/a", { enabled: true });
    await until("the change", () => heard.length > 1);
    assert.deepEqual(heard, ["PROVIDER_READY", "PROVIDER_CONFIGURATION_CHANGED: a"]);
    assert.equal(await client.getBooleanValue("a", false), true);
  });

  test("a refused key is an error, not the end", async () => {
    const { keys } = await server.environment();
    const domain = newDomain();
    const provider = new HalyardProvider({ url: server.url, key: keys.client });
    await assert.rejects(
      OpenFeature.setProviderAndWait(domain, provider),
      (error: Error & { code: string; cause?: { code?: string; status?: number } }) => {
        assert.equal(error.code, "PROVIDER_NOT_READY");
        assert.match(error.message, /could not be fetched: the server responded with 403: .*role/);
        assert.deepEqual([error.cause?.code, error.cause?.status], ["FORBIDDEN", 403]);
        return true;
      },
    );
    const client = OpenFeature.getClient(domain);
    assert.equal(client.providerStatus, ProviderStatus.ERROR);
    const details = await client.getBooleanDetails("a", true);
    assert.deepEqual([details.value, details.errorCode], [true, "PROVIDER_NOT_READY"]);
  });
});

suite("through an outage", () => {
  test("stale, ready again, changed; and an error when the key is refused", async (t) => {
    let answer: "stream" | "refuse" = "stream";
    let flag = booleanFlag("a", true);
    const scripted = await scriptedServer(t, {
      "GET /api/v1/stream": (response) => {
        if (answer === "refuse") return response.writeHead(401).end();
        openStream(response);
        return response.write(snapshotText("1-a", flag));
      },
    });
    const domain = newDomain();
    const client = OpenFeature.getClient(domain);
    const heard = heardBy(client);
    const provider = new HalyardProvider({
      url: scripted.url,
      key,
      reportUsage: false,
      timing: quick,
    });
    await OpenFeature.setProviderAndWait(domain, provider);
    await scripted.stop();
    await until("stale", () => client.providerStatus === ProviderStatus.STALE);
    assert.equal(await client.getBooleanValue("a", false), true);
    flag = booleanFlag("a", false);
    await scripted.listen();
    await until("ready", () => client.providerStatus === ProviderStatus.READY);
    assert.equal(await client.getBooleanValue("a", true), false);
    answer = "refuse";
    scripted.cut();
    await until("an error", () => client.providerStatus === ProviderStatus.ERROR);
    assert.equal(await client.getBooleanValue("a", true), false);
    assert.deepEqual(
      heard.filter((name, index) => name !== heard[index - 1]),
      [
        "PROVIDER_READY",
        "PROVIDER_STALE",
        "PROVIDER_CONFIGURATION_CHANGED: a",
        "PROVIDER_READY",
        "PROVIDER_STALE",
        "PROVIDER_ERROR",
      ],
    );
  });

  test("a server that comes after the start makes it ready", async (t) => {
    const scripted = await scriptedServer(t, {
      "GET /api/v1/stream": (response) => {
        openStream(response);
        response.write(snapshotText("1-a") + changeText("2-b", "a", booleanFlag("a", true)));
      },
    });
    await scripted.stop();
    const domain = newDomain();
    const options = { url: scripted.url, key, reportUsage: false, timing: quick, readyTimeout: 50 };
    const client = OpenFeature.getClient(domain);
    await assert.rejects(OpenFeature.setProviderAndWait(domain, new HalyardProvider(options)));
    assert.equal(client.providerStatus, ProviderStatus.ERROR);
    await scripted.listen();
    await until("ready", () => client.providerStatus === ProviderStatus.READY);
    assert.equal(await client.getBooleanValue("a", false), true);
  });

  test("replacing the provider closes its connection", async (t) => {
    let open = 0;
    const scripted = await scriptedServer(t, {
      "GET /api/v1/stream": (response) => {
        open += 1;
        response.on("close", () => {
          open -= 1;
        });
        openStream(response);
        response.write(snapshotText("1-a"));
      },
    });
    const domain = newDomain();
    const make = () => new HalyardProvider({ url: scripted.url, key, reportUsage: false });
    await OpenFeature.setProviderAndWait(domain, make());
    assert.equal(open, 1);
    await OpenFeature.setProviderAndWait(domain, make());
    await until("one connection", () => open === 1);
    assert.equal(scripted.received.length, 2);
  });
});
