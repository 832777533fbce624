// The values that a server hands to a page: those that the page's client would fetch, there from its first evaluation on.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { UsageSummary } from "@halyard/sdk/management";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import { makeTypedFlags } from "./support/typed-flags.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const newEnvironment = async () => {
  const environment = await server.environment();
  await makeTypedFlags(environment.admin);
  const half = { key: "half", type: "rollout", percentage: 50 };
  await environment.admin("POST", "/flags", half);
  await environment.admin("PATCH", "/flags/half", { enabled: true });
  return environment;
};

suite("values for a context", () => {
  test("are those that a page's client fetches, for every type of flag", async (t) => {
    const { keys } = await newEnvironment();
    const { client } = clientOf(t, server.url, { key: keys.server });
    assert.deepEqual(client.values({ targetingKey: "u" }), {}, "no flags are loaded yet");
    await client.ready();
    // Without a targeting key, the percentage cannot be evaluated.
    const contexts = [{ targetingKey: "ada", plan: "pro" }, { targetingKey: "ben" }, {}];
    for (const context of contexts) {
      const page = contextClientOf(t, server.url, { key: keys.client, context }).client;
      assert.deepEqual(await page.ready(), { ok: true });
      assert.deepEqual(client.values(context), page.values());
    }
    const ada = { targetingKey: "ada", plan: "pro" };
    const half = client.isEnabled("half", ada);
    const layout = { columns: 3 };
    assert.deepEqual(client.values(ada), {
      ...{ half, layout, limit: 9, needs: true, on: true, size: "L" },
    });
    assert.deepEqual(client.values({}), {
      ...{ layout: { columns: 1 }, limit: 1, needs: false, on: true, size: "S" },
    });
    assert.deepEqual(client.values(ada, ["size", "missing", "on"]), { size: "L", on: true });
    client.override("size", "M");
    assert.deepEqual(client.values(ada, ["size"]), { size: "M" });
  });

  test("are the page's from its first evaluation on, and stay when the server answers", async (t) => {
    const { keys, admin } = await newEnvironment();
    const { client } = clientOf(t, server.url, { key: keys.server });
    await client.ready();
    const context = { targetingKey: "ada", plan: "pro" };
    // As a page gets them: in its text.
    const bootstrap = JSON.parse(JSON.stringify(client.values(context))) as typeof values;
    const values = client.values(context);
    const { client: page, changed } = contextClientOf(t, server.url, {
      key: keys.client,
      context,
      bootstrap,
    });
    assert.equal(page.state, "connecting");
    assert.deepEqual(page.values(), values);
    assert.equal(page.stringValue("size", "S"), "L");
    await page.ready();
    assert.deepEqual(page.values(), values);
    await admin("PATCH", "/flags/size", { enabled: false });
    await until("the change", () => page.stringValue("size", "") === "S");
    assert.ok(changed().includes("size"));
  });

  test("are not counted as usage: the page counts what it evaluates", async (t) => {
    const { keys, admin } = await newEnvironment();
    const { client } = clientOf(t, server.url, { key: keys.server, reportUsage: true });
    await client.ready();
    client.values({ targetingKey: "ada" });
    client.isEnabled("on");
    await client.close();
    const counted = await until("the report", async () => {
      const { body } = await admin("GET", "/usage");
      const flags = (body as UsageSummary[]).filter(({ on, off }) => on + off > 0);
      return flags.length > 0 && flags.map(({ key, on, off }) => [key, on, off]);
    });
    assert.deepEqual(counted, [["on", 1, 0]]);
  });
});
