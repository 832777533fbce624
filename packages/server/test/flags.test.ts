// Flags over real HTTP: every row of the interface that speaks of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a new flag is off, and comes back exactly as the interface shows it", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/flags", { key: "a", type: "boolean" });
  assert.equal(made.status, 201);
  assert.deepEqual(made.body, { key: "a", type: "boolean", enabled: false, description: null });
  const rollout = await admin("POST", "/flags", { key: "b", type: "rollout", description: "B" });
  assert.deepEqual(rollout.body, {
    key: "b",
    type: "rollout",
    enabled: false,
    percentage: 0,
    description: "B",
  });
  assert.deepEqual((await admin("GET", "/flags/a")).body, made.body);
  assert.deepEqual((await admin("GET", "/flags")).body, [made.body, rollout.body]);
});
