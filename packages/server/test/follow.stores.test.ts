// Two instances on one store: what one commits, the other's evaluation, streams and keys follow.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { writeRows } from "./support/database.ts";
import { bearer, type OpenStream, openStream } from "./support/event-reader.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

let one: TestServer;
let two: TestServer;
before(async () => {
  one = await startTestServer();
  two = await startTestServer({ HALYARD_DATA: one.folder });
});
after(async () => {
  await two.close();
  await one.close();
});

const streamOf = (server: TestServer, key: string, lastEventId = "") =>
  openStream(`${server.url}/api/v1/stream`, { ...bearer(key), "last-event-id": lastEventId });

/** The value of a boolean flag by evaluation on this instance; undefined when there is no such flag. */
const evaluate = async (server: TestServer, key: string, flag: string) => {
  const answer = await fetch(`${server.url}/ofrep/v1/evaluate/flags/${flag}`, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: '{"context":{}}',
  });
  const body = (await answer.json()) as { value?: boolean };
  return answer.status === 404 ? undefined : (body.value ?? answer.status);
};

/** Without the checks of the API client, for loops. */
const patch = async (server: TestServer, key: string, flag: string, enabled: boolean) => {
  const answer = await fetch(`${server.url}/api/v1/flags/${flag}`, {
    method: "PATCH",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: JSON.stringify({ enabled }),
  });
  await answer.arrayBuffer();
  assert.equal(answer.status, 200);
};

const revisionsOf = ({ events }: OpenStream): number[] =>
  events.map(({ data }) => (data as { revision: number }).revision);

suite("flags", () => {
  test("a change through one reaches the other's evaluation and streams, deletion included", async () => {
    const { keys, admin } = await one.environment();
    const stream = await streamOf(two, keys.server);
    await stream.first(1);
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    await until("the flag", async () => (await evaluate(two, keys.client, "a")) === false);
    await admin("PATCH", "/flags/a", { enabled: true });
    await until("its value", async () => (await evaluate(two, keys.client, "a")) === true);
    await admin("DELETE", "/flags/a");
    await until("its end", async () => (await evaluate(two, keys.client, "a")) === undefined);
    await stream.first(4);
    assert.deepEqual(revisionsOf(stream), [0, 1, 2, 3]);
    stream.close();
  });

  test("whoever changes a flag sees it at once on the same instance, whatever the others do meanwhile", async () => {
    const { keys, admin } = await one.environment();
    for (const key of ["ours", "theirs"]) await admin("POST", "/flags", { key, type: "boolean" });
    let busy = true;
    const others = Array.from({ length: 2 }, async () => {
      for (let turn = 0; busy; turn += 1) await patch(two, keys.admin, "theirs", turn % 2 === 0);
    });
    try {
      for (let turn = 0; turn < 50; turn += 1) {
        const enabled = turn % 2 === 0;
        await patch(one, keys.admin, "ours", enabled);
        assert.equal(await evaluate(one, keys.client, "ours"), enabled, `turn ${turn}`);
      }
    } finally {
      busy = false;
      await Promise.all(others);
    }
  });

  test("a reader who was told more by another instance is not sent back", async () => {
    const { keys, admin } = await one.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const stream = await streamOf(one, keys.server);
    await stream.first(1);
    for (let turn = 0; turn < 30; turn += 1) {
      await patch(one, keys.admin, "a", turn % 2 === 0);
      // At once, before the other instance has looked by itself.
      while (stream.events.length < turn + 2) await new Promise(setImmediate);
      const moved = await streamOf(two, keys.server, stream.events.at(-1)?.id);
      await until("an answer", () => moved.comments > 0 || moved.events.length > 0);
      assert.deepEqual(moved.events, [], `turn ${turn}`);
      moved.close();
    }
    stream.close();
  });

  test("a store that was put back to an earlier state is followed there", async () => {
    const { keys, admin, name } = await one.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    await admin("PATCH", "/flags/a", { enabled: true });
    await admin("POST", "/flags", { key: "b", type: "boolean" });
    const streams = [await streamOf(one, keys.server), await streamOf(two, keys.server)];
    for (const stream of streams) {
      await until("revision 3", () => revisionsOf(stream).at(-1) === 3);
    }
    const last = streams[0]?.events.at(-1)?.id;

    // What a restored backup of revision 1 would hold.
    const where = "where environment_id = (select id from environments where name = ?)";
    await writeRows(one, `delete from flags ${where} and key = 'b'`, name);
    await writeRows(one, `update flags set enabled = 0, version = 1 ${where} and key = 'a'`, name);
    await writeRows(one, `delete from history ${where} and revision > 1`, name);
    await writeRows(one, "update environments set revision = 1 where name = ?", name);

    for (const [index, server] of [one, two].entries()) {
      await until(
        "the old value",
        async () => (await evaluate(server, keys.client, "a")) === false,
      );
      assert.equal(await evaluate(server, keys.client, "b"), undefined);
      const stream = streams[index];
      assert.ok(stream);
      await until("a snapshot", () => stream.events.at(-1)?.event === "snapshot");
      assert.equal(revisionsOf(stream).at(-1), 1);
    }
    // Revision 3 is reached again, and is not the one that a reader has.
    await admin("PATCH", "/flags/a", { description: "again" });
    await admin("PATCH", "/flags/a", { description: "and again" });
    const back = await streamOf(one, keys.server, last);
    const [whole] = await back.first(1);
    assert.equal(whole?.event, "snapshot");
    for (const stream of [...streams, back]) {
      await until("revision 3", () => revisionsOf(stream).at(-1) === 3);
      stream.close();
    }
  });
});

suite("keys", () => {
  test("one that was made through one instance works at once on the other", async () => {
    const { admin } = await one.environment();
    for (let turn = 0; turn < 20; turn += 1) {
      const made = await admin("POST", "/keys", { name: `key ${turn}`, role: "server" });
      const { key } = made.body as { key: string };
      assert.equal((await two.api(key)("GET", "/flags")).status, 200, `turn ${turn}`);
    }
  });

  test("one that was revoked through one instance is refused by the other, and its streams end", async () => {
    const { admin, keys } = await one.environment();
    const made = await admin("POST", "/keys", { name: "doomed", role: "server" });
    const { id, key } = made.body as { id: string; key: string };
    const streams = [await streamOf(one, key), await streamOf(two, key)];
    const other = await streamOf(two, keys.server);
    for (const stream of streams) await stream.first(1);
    assert.equal((await two.api(key)("GET", "/flags")).status, 200);
    await admin("DELETE", `/keys/${id}`);
    assert.equal((await one.api(key)("GET", "/flags")).status, 401);
    await until("the refusal", async () => (await two.api(key)("GET", "/flags")).status === 401);
    assert.equal(await evaluate(two, key, "a"), 401);
    for (const stream of streams) await stream.untilEnded();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    await other.first(2);
    other.close();
  });

  test("with an environment go its keys and its streams, everywhere", async () => {
    const { keys, name } = await one.environment();
    const streams = [await streamOf(one, keys.server), await streamOf(two, keys.admin)];
    for (const stream of streams) await stream.first(1);
    const operator = await composeOperator(parseConfig(await storeSettings(one.folder)));
    assert.ok((await operator.environments.remove(name, true)).ok);
    await operator.close();
    for (const stream of streams) await stream.untilEnded();
    for (const server of [one, two]) {
      const refused = async () => (await server.api(keys.server)("GET", "/flags")).status === 401;
      await until("the refusal", refused);
    }
  });
});

test("through two instances at once: every reader sees every revision once, and ends with what is stored", async () => {
  const environment: TestEnvironment = await one.environment();
  const { keys } = environment;
  const servers = [one, two] as const;
  const streams = await Promise.all(
    servers.flatMap((server) => [streamOf(server, keys.server), streamOf(server, keys.server)]),
  );
  await Promise.all(streams.map((stream) => stream.first(1)));
  const names = ["a", "b", "c", "d"];
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const api = servers[writer % 2]?.api(keys.admin);
    for (let turn = 0; turn < 25; turn += 1) {
      const key = names[(writer * 7 + turn * 3) % names.length];
      // Refused as often as not: the flag is there already, or is not.
      if (turn % 5 === 0) await api?.("POST", "/flags", { key, type: "rollout" });
      else if (turn % 7 === 6) await api?.("DELETE", `/flags/${key}`);
      else await api?.("PATCH", `/flags/${key}`, { percentage: writer + turn, enabled: true });
    }
  });
  await Promise.all(writers);
  const list = await environment.server("GET", "/flags");
  const revision = Number(list.headers.get("etag")?.replaceAll('"', ""));
  assert.ok(revision > 20, `only ${revision} changes`);
  for (const stream of streams) {
    await until("the last revision", () => revisionsOf(stream).at(-1) === revision);
    assert.deepEqual(
      revisionsOf(stream),
      Array.from({ length: revision + 1 }, (_, index) => index),
    );
    const flags = new Map<string, unknown>();
    for (const { data } of stream.events.slice(1)) {
      const { key, flag } = data as { key: string; flag: unknown };
      if (flag === null) flags.delete(key);
      else flags.set(key, flag);
    }
    const sorted = [...flags].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, flag]) => flag);
    assert.deepEqual(sorted, list.body);
    assert.deepEqual(stream.events, streams[0]?.events);
    stream.close();
  }
});
