// With several workers one scrape, and one preview, tells of all of them, whichever is asked.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { serveHalyard } from "./support/halyard-process.ts";
import { scrape } from "./support/scrape.ts";
import { newFolder } from "./support/server.ts";
import { people, sendTraffic } from "./support/traffic.ts";
import { until } from "./support/until.ts";

const token = "scrape-me-0123456789-token";
const own = { authorization: `Bearer ${token}`, connection: "close" };

test("two workers", async (t) => {
  const folder = newFolder();
  const halyard = await serveHalyard(folder, {
    HALYARD_WORKERS: "2",
    HALYARD_METRICS_TOKEN: token,
    HALYARD_DASHBOARD: "off",
  });
  t.after(async () => {
    halyard.kill("SIGTERM");
    const { code, stdout, stderr } = await halyard.ended;
    // What they still have to tell each other keeps none of them from stopping.
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    assert.doesNotMatch(stdout, /did not stop in time/);
    rmSync(folder, { recursive: true, force: true });
  });

  await t.test("sums and the number of processes, from each of them", async () => {
    const asked = 10;
    // Each on a connection of its own, so that they are dealt out to both.
    for (let turn = 0; turn < asked; turn += 1) {
      await (await fetch(`${halyard.url}/healthz`, { headers: { connection: "close" } })).text();
    }
    for (let turn = 0; turn < 4; turn += 1) {
      const now = await scrape(halyard.url, own);
      assert.equal(now.value("halyard_processes"), 2);
      assert.equal(now.value("halyard_build_info"), 1);
      const labels = { route: "/healthz", method: "GET" };
      assert.equal(now.value("halyard_http_requests_total", { ...labels, status: "200" }), asked);
      const timed = "halyard_http_request_duration_seconds";
      assert.equal(now.value(`${timed}_count`, labels), asked);
      assert.equal(now.value(`${timed}_bucket`, { ...labels, le: "+Inf" }), asked);
      assert.equal(now.value("halyard_deliveries_pending"), 0);
    }
  });

  await t.test("a preview counts the contexts that each of them was asked about", async () => {
    const key = halyard.keys.development ?? "";
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const ask = async (method: string, path: string, body: object) => {
      const response = await fetch(`${halyard.url}/api/v1${path}`, {
        method,
        headers: { ...headers, connection: "close" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, text);
      return JSON.parse(text);
    };
    await ask("POST", "/flags", { key: "checkout", type: "rollout", percentage: 50 });
    // On 16 connections, which are dealt out to both. The worker that did not create the flag may hear of it a little later.
    const contexts = people(200);
    await until("all are answered, so both know the flag", async () => {
      const values = await sendTraffic(halyard.url, key, "checkout", contexts);
      return values.every((value) => value !== undefined);
    });
    for (let turn = 0; turn < 4; turn += 1) {
      const patch = { enabled: true };
      const { sample, changed, unchanged } = await ask("POST", "/flags/checkout/preview", {
        patch,
      });
      assert.equal(sample.contexts, contexts.length);
      assert.equal(changed + unchanged, contexts.length);
    }
  });

  await t.test("a worker that does not answer makes no half of a sum", async () => {
    const [, pid] = await halyard.printed(/"pid":(\d+),"msg":"a worker is up"/);
    assert.notEqual(Number(pid), halyard.pid);
    process.kill(Number(pid), "SIGSTOP");
    const done = new AbortController();
    try {
      // A connection that is dealt out to the stopped one waits with it; of so many, some go to the other.
      const asking = Array.from({ length: 24 }, async () => {
        const response = await fetch(`${halyard.url}/metrics`, {
          headers: own,
          signal: done.signal,
        });
        return { status: response.status, text: await response.text() };
      });
      const refused = await Promise.any(asking);
      assert.equal(refused.status, 503, refused.text);
      assert.match(refused.text, /Not all workers/);
    } finally {
      done.abort();
      process.kill(Number(pid), "SIGCONT");
    }
    await until("both tell again", async () => {
      const response = await fetch(`${halyard.url}/metrics`, { headers: own });
      return response.status === 200 && /^halyard_processes 2$/m.test(await response.text());
    });
  });
});
