// GET /flagd/v1/flags.json: the environment as a flagd definition, for flagd's http source.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FlagdCore } from "@openfeature/flagd-core";
import { bearer } from "./support/event-reader.ts";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const path = "//flagd/v1/flags.json";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("flagd decides by it as Halyard does, and a header counts what it holds", async () => {
  const { admin, server: reader, name } = await server.environment();
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "off", type: "boolean" });
  await makeFlag(admin, { key: "office", type: "boolean", enabled: true });
  const when = { attribute: "ip", op: "inCidr", values: ["10.0.0.0/8"] };
  await changeFlag(admin, "office", { otherwise: "off", rules: [{ when, serve: "on" }] });
  const { status, headers, text } = await reader("GET", path);
  assert.equal(status, 200);
  assert.equal(headers.get("halyard-flagd-flags"), "exact=2, ascii=0, left-out=1");
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  const flagd = new FlagdCore();
  flagd.setConfigurations(text);
  const found = ["on", "off"].map((key) => flagd.resolveBooleanEvaluation(key, false, {}, console));
  assert.deepEqual(
    found.map(({ value, variant, flagMetadata }) => [value, variant, flagMetadata?.flagSetId]),
    [
      [true, "on", name],
      [false, "off", name],
    ],
  );
});

test("an ETag from before gives 304 until the definition changes", async () => {
  const { admin, server: reader } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const first = await reader("GET", path);
  const tag = { "if-none-match": first.headers.get("etag") ?? "" };
  const same = await reader("GET", path, undefined, tag);
  assert.deepEqual([same.status, same.text], [304, ""]);
  assert.equal(same.headers.get("halyard-flagd-flags"), "exact=1, ascii=0, left-out=0");
  // A description is no part of it.
  await admin("PATCH", "/flags/a", { description: "the first" });
  assert.equal((await reader("GET", path, undefined, tag)).status, 304);
  // Nor is a flag that is left out, but it counts.
  await makeFlag(admin, { key: "office", type: "boolean", enabled: true });
  const when = { attribute: "ip", op: "inCidr", values: ["10.0.0.0/8"] };
  await changeFlag(admin, "office", { otherwise: "off", rules: [{ when, serve: "on" }] });
  const without = await reader("GET", path, undefined, tag);
  assert.equal(without.status, 304);
  assert.equal(without.headers.get("halyard-flagd-flags"), "exact=1, ascii=0, left-out=1");
  await admin("PATCH", "/flags/a", { enabled: true });
  const changed = await reader("GET", path, undefined, tag);
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get("etag"), first.headers.get("etag"));
});

test("it needs a key that may read flags, and tells of that key's environment alone", async () => {
  const { admin, client } = await server.environment();
  const other = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  assert.equal((await client("GET", path)).status, 403);
  assert.equal((await server.anonymous("GET", path)).status, 401);
  assert.equal((await server.api("nobody-0123456789abcdef")("GET", path)).status, 401);
  const { body } = await other.server("GET", path);
  assert.deepEqual((body as { flags: object }).flags, {});
});

test("a large one comes compressed to those who take it, and means the same", async () => {
  const { admin, keys } = await server.environment();
  for (let count = 0; count < 30; count += 1) {
    await admin("POST", "/flags", { key: `flag-${count}`, type: "boolean" });
  }
  const ask = async (accepted: string) => {
    const { headers, ...answer } = await fetch(`${server.url}/flagd/v1/flags.json`, {
      headers: { ...bearer(keys.server), "accept-encoding": accepted },
    }).then(async (response) => ({ headers: response.headers, text: await response.text() }));
    assert.match(headers.get("vary") ?? "", /accept-encoding/);
    return [answer.text, headers.get("content-encoding"), headers.get("etag")] as const;
  };
  const [plain, none, tag] = await ask("identity");
  assert.equal(none, null);
  assert.deepEqual(await ask("gzip"), [plain, "gzip", tag]);
});
