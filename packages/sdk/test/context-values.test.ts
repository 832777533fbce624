// The client for one context with values that are not booleans.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";
import { contextClientOf } from "./support/clients.ts";

test("values have every type, with the server's own reasons, and a change of an object is one", async (t) => {
  const flags = [
    { key: "size", value: "L", variant: "large", reason: "TARGETING_MATCH" },
    { key: "limit", value: 9, variant: "large", reason: "SPLIT", metadata: { rule: "pro" } },
    {
      key: "layout",
      value: { columns: 3 },
      reason: "TARGETING_MATCH",
      metadata: { reason: "DEFAULT" },
    },
    { key: "off", value: "S", reason: "STATIC", metadata: { reason: "PREREQUISITE_FAILED" } },
    { key: "later", value: "S", reason: "STATIC", metadata: { reason: "SOMETHING_NEW" } },
    { key: "list", value: [1], reason: "STATIC" },
    { key: "nothing", value: null, reason: "STATIC" },
  ];
  const server = await bulkServer(t, { token: undefined });
  const answer = (list: object[]) =>
    server.answer(bulk, (response) => response.writeHead(200).end(JSON.stringify({ flags: list })));
  answer(flags);
  const usage = "POST /api/v1/usage";
  server.answer(usage, (response) => response.writeHead(204).end());
  const { client, changed } = contextClientOf(t, server.url, {
    bootstrap: { size: "S", layout: { columns: 1 }, on: true },
    reportUsage: true,
    timing: { usageInterval: 60_000 },
  });
  assert.deepEqual(client.details("size", "?"), { value: "S", reason: "CACHED" });
  assert.deepEqual(client.objectValue("layout", {}), { columns: 1 });
  await client.ready();
  assert.deepEqual(
    changed().toSorted(),
    flags
      .map(({ key }) => key)
      .concat("on")
      .toSorted(),
  );
  assert.equal(client.stringValue("size", "?"), "L");
  assert.equal(client.numberValue("limit", 0), 9);
  assert.deepEqual(client.details("limit", 0).rule, "pro");
  assert.deepEqual(client.details("layout", {}), { value: { columns: 3 }, reason: "DEFAULT" });
  assert.equal(client.details("off", "?").reason, "PREREQUISITE_FAILED");
  assert.equal(client.details("later", "?").reason, "STATIC");
  for (const wrong of [
    client.details("size"),
    client.details("limit", "?"),
    client.details("list", {}),
    client.details("nothing", {}),
  ]) {
    assert.equal(wrong.errorCode, "TYPE_MISMATCH");
  }
  assert.equal(client.numberValue("size", 7), 7);
  const { size, limit, layout, off, later } = client.values();
  assert.deepEqual([size, limit, layout, off, later], ["L", 9, { columns: 3 }, "S", "S"]);
  answer([...flags.slice(0, 2), { ...flags[2], value: { columns: 4 } }, ...flags.slice(3)]);
  await until("the change", () => changed().includes("layout"));
  await until("its value", () => Reflect.get(client.objectValue("layout", {}), "columns") === 4);
  assert.equal(changed().filter((key) => key === "size").length, 1, "only what has changed");
  await client.close();
  const { evaluations } = JSON.parse(server.to(usage)[0]?.body ?? "") as {
    evaluations: { key: string }[];
  };
  assert.deepEqual(
    evaluations.filter(({ key }) => key === "size" || key === "off"),
    [
      // The value of the bootstrap has no variant.
      { key: "size", on: 1, off: 0 },
      { key: "size", on: 1, off: 0, variants: { large: 1 } },
      { key: "off", on: 0, off: 1 },
      { key: "size", on: 0, off: 0, errors: { TYPE_MISMATCH: 2 } },
    ],
  );
});
