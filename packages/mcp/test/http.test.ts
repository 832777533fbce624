// MCP over HTTP: off unless configured, for API keys only, not for web pages, and within limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInThread } from "../../cli/test/support/command-thread.ts";
import { runHalyard, serveHalyard } from "../../server/test/support/halyard-process.ts";
import { logLines } from "../../server/test/support/log-lines.ts";
import { startTestServer } from "../../server/test/support/server.ts";
import { serverError } from "../src/tool-result.ts";
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

test("a lost response is reported as an unknown outcome", () => {
  const sentenceOf = (code: "UNREACHABLE" | "FORBIDDEN") =>
    serverError({ code, message: "" }).content[0]?.text ?? "";
  assert.match(sentenceOf("FORBIDDEN"), /It changed nothing/);
  assert.match(sentenceOf("UNREACHABLE"), /outcome is unknown .* check whether it was applied/);
});

test("keys with read access work; web pages, other methods and long bodies are rejected", async (context) => {
  const server = await startTestServer({
    HALYARD_MCP: "read-only",
    HALYARD_PUBLIC_URL: "https://flags.example.com",
  });
  context.after(() => server.close());
  const { keys } = await server.environment();
  const authorization = `Bearer ${keys.admin}`;
  assert.equal((await post(server.url, { authorization })).status, 200);
  assert.equal((await post(server.url, {})).status, 401);
  assert.equal((await post(server.url, { authorization: "Bearer unknown" })).status, 401);
  const client = await post(server.url, { authorization: `Bearer ${keys.client}` });
  assert.equal(client.status, 403);

  const own = { authorization, origin: "https://flags.example.com" };
  assert.equal((await post(server.url, own)).status, 200);
  // A page whose name was pointed at this server would send the same Host.
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

test("another instance applies a plan, and its audit line has the key, the address and the request", async (context) => {
  const server = await startTestServer({ HALYARD_MCP: "on" });
  context.after(() => server.close());
  const { admin, newKey } = await server.environment();
  await admin("POST", "/flags", { key: "one", type: "boolean" });
  const key = await newKey("editor");
  const operations = [{ kind: "flag", action: "patch", key: "one", body: { enabled: true } }];
  const here = await overHttp(server, key);
  const { data } = await here.use("plan_change", { operations, reason: "Ready" });

  const other = await serveHalyard(server.folder, { HALYARD_MCP: "on" });
  const there = await overHttp(other, key, "auto", { "x-request-id": "request-1" });
  await there.use("apply_plan", { plan: data.plan });
  other.kill("SIGTERM");
  const { stdout } = await other.ended;
  const [line, ...more] = logLines(stdout).filter(({ audit }) => audit !== undefined);
  assert.deepEqual(more, []);
  assert.equal(line?.keyName, "editor");
  assert.equal(line?.reqId, "request-1");
  assert.equal(line?.address, "127.0.0.1");
  assert.equal(line?.reason, "Ready");
});

test("it is off unless HALYARD_MCP is set; halyard mcp works anyway, and exits at the end of its input", async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const { keys } = await server.environment();
  const answer = await post(server.url, { authorization: `Bearer ${keys.admin}` });
  assert.equal(answer.status, 404);

  const settings = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.server };
  const ended = await runHalyard(["mcp"], settings);
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, "", ""]);
  const wrong = await runInThread(["mcp"], { ...settings, HALYARD_API_KEY: "unknown" });
  assert.equal(wrong.code, 4);
  assert.equal(wrong.stdout, "");
  assert.match(wrong.stderr, /^halyard: .*key/i);
});
