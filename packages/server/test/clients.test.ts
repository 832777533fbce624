// Which programs have a change: what they tell, what instances tell each other, and who is named when something lags.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Client, createClient } from "@halyard/sdk";
import { createManagement, type Programs } from "@halyard/sdk/management";
import type { Api } from "./support/api.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { movableClock, second } from "./support/movable-clock.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

/** Two instances on one store, as two workers of one machine are. */
const settings = { HALYARD_WORKERS: "2" };
const time = movableClock();
const { clock } = time;
let one: TestServer;
let two: TestServer;
before(async () => {
  one = await startTestServer(settings, { clock });
  two = await startTestServer({ ...settings, HALYARD_DATA: one.folder }, { clock });
});
after(async () => {
  await two.close();
  await one.close();
});

const clients: Client[] = [];
after(() => Promise.all(clients.map((client) => client.close())));

const start = async (at: TestServer, key: string, name: string, streaming = true) => {
  const client = createClient({ url: at.url, key, name, streaming, log: false });
  clients.push(client);
  assert.deepEqual(await client.ready(), { ok: true });
  return client;
};

const programs = async (api: Api, query = ""): Promise<Programs> => {
  const { status, body, text } = await api("GET", `/clients${query}`);
  assert.equal(status, 200, text);
  return body as Programs;
};

const untilListed = (api: Api, what: string, isSo: (programs: Programs) => boolean) =>
  until(what, async () => {
    const found = await programs(api);
    return isSo(found) && found;
  });

/** Everybody has the newest revision, and there are so many clients. */
const untilReached = (api: Api, count: number) =>
  untilListed(
    api,
    `${count} clients have it`,
    ({ reached, clients: listed }) => reached.have === reached.of && listed.length === count,
  );

const namesIn = ({ clients: listed }: Programs, state: string) =>
  listed.filter((client) => client.state === state).map(({ name }) => name);

const report = (id: string, revision: string, more: object = {}) => ({
  ...{ id, name: `program ${id}`, sdk: "go/1.2.3", revision, ...more },
});

test("a change has reached all when every program has told that it has applied it, whichever instance is asked", async () => {
  const { admin, keys } = await one.environment();
  await admin("POST", "/flags", { key: "shown", type: "boolean" });
  const first = await start(one, keys.server, "first");
  const second = await start(two, keys.server, "second");
  const here = await untilReached(admin, 2);
  assert.equal(here.revision, 1);
  assert.equal(here.instances.length, 2);
  assert.deepEqual(
    here.clients.map(({ name, sdk, connection, revision, lag, state }) => {
      return { name, sdk, connection, revision, lag, state };
    }),
    ["first", "second"].map((name) => {
      const same = { connection: "stream", revision: 1, lag: 0, state: "current" };
      return { name, sdk: "js/0.1.0", ...same };
    }),
  );

  await admin("PATCH", "/flags/shown", { enabled: true });
  for (const api of [admin, two.api(keys.server)]) {
    const reached = await untilReached(api, 2);
    assert.equal(reached.revision, 2);
    assert.deepEqual([reached.reached.of, reached.reached.have], [4, 4]);
    assert.ok(reached.reached.within !== null && reached.reached.within >= 0);
    for (const client of [first, second]) assert.equal(client.isEnabled("shown"), true);
  }
  const before = await programs(admin, "?revision=1");
  assert.deepEqual([before.revision, before.reached.of, before.reached.have], [1, 4, 4]);
  const never = await programs(admin, "?revision=900");
  assert.deepEqual([never.reached.have, never.changedAt, never.reached.within], [0, null, null]);

  const management = createManagement({ url: two.url, key: keys.server });
  const result = await management.clients({ revision: 2 });
  assert.ok(result.ok && result.value.reached.of === 4);

  await second.close();
  const left = await untilReached(admin, 1);
  assert.deepEqual(namesIn(left, "current"), ["first"], "who has stopped is gone at once");
});

test("a program that does not tell is named; streams without an id, and OFREP's, are told", async () => {
  const { admin, keys, name } = await one.environment();
  await admin("POST", "/flags", { key: "shown", type: "boolean" });
  const id = "program-that-is-silent";
  const headers = { ...bearer(keys.server), "x-halyard-client": id };
  const stream = await openStream(`${one.url}/api/v1/stream`, headers);
  const [snapshot] = await stream.first(1);
  const silent = await untilListed(admin, "it is there", (found) => found.clients.length === 1);
  assert.deepEqual(
    silent.clients.map(({ revision, state, lag, appliedAt }) => [revision, state, lag, appliedAt]),
    [[0, "behind", 1, null]],
  );
  // By way of the other instance, as a load balancer may send it.
  const tell = (revision: string, key = keys.server) =>
    two.api(key)("POST", "/clients", report(id, revision));
  assert.equal((await tell(snapshot?.id ?? "")).status, 204);
  const told = await untilReached(admin, 1);
  assert.equal(told.clients[0]?.name, `program ${id}`);
  assert.equal(told.clients[0]?.instance, silent.clients[0]?.instance, "where its stream is");

  // Of a store that is no more: another backup had the same number.
  await tell("1-0000001");
  const other = await untilListed(admin, "it lags", (found) => found.reached.have === 2);
  assert.deepEqual(namesIn(other, "behind"), [`program ${id}`]);
  await tell(snapshot?.id ?? "");
  await untilReached(admin, 1);
  await tell("1-0000001", keys.admin);
  assert.equal((await untilReached(admin, 1)).clients.length, 1, "another key speaks for its own");

  const plain = await openStream(`${two.url}/api/v1/stream`, bearer(keys.server));
  const { body } = await admin("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  const { eventStreams } = body as { eventStreams: [{ url: string }] };
  const refetch = await openStream(eventStreams[0].url);
  const streams = await untilListed(admin, "two are told", (found) => found.told === 2);
  assert.equal(streams.reached.of, 3, `${name}: they are no programs that tell`);

  stream.close();
  plain.close();
  refetch.close();
  const ended = await untilListed(admin, "nobody is told", (found) => found.told === 0);
  assert.equal(ended.clients.length, 1, "a connection that has ended may come back");
  assert.equal(ended.reached.have, 3, "and it had told that it has the change");
  await admin("PATCH", "/flags/shown", { enabled: true });
  const lost = await untilListed(
    admin,
    "it lags",
    (found) => found.reached.have === 2 && found.revision === 2,
  );
  assert.deepEqual(namesIn(lost, "lost"), [`program ${id}`]);
  time.forward(30 * second);
  await untilReached(admin, 0);
});

test("a usage report that a newer report has overtaken takes nothing back", async () => {
  const { admin, keys } = await one.environment();
  const id = "program-that-counts-too";
  const headers = { ...bearer(keys.server), "x-halyard-client": id };
  const stream = await openStream(`${one.url}/api/v1/stream`, headers);
  const server = one.api(keys.server);
  const revisionAfter = async (method: string, path: string, body: object) => {
    await admin(method, path, body);
    return (await server("GET", "/snapshot")).headers.get("etag")?.replaceAll('"', "") ?? "";
  };
  const old = await revisionAfter("POST", "/flags", { key: "first", type: "boolean" });
  const current = await revisionAfter("POST", "/flags", { key: "second", type: "boolean" });
  const withCounts = (revision: string) =>
    server("POST", "/usage", {
      evaluations: [{ key: "first", on: 1, off: 0 }],
      client: report(id, revision),
    });
  // Until it reports by itself, its usage reports are all that is known: the store may have been restored meanwhile.
  for (const [revision, number] of [
    [current, 2],
    [old, 1],
  ] as const) {
    assert.equal((await withCounts(revision)).status, 204);
    assert.equal((await programs(admin)).clients[0]?.revision, number);
  }
  assert.equal((await server("POST", "/clients", report(id, current))).status, 204);
  const shown = async () => {
    const { clients: listed } = await programs(admin);
    return listed.map(({ revision, state, appliedAt }) => ({ revision, state, appliedAt }));
  };
  const told = await shown();
  assert.equal((await withCounts(old)).status, 204);
  assert.deepEqual(await shown(), told);
  const newest = await revisionAfter("PATCH", "/flags/first", { enabled: true });
  assert.equal((await withCounts(newest)).status, 204);
  assert.equal((await shown())[0]?.revision, 3);
  stream.close();
});

test("a program that polls is listed, and lost when it has not asked for long", async () => {
  const { admin, keys } = await one.environment();
  await admin("POST", "/flags", { key: "shown", type: "boolean" });
  const poll = { "x-halyard-client": "program-that-polls" };
  const ask = () => one.api(keys.server)("GET", "/snapshot", undefined, poll);
  const revision = (await ask()).headers.get("etag")?.replaceAll('"', "") ?? "";
  await one.api(keys.server)("POST", "/clients", report("program-that-polls", revision));
  const listed = await untilReached(admin, 1);
  assert.equal(listed.clients[0]?.connection, "poll");
  time.forward(150 * second);
  await untilListed(admin, "it is lost", (found) => namesIn(found, "lost").length === 1);
  await ask();
  await untilReached(admin, 1);
  time.forward(600 * second);
  await untilReached(admin, 0);

  const client = await start(one, keys.server, "polls", false);
  const polling = await untilReached(admin, 1);
  assert.deepEqual([polling.clients[0]?.name, polling.clients[0]?.connection], ["polls", "poll"]);
  await client.close();
  await untilReached(admin, 0);
});

test("who may not follow the flags tells nothing, and what is told is bounded", async () => {
  const { admin, server, client, keys } = await one.environment();
  await admin("POST", "/flags", { key: "shown", type: "boolean" });
  const told = report("invented-by-a-page", "1-abc");
  assert.equal((await client("POST", "/clients", told)).status, 403);
  assert.equal((await client("GET", "/clients")).status, 403);
  const evaluations = [{ key: "shown", on: 1, off: 0 }];
  const poll = { "x-halyard-client": told.id };
  await server("GET", "/snapshot", undefined, poll);
  assert.equal((await client("POST", "/usage", { evaluations, client: told })).status, 204);
  assert.equal((await programs(admin)).clients[0]?.name, "", "a client key's report is ignored");
  assert.equal((await server("POST", "/usage", { evaluations, client: told })).status, 204);
  assert.equal((await programs(admin)).clients[0]?.name, told.name);

  const wrong = [
    { ...told, name: "x".repeat(129) },
    { ...told, name: "a\nb" },
    { ...told, name: "" },
    { ...told, id: "short" },
    { ...told, sdk: "with space" },
    { ...told, revision: "12" },
    { ...told, more: true },
  ];
  for (const body of wrong) assert.equal((await server("POST", "/clients", body)).status, 400);

  // A flood of invented programs: those with a stream, and those of other keys, stay.
  const honest = await start(one, keys.server, "honest");
  await untilListed(admin, "it has told", (found) => found.reached.have === 3);
  const stranger = { "x-halyard-client": "of-another-key" };
  await admin("GET", "/snapshot", undefined, stranger);
  for (let count = 0; count < 1_100; count += 1) {
    const headers = { ...bearer(keys.server), "x-halyard-client": `invented-${count}` };
    await (await fetch(`${one.url}/api/v1/snapshot`, { headers })).arrayBuffer();
  }
  const flooded = await programs(admin);
  assert.equal(flooded.reached.of, 2 + 1_000 + 2);
  assert.equal(flooded.reached.have, 3, "the honest one among them");
  assert.equal(flooded.clients.length, 1_000);
  assert.equal(flooded.clientsLeftOut, 2);
  const { revision } = flooded;
  assert.equal(honest.isEnabled("shown"), false);
  const management = createManagement({ url: one.url, key: keys.admin });
  const list = await management.keys.list();
  const id = list.ok && list.value.find(({ role }) => role === "server")?.id;
  assert.ok(id);
  await management.keys.revoke(id);
  const revoked = await untilListed(admin, "they go with their key", (f) => f.reached.of === 3);
  assert.equal(revoked.revision, revision);
});
