// MCP over HTTP with several processes: a plan that one has made, another applies. On both stores.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { createApi } from "./support/api.ts";
import { serveHalyard } from "./support/halyard-process.ts";
import { newFolder } from "./support/server.ts";
import { until } from "./support/until.ts";

interface Told {
  readonly structuredContent: { readonly plan?: string; readonly outcome?: string };
}

test("a plan that one worker has made, another applies", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { HALYARD_MCP: "on", HALYARD_WORKERS: "2", HALYARD_ACCESS_LOG: "on" };
  const server = await serveHalyard(folder, settings);
  t.after(async () => {
    server.kill("SIGTERM");
    await server.ended;
  });
  const key = server.keys.development ?? "";
  const api = createApi(server.url, key);
  await api("POST", "/flags", { key: "one", type: "rollout", percentage: 0 });

  let requests = 0;
  /** Over a connection of its own, and which process has answered. */
  const use = async (name: string, input: object) => {
    requests += 1;
    const response = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        connection: "close",
        "x-request-id": `asked-${requests}`,
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name, arguments: input },
      }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const json = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
    const { result } = JSON.parse(json) as { readonly result: Told };
    const line = new RegExp(`^\\{.*"reqId":"asked-${requests}".*"route":"/mcp".*\\}$`, "m");
    const [found] = await server.printed(line);
    const { worker } = JSON.parse(found) as { readonly worker: number };
    return { ...result.structuredContent, worker };
  };
  const planAndApply = async (percentage: number): Promise<boolean> => {
    const patch = { kind: "flag", action: "patch", key: "one", body: { percentage } };
    const made = await use("plan_change", { operations: [patch], reason: "A test" });
    const applied = await use("apply_plan", { plan: made.plan });
    assert.equal(applied.outcome, "applied");
    const { body } = await api("GET", "/flags/one");
    assert.equal((body as { percentage: number }).percentage, percentage);
    return made.worker !== applied.worker;
  };
  let percentage = 0;
  // The system chooses who gets a connection.
  await until("another process applies", () => {
    percentage = (percentage % 100) + 1;
    return planAndApply(percentage);
  });
});
