// Reads of flags come from memory, and only from memory that is known to be current.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startChangeFeed } from "../src/evaluation/change-feed.ts";
import { createFlagReads } from "../src/evaluation/flag-reads.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask = (path: string, key: string): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });

/** A feed that follows a number, as a store would let it: what is in memory, and what is committed. */
const startReads = async (committed: (() => number) | undefined) => {
  const store = { revision: 1, fails: false, looks: 0, duringLook: () => 0 };
  let inMemory = 0;
  const feed = await startChangeFeed(
    {
      committed,
      async positions() {
        store.looks += 1;
        if (store.fails) throw new Error("not to be read just now");
        return [];
      },
      onCommit: () => () => undefined,
      onHint: () => () => undefined,
    },
    [
      {
        beginPoll: () => async () => {
          inMemory = store.revision;
          store.duringLook();
          store.duringLook = () => 0;
        },
        apply: () => true,
      },
    ],
    { onLost: () => undefined, onFound: () => undefined },
  );
  await feed.close();
  const { list } = createFlagReads({
    current: feed.current,
    get: () => ({ revision: inMemory, name: "", get: () => undefined, all: () => [] }),
  });
  const revision = async () => {
    const found = await list({ id: 1, name: "test" });
    return found.ok ? found.value.revision : undefined;
  };
  return { store, revision };
};

test("the store is not read while nothing was committed, and once for all when something was", async () => {
  let version = 1;
  const { store, revision } = await startReads(() => version);
  const { looks } = store;
  assert.equal(await revision(), 1);
  assert.equal(store.looks, looks);
  store.revision = 2;
  version = 2;
  assert.deepEqual(await Promise.all([revision(), revision()]), [2, 2]);
  assert.equal(await revision(), 2);
  assert.equal(store.looks, looks + 1);
});

test("what is committed right before a read, or during the look of another, is seen", async () => {
  let version = 1;
  const { store, revision } = await startReads(() => version);
  const commit = () => {
    store.revision += 1;
    version += 1;
    return store.revision;
  };
  const first = revision();
  commit();
  assert.equal(await first, 2, "asked before, seen all the same");
  commit();
  store.duringLook = () => commit();
  assert.equal(await revision(), 3);
  assert.equal(await revision(), 4);
});

test("a store that cannot tell what is committed is asked for every read", async () => {
  for (const committed of [
    undefined,
    () => {
      throw new Error("not to be read just now");
    },
  ]) {
    const { store, revision } = await startReads(committed);
    store.revision = 2;
    assert.equal(await revision(), 2);
    store.fails = true;
    await assert.rejects(async () => revision(), /not to be read/);
  }
});

test("what is shown follows every change", async () => {
  const { admin, keys } = await server.environment();
  const seen = async () => {
    const answers = ["/flags", "/flags/a", "/flags/%61", "/flags/missing"].map(async (path) => {
      const response = await ask(path, keys.server);
      return `${response.status} ${response.headers.get("etag")} ${await response.text()}`;
    });
    return Promise.all(answers);
  };
  const notFound = (key: string) =>
    `404 null {"error":"NOT_FOUND","message":"The flag \\"${key}\\" does not exist."}`;
  assert.deepEqual(await seen(), ['200 "0" []', ...["a", "a", "missing"].map(notFound)]);
  await admin("POST", "/flags", { key: "a", type: "boolean", description: "ü" });
  const flag = '{"key":"a","type":"boolean","enabled":false,"description":"ü"}';
  assert.deepEqual(await seen(), [
    `200 "1" [${flag}]`,
    `200 "1" ${flag}`,
    `200 "1" ${flag}`,
    notFound("missing"),
  ]);
  await admin("PATCH", "/flags/a", { enabled: true });
  const on = flag.replace("false", "true");
  assert.deepEqual(await seen(), [
    `200 "2" [${on}]`,
    `200 "2" ${on}`,
    `200 "2" ${on}`,
    notFound("missing"),
  ]);
  await admin("DELETE", "/flags/a");
  assert.deepEqual(await seen(), ['200 "3" []', ...["a", "a", "missing"].map(notFound)]);
});

test("a key that is revoked reads nothing more", async () => {
  const { admin, keys } = await server.environment();
  assert.equal((await ask("/flags", keys.server)).status, 200);
  const listed = (await admin("GET", "/keys")).body as { id: string; role: string }[];
  const { id } = listed.find(({ role }) => role === "server") ?? { id: "" };
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  assert.equal((await ask("/flags", keys.server)).status, 401);
});

test("a read counts once towards the limit, also when it finds nothing", async (t) => {
  const limited = await startTestServer({ HALYARD_RATE_LIMIT: "4" });
  t.after(() => limited.close());
  const { keys } = await limited.environment();
  const statuses: number[] = [];
  for (const path of ["/flags", "/flags/missing", "/flags", "/flags/missing", "/flags", "/flags"]) {
    const { status } = await fetch(`${limited.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${keys.server}` },
    });
    statuses.push(status);
  }
  assert.deepEqual(statuses, [200, 404, 200, 404, 429, 429]);
});
