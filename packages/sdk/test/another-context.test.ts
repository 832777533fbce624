// The client for one context when its context changes: the new values, and what happens when they cannot be fetched.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";
import { contextClientOf } from "./support/clients.ts";

const ada = { targetingKey: "ada", plan: "free" };

suite("another context", () => {
  test("brings its own values, and an old tag is not sent for it", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client, changed } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    assert.equal(client.isEnabled("a"), false);
    assert.equal(await client.setContext({ targetingKey: "bob" }), true);
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(changed(), ["a"]);
    const asBob = server.to(bulk).filter(({ body }) => body.includes("bob"));
    assert.equal(asBob[0]?.headers["if-none-match"], undefined);
  });

  test("the last of several wins, and every caller waits for it", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "eve" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    const all = ["bob", "cyd", "eve"].map((targetingKey) => client.setContext({ targetingKey }));
    assert.equal(await all[0], true);
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(await Promise.all(all), [true, true, true]);
  });

  test("that comes before the first answer is what is ready, with its stream", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client, names } = contextClientOf(t, server.url, {
      context: ada,
      timing: { pollInterval: 600_000 },
    });
    const set = client.setContext({ targetingKey: "bob" });
    assert.deepEqual(await client.ready(), { ok: true });
    assert.equal(client.isEnabled("a"), true);
    assert.equal(await set, true);
    await until("the stream", () => server.open.size > 0);
    assert.deepEqual(names(), ["ready"]);
  });

  test("that cannot be fetched is tried on while the stream goes on", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    server.state.isBroken = true;
    assert.equal(await client.setContext({ targetingKey: "bob" }), false);
    server.state.isBroken = false;
    await until("a is on", () => client.isEnabled("a"));
  });

  test("that cannot be fetched is tried on, and the old values hold until then", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await server.stop();
    assert.equal(await client.setContext({ targetingKey: "bob" }), false);
    assert.equal(client.isEnabled("a"), false);
    assert.equal(client.state, "stale");
    await server.listen();
    await until("a is on", () => client.isEnabled("a"));
    await until("live", () => client.state === "live");
  });
});
