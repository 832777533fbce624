// When a key was last used, over real HTTP.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Key {
  readonly name: string;
  readonly lastUsedAt: string | null;
}

test("the list tells when each key was last used, on this instance at once", async () => {
  const { admin, server: reader } = await server.environment();
  const before = Date.now();
  const lastUsed = async () =>
    Object.fromEntries(
      ((await admin("GET", "/keys")).body as Key[]).map(({ name, lastUsedAt }) => [
        name,
        lastUsedAt,
      ]),
    );
  const first = await lastUsed();
  assert.equal(first.server, null);
  assert.equal(first.client, null);
  assert.ok(Date.parse(first.admin ?? "") >= before);
  assert.equal((await reader("GET", "/flags")).status, 200);
  const second = await lastUsed();
  assert.ok(Date.parse(second.server ?? "") >= before);
  assert.equal(second.client, null);
});
