// MCP over HTTP as a surface of the server: off unless it is switched on, for keys alone, not for pages, within limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestServer } from "../../server/test/support/server.ts";
import { overHttp } from "./support/assistant.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

const post = (url: string, headers: Record<string, string>, body: unknown = list) =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });

test("it is off unless HALYARD_MCP says so", async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const { keys } = await server.environment();
  const answer = await post(server.url, { authorization: `Bearer ${keys.admin}` });
  assert.equal(answer.status, 404);
});

test("it takes keys that may read, and refuses pages, other methods, and what is too long", async (context) => {
  const server = await startTestServer({
    HALYARD_MCP: "read-only",
    HALYARD_PUBLIC_URL: "https://flags.example.com",
  });
  context.after(() => server.close());
  const { keys } = await server.environment();
  const authorization = `Bearer ${keys.admin}`;
  assert.equal((await post(server.url, { authorization })).status, 200);
  assert.equal((await post(server.url, {})).status, 401);
  assert.equal((await post(server.url, { authorization: "Bearer nobody" })).status, 401);
  const client = await post(server.url, { authorization: `Bearer ${keys.client}` });
  assert.equal(client.status, 403);

  const own = { authorization, origin: "https://flags.example.com" };
  assert.equal((await post(server.url, own)).status, 200);
  // The Host is what a page whose name was pointed at this server would send too.
  for (const origin of [server.url, "https://evil.example", "null"]) {
    assert.equal((await post(server.url, { authorization, origin })).status, 403, origin);
  }
  const get = await fetch(`${server.url}/mcp`, { headers: { authorization } });
  assert.equal(get.status, 405);
  const long = { ...list, params: { text: "x".repeat(256 * 1_024) } };
  assert.equal((await post(server.url, { authorization }, long)).status, 413);

  const assistant = await overHttp(server, keys.admin);
  assert.equal((await assistant.tools()).includes("apply_plan"), false);
});
