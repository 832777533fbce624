// GET /snapshot: what the stream's snapshot gives, for clients that poll.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bearer, openStream } from "./support/event-reader.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("it is what the stream's snapshot gives, with the same name", async () => {
  const { admin, server: reader, keys, name } = await server.environment();
  const empty = await reader("GET", "/snapshot");
  assert.deepEqual(empty.body, { environment: name, revision: 0, at: null, flags: [] });
  await admin("POST", "/flags", { key: "b", type: "rollout", percentage: 12.5 });
  await admin("POST", "/flags", { key: "A", type: "boolean", description: "ä" });
  await admin("PATCH", "/flags/A", { enabled: true });

  const found = await reader("GET", "/snapshot");
  assert.equal(found.status, 200);
  const stream = await openStream(`${server.url}/api/v1/stream`, bearer(keys.server));
  const [event] = await stream.first(1);
  stream.close();
  assert.deepEqual(found.body, event?.data);
  assert.equal(found.headers.get("etag"), `"${event?.id}"`);
});

test("an ETag from before gives 304 until something changes", async () => {
  const { admin, server: reader } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const first = await reader("GET", "/snapshot");
  const tag = { "if-none-match": first.headers.get("etag") ?? "" };
  const same = await reader("GET", "/snapshot", undefined, tag);
  assert.equal(same.status, 304);
  assert.equal(same.text, "");
  await admin("PATCH", "/flags/a", { enabled: true });
  const changed = await reader("GET", "/snapshot", undefined, tag);
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get("etag"), first.headers.get("etag"));
  assert.equal((changed.body as { revision: number }).revision, 2);
});

test("a client that another instance sent a newer revision does not go back", async () => {
  const { admin, keys } = await server.environment();
  const second = await startTestServer({ HALYARD_DATA: server.folder });
  try {
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const { headers } = await admin("GET", "/snapshot");
    const other = await second.api(keys.server)("GET", "/snapshot", undefined, {
      "if-none-match": headers.get("etag") ?? "",
    });
    assert.equal(other.status, 304);
  } finally {
    await second.close();
  }
});

test("it needs a key that may read flags", async () => {
  const { client } = await server.environment();
  assert.equal((await client("GET", "/snapshot")).status, 403);
  assert.equal((await server.anonymous("GET", "/snapshot")).status, 401);
});

test("a large snapshot and usage come compressed to those who take it, and mean the same", async () => {
  const { admin, keys } = await server.environment();
  const small = await fetch(`${server.url}/api/v1/snapshot`, { headers: bearer(keys.admin) });
  assert.equal(small.headers.get("content-encoding"), null, "it fits into a packet");
  for (let count = 0; count < 20; count += 1) {
    await admin("POST", "/flags", { key: `flag-${count}`, type: "boolean" });
  }
  for (const path of ["/snapshot", "/usage"]) {
    const ask = async (accepted: string) => {
      const answer = await fetch(`${server.url}/api/v1${path}`, {
        headers: { ...bearer(keys.admin), "accept-encoding": accepted },
      });
      const { headers } = answer;
      assert.match(headers.get("vary") ?? "", /accept-encoding/);
      return [await answer.text(), headers.get("content-encoding"), headers.get("etag")] as const;
    };
    const [plain, none, tag] = await ask("identity");
    assert.equal(none, null);
    for (const [accepted, coding] of [
      ["br, gzip", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip;q=0", null],
    ] as const) {
      assert.deepEqual(await ask(accepted), [plain, coding, tag]);
    }
  }
});
