// The client for edge runtimes: what one request evaluates, what the server is sent for it, and outages.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, type TestContext, test } from "node:test";
import {
  createEdgeClient,
  type EdgeFlags,
  type EdgeOptions,
  type Snapshot,
} from "@halyard/sdk/edge";
import { createManagement } from "@halyard/sdk/management";
import { newFolder, startTestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { key } from "./support/clients.ts";
import { booleanFlag, scriptedServer, sendJson, snapshotOf } from "./support/scripted-server.ts";

const snapshot = "GET /api/v1/snapshot";
const on = snapshotOf(booleanFlag("a", true));
const off = snapshotOf(booleanFlag("a", false));

const scripted = async (context: TestContext, options: Partial<EdgeOptions> = {}) => {
  const server = await scriptedServer(context, {
    [snapshot]: (response) => sendJson(response, 200, on),
  });
  const warnings: string[] = [];
  const log = (message: string) => void warnings.push(message);
  const client = createEdgeClient({ url: server.url, key, log, ...options });
  return { server, client, warnings, requests: () => server.to(snapshot).length };
};

test("each load has the server's flags as they are then, also after a restart", async (t) => {
  const folder = newFolder();
  let server = await startTestServer({ HALYARD_DATA: folder });
  t.after(() => server.close());
  const { url } = server;
  const { keys, name } = await server.environment();
  const { flags } = createManagement({ url, key: keys.admin });
  await flags.create({ key: "a", type: "boolean" });
  const statuses: number[] = [];
  const client = createEdgeClient({
    url,
    key: keys.server,
    log: false,
    fetch: async (...request) => {
      const response = await fetch(...request);
      statuses.push(response.status);
      return response;
    },
  });

  const first = await client.load();
  assert.deepEqual([first.error, first.isEnabled("a")], [undefined, false]);
  await client.load();
  await flags.update("a", { enabled: true });
  const changed = await client.load();
  assert.deepEqual([changed.error, changed.isEnabled("a")], [undefined, true]);
  assert.equal(first.isEnabled("a"), false, "a request keeps the flags that it has loaded");
  assert.deepEqual(changed.flagMetadata("a"), { version: "2", flagSetId: name });
  // What hasn't changed is not sent again.
  assert.deepEqual(statuses, [200, 304, 200]);

  await server.close();
  const during = await client.load();
  assert.deepEqual([during.error?.code, during.isEnabled("a")], ["UNREACHABLE", true]);
  server = await startTestServer({ HALYARD_DATA: folder, PORT: new URL(url).port });
  await flags.update("a", { enabled: false });
  const after = await client.load();
  assert.deepEqual([after.error, after.isEnabled("a")], [undefined, false]);
});

suite("without the server's flags", () => {
  test("evaluations return their fallbacks and say why", async (t) => {
    const { server, client, warnings } = await scripted(t);
    server.answer(snapshot, (response) => sendJson(response, 401, { message: "no such key" }));
    const flags = await client.load();
    assert.equal(flags.error?.code, "UNAUTHORIZED");
    assert.equal(flags.isEnabled("a", {}, true), true);
    assert.equal(flags.stringValue("a", {}, "fallback"), "fallback");
    const { errorCode, errorMessage = "" } = flags.details("a");
    assert.equal(errorCode, "PROVIDER_NOT_READY");
    assert.match(errorMessage, /no such key/);
    assert.match(warnings.join(), /^Halyard: the server responded with 401: no such key\. Check/);
  });

  test("a bootstrap applies, with the error", async (t) => {
    const { server, client } = await scripted(t, { bootstrap: on as Snapshot });
    server.answer(snapshot, (response) => response.destroy());
    const flags = await client.load();
    assert.deepEqual([flags.error?.code, flags.isEnabled("a")], ["UNREACHABLE", true]);
  });

  test("a response that is no snapshot replaces nothing", async (t) => {
    const { server, client } = await scripted(t);
    await client.load();
    server.answer(snapshot, (response) => sendJson(response, 200, { hello: "proxy" }));
    const flags = await client.load();
    assert.deepEqual([flags.error?.code, flags.isEnabled("a")], ["UNEXPECTED_ANSWER", true]);
  });
});

test("an unknown option and one of another type are refused", () => {
  const create = (options: object) => () =>
    createEdgeClient({ url: "http://127.0.0.1:9", key, ...options });
  assert.throws(create({ maxage: 5 }), /unknown option maxage; the known options are .*maxAge/);
  assert.throws(create({ timeout: "1s" }), /the option timeout must be number, but is string/);
});

suite("requests to the server", () => {
  test("flags are used again for maxAge", async (t) => {
    const { client, requests } = await scripted(t, { maxAge: 600_000 });
    for (const flags of [await client.load(), await client.load()]) {
      assert.deepEqual([flags.error, flags.isEnabled("a")], [undefined, true]);
    }
    assert.equal(requests(), 1);
  });

  test("Retry-After is respected", async (t) => {
    const { server, client, requests, warnings } = await scripted(t);
    await client.load();
    server.answer(snapshot, (response) => response.writeHead(429, { "retry-after": "60" }).end());
    for (const flags of [await client.load(), await client.load(), await client.load()]) {
      assert.deepEqual([flags.error?.status, flags.isEnabled("a")], [429, true]);
    }
    assert.deepEqual([requests(), warnings.length], [2, 1]);
  });

  test("a server that hangs is waited for as long as the timeout", async (t) => {
    const { server, client } = await scripted(t, { timeout: 20 });
    server.answer(snapshot, () => undefined);
    const { error } = await client.load();
    assert.match(error?.message ?? "", /timed out after 20 ms/);
  });

  test("while the server hangs, one request waits for it and the others use what is known", async (t) => {
    const { server, client, requests } = await scripted(t, { timeout: 600_000 });
    await client.load();
    server.answer(snapshot, (response) => response.destroy());
    await client.load();
    const hanging: ServerResponse[] = [];
    server.answer(snapshot, (response) => hanging.push(response));
    const loads: Promise<EdgeFlags>[] = [];
    await until("an attempt", () => {
      loads.push(client.load());
      return hanging.length > 0;
    });
    const during = await client.load();
    assert.deepEqual([during.error?.code, during.isEnabled("a")], ["UNREACHABLE", true]);
    assert.equal(requests(), 3);
    server.answer(snapshot, (response) => sendJson(response, 200, off));
    for (const response of hanging) sendJson(response, 200, off);
    assert.equal((await Promise.all(loads)).filter(({ error }) => error === undefined).length, 1);
    const after = await client.load();
    assert.deepEqual([after.error, after.isEnabled("a")], [undefined, false]);
  });

  test("requests of one moment during an outage send one", async (t) => {
    const { server, client, requests } = await scripted(t);
    server.answer(snapshot, (response) => response.writeHead(503).end());
    await client.load();
    const before = requests();
    await until("the next attempt", async () => {
      await Promise.all(Array.from({ length: 20 }, () => client.load()));
      return requests() > before;
    });
    assert.equal(requests(), before + 1);
  });

  test("a late response doesn't bring back older flags", async (t) => {
    const { server, client } = await scripted(t);
    const send = (response: ServerResponse, body: unknown, etag: string) =>
      response
        .writeHead(200, { "content-type": "application/json", etag })
        .end(JSON.stringify(body));
    const held: ServerResponse[] = [];
    const hold = async (): Promise<Promise<EdgeFlags>[]> => {
      const count = held.length;
      server.answer(snapshot, (response) => held.push(response));
      const load = client.load();
      await until("the request", () => held.length > count);
      return [load];
    };
    const [first] = await hold();
    server.answer(snapshot, (response) => send(response, on, '"2-b"'));
    await client.load();
    const [second] = await hold();
    send(held[0] as ServerResponse, off, '"1-a"');
    assert.equal((await first)?.isEnabled("a"), true);
    held[1]?.writeHead(304).end();
    assert.equal((await second)?.isEnabled("a"), true);
  });

  test("a late failure doesn't undo a later success", async (t) => {
    const { server, client, requests } = await scripted(t);
    const held: ServerResponse[] = [];
    server.answer(snapshot, (response) => held.push(response));
    const first = client.load();
    await until("the request", () => held.length > 0);
    server.answer(snapshot, (response) => sendJson(response, 200, on));
    assert.equal((await client.load()).error, undefined);
    held[0]?.writeHead(503, { "retry-after": "60" }).end();
    assert.equal((await first).error, undefined);
    assert.equal((await client.load()).error, undefined);
    assert.equal(requests(), 3);
  });
});
