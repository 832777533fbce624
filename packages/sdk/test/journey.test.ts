// Both clients on a started server: a change arrives, a revoked key is noticed, usage is counted, an outage is survived.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { suite, test } from "node:test";
import { createManagement } from "@halyard/sdk/management";
import { newFolder, startTestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";

suite("a started server", () => {
  test("every change reaches both clients, and all answer the same", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "a", type: "boolean" });
    const { client, names } = clientOf(t, server.url, { key: keys.server });
    const context = { targetingKey: "user-7" };
    const page = contextClientOf(t, server.url, { key: keys.client, context });
    assert.deepEqual(await client.ready(), { ok: true });
    assert.deepEqual(await page.client.ready(), { ok: true });
    assert.deepEqual(client.flags(), [
      { key: "a", type: "boolean", enabled: false, description: null },
    ]);

    await flags.update("a", { enabled: true });
    await until("a is on", () => client.isEnabled("a") && page.client.isEnabled("a"));
    await flags.create({ key: "r", type: "rollout", percentage: 37.215 });
    await flags.update("r", { enabled: true });
    await until("r splits", () => client.details("r", context).reason === "SPLIT");
    await until("r splits for the page", () => page.client.details("r").reason === "SPLIT");
    assert.equal(client.details("r", {}, true).errorCode, "TARGETING_KEY_MISSING");
    for (let index = 0; index < 30; index += 1) {
      const targetingKey = `Größe-${index}`;
      const answer = await server.api(keys.client)("POST", "//ofrep/v1/evaluate/flags/r", {
        context: { targetingKey },
      });
      const { value, variant, reason } = client.details("r", { targetingKey });
      assert.deepEqual(answer.body, { key: "r", value, variant, reason });
      await page.client.setContext({ targetingKey });
      assert.equal(page.client.isEnabled("r"), value);
    }
    await flags.delete("r");
    await until("r is gone", () => client.details("r").errorCode === "FLAG_NOT_FOUND");
    await until("r is gone for the page", () => page.client.details("r").errorCode !== undefined);
    assert.ok(!names().includes("error"));
  });

  test("a revoked key is noticed, and the values stay", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys } = await server.environment();
    const { flags, keys: apiKeys } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "a", type: "boolean" });
    await flags.update("a", { enabled: true });
    const made = await apiKeys.create({ name: "app", role: "server" });
    assert.ok(made.ok);
    const { client, errors } = clientOf(t, server.url, { key: made.value.key });
    assert.deepEqual(await client.ready(), { ok: true });
    await apiKeys.revoke(made.value.id);
    await until("failed", () => client.state === "failed");
    assert.ok(errors().includes("UNAUTHORIZED"));
    assert.equal(client.isEnabled("a"), true);
  });

  test("polling alone follows too", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "a", type: "boolean" });
    const { client } = clientOf(t, server.url, { key: keys.server, streaming: false });
    const page = contextClientOf(t, server.url, { key: keys.client, streaming: false });
    assert.deepEqual(
      [await client.ready(), await page.client.ready()],
      [{ ok: true }, { ok: true }],
    );
    await flags.update("a", { enabled: true });
    await until("a is on", () => client.isEnabled("a") && page.client.isEnabled("a"));
  });

  test("what both clients counted is in the server's usage", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    await flags.create({ key: "a", type: "boolean" });
    const options = { reportUsage: true, timing: { usageInterval: 60_000 } };
    const { client } = clientOf(t, server.url, { ...options, key: keys.server });
    const page = contextClientOf(t, server.url, { ...options, key: keys.client });
    assert.deepEqual(
      [await client.ready(), await page.client.ready()],
      [{ ok: true }, { ok: true }],
    );
    for (let count = 0; count < 5; count += 1) client.isEnabled("a");
    for (let count = 0; count < 2; count += 1) page.client.isEnabled("a");
    await Promise.all([client.close(), page.client.close()]);
    const usage = await until("the counts", async () => {
      const answer = await flags.usage("a");
      return answer.ok && answer.value.hours.length > 0 ? answer.value : undefined;
    });
    assert.deepEqual(
      usage.hours.map(({ on, off }) => ({ on, off })),
      [{ on: 0, off: 7 }],
    );
  });
});

test("the server is gone for a while: values stay, nothing throws, and all is caught up on return", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const first = await startTestServer({ HALYARD_DATA: folder });
  const { keys } = await first.environment();
  const { port } = new URL(first.url);
  const before = createManagement({ url: first.url, key: keys.admin });
  for (const name of ["a", "b"]) await before.flags.create({ key: name, type: "boolean" });
  await before.flags.update("a", { enabled: true });

  const app = clientOf(t, first.url, { key: keys.server });
  const page = contextClientOf(t, first.url, { key: keys.client, context: { targetingKey: "x" } });
  const all = [app, page];
  const ready = await Promise.all(all.map(({ client }) => client.ready()));
  assert.deepEqual(ready, [{ ok: true }, { ok: true }]);

  await first.close();
  await until("several vain attempts", () => all.every(({ count }) => count("error") > 3));
  for (const { client } of all) {
    assert.equal(client.state, "stale");
    assert.equal(client.isEnabled("a"), true);
    assert.equal(client.isEnabled("b"), false);
  }

  const second = await startTestServer({ HALYARD_DATA: folder, PORT: port });
  t.after(() => second.close());
  const management = createManagement({ url: second.url, key: keys.admin });
  await management.flags.update("b", { enabled: true });
  await management.flags.delete("a");
  await until("caught up", () => all.every(({ client }) => client.isEnabled("b")));
  await until("a is gone", () => all.every(({ client }) => !client.isEnabled("a")));
  for (const { client, count } of all) {
    await until("live", () => client.state === "live");
    assert.ok(count("reconnected") > 0);
  }
});
