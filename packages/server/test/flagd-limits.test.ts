// flagd.sync.v1.FlagSyncService against those who mean it harm: calls that nobody reads, and connections without a key.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { openCall, openPaused, openSync } from "./support/flagd-sync.ts";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { scrape } from "./support/scrape.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const on = { HALYARD_FLAGD_PORT: "0" };

/** So many tenths of a megabyte: more than HTTP/2 lets through unread. */
const makeLarge = async ({ admin }: TestEnvironment, tenths: number): Promise<void> => {
  const variants = { one: "1".repeat(50_000), two: "2".repeat(50_000), off: "" };
  for (let index = 0; index < tenths; index += 1) {
    const made = await admin("POST", "/flags", {
      ...{ key: `large-${index}`, type: "variant", valueType: "string" },
      ...{ variants, off: "off", otherwise: "one" },
    });
    assert.equal(made.status, 201, made.text);
  }
};

const openCalls = async ({ url }: TestServer) =>
  (await scrape(url)).value("halyard_streams_open", { kind: "flagd" });

test("an answer that nobody reads has a place, whatever it was asked with, until it is given up", async (t) => {
  const server = await startTestServer(on, { streams: { maxStreamsPerKey: 2 } });
  t.after(() => server.close());
  const environment = await server.environment();
  const { keys } = environment;
  await makeLarge(environment, 1);
  const client = openSync(server.flagd);
  t.after(() => client.close());
  const asked = { providerId: keys.server };
  assert.equal(typeof (await client.fetchAll(asked)), "string");
  const paused = [1, 2].map(() => openPaused(server.flagd, keys.server, "FetchAllFlags"));
  t.after(() => paused.map(({ close }) => close()));
  await until("two places", async () => (await openCalls(server)) === 2);
  assert.equal(await client.fetchAll(asked), status.RESOURCE_EXHAUSTED);
  assert.equal(typeof (await client.fetchAll({ providerId: keys.admin })), "string");
  paused[0]?.close();
  await until("a free place", async () => (await openCalls(server)) === 1);
  assert.equal(typeof (await client.fetchAll(asked)), "string");
});

test("what the calls of a key do not read is limited, and others get theirs", async () => {
  const server = await startTestServer(on, { requestTimeout: 600_000 });
  const environment = await server.environment();
  const { keys } = environment;
  await makeLarge(environment, 12);
  let begun = 0;
  const paused = Array.from({ length: 40 }, () => {
    const call = { ...openPaused(server.flagd, keys.server), hasBegun: false };
    const began = () => {
      call.hasBegun = true;
      begun += 1;
    };
    void call.begun.then(began, () => undefined);
    return call;
  });
  await until("all calls", async () => (await openCalls(server)) === paused.length);
  const client = openSync(server.flagd);
  await client.follow({ providerId: keys.admin }).first(1);
  // 32 MiB are 27 messages of 1.2 MB.
  assert.ok(begun > 0 && begun < 30, `${begun} messages are held for those who do not read`);
  for (const { hasBegun, close } of paused) if (hasBegun) close();
  await until("the turn of the others", () => begun === paused.length);

  // One who never says what it wants keeps no server from stopping.
  const stranger = openCall(server.flagd, keys.server);
  await once(stranger.session, "remoteSettings");
  await server.close();
  for (const { close } of [...paused, client]) close();
  stranger.session.destroy();
});

test("a definition of more than 16 MiB is rejected, and a smaller one is served again", async (t) => {
  const server = await startTestServer(on);
  t.after(() => server.close());
  const environment = await server.environment();
  const { admin, keys, server: reader } = environment;
  const client = openSync(server.flagd);
  t.after(() => client.close());
  await makeLarge(environment, 168);
  assert.equal(await client.follow({ providerId: keys.server }).ended, status.FAILED_PRECONDITION);
  const refused = await reader("GET", "//flagd/v1/flags.json");
  assert.equal(refused.status, 409);
  assert.match(refused.text, /more than 16 MiB/);
  assert.equal(await client.fetchAll({ providerId: keys.server }), status.FAILED_PRECONDITION);
  for (let index = 0; index < 10; index += 1) await admin("DELETE", `/flags/large-${index}`);
  assert.equal((await reader("GET", "//flagd/v1/flags.json")).status, 200);
});

test("other requests get responses while a definition is compiled", async (t) => {
  const server = await startTestServer(on);
  t.after(() => server.close());
  const environment = await server.environment();
  await makeLarge(environment, 100);
  const other = await server.environment();
  await makeFlag(other.admin, { key: "plain", type: "boolean", enabled: true });
  await environment.server("GET", "//flagd/v1/flags.json");
  await changeFlag(environment.admin, "large-0", { enabled: true });
  const done: string[] = [];
  const definition = environment.server("GET", "//flagd/v1/flags.json").then((answer) => {
    done.push("definition");
    return answer;
  });
  const context = { targetingKey: "u" };
  const one = await other.client("POST", "//ofrep/v1/evaluate/flags/plain", { context });
  done.push("evaluation");
  assert.equal(one.status, 200);
  assert.equal((await definition).status, 200);
  assert.deepEqual(done, ["evaluation", "definition"]);
});

test("a connection that sends no good key in time is closed, also with a call open", async (t) => {
  const server = await startTestServer(on, { requestTimeout: 1_000 });
  t.after(() => server.close());
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  const client = openSync(server.flagd);
  t.after(() => client.close());
  const followed = client.follow({ providerId: keys.server });
  await followed.first(1);
  const silent = openCall(server.flagd, keys.server);
  const refused = openCall(server.flagd, "nobody-0123456789abcdef");
  refused.stream.end(Buffer.alloc(5));
  await Promise.all([silent, refused].map(({ session }) => once(session, "close")));
  await changeFlag(admin, "a", { enabled: true });
  await followed.first(2);
  assert.equal(followed.received[1]?.a?.defaultVariant, "on");
});
