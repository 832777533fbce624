// /metrics tells what was done, by names that clients cannot make up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { createFlag, patchFlag, register } from "./support/delivery-log.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { exchange } from "./support/raw-http.ts";
import { parseScrape, scrape } from "./support/scrape.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
let environment: TestEnvironment;
before(async () => {
  server = await startTestServer({ HALYARD_RATE_LIMIT: "50" });
  environment = await server.environment();
});
after(() => server.close());

const requests = "halyard_http_requests_total";
const flagRoute = "/api/v1/flags/:key";

suite("requests", () => {
  test("by method, route and status", async () => {
    const { admin, keys } = environment;
    await createFlag(admin, "one");
    const before = await scrape(server.url);
    for (let turn = 0; turn < 3; turn += 1) await admin("GET", "/flags/one");
    for (let turn = 0; turn < 2; turn += 1) await admin("GET", "/flags");
    await admin("GET", "/flags/one", undefined, { "if-none-match": '"1"' });
    await admin("GET", "/flags/two");
    const evaluate = (path: string) =>
      fetch(`${server.url}/ofrep/v1/evaluate/flags/${path}`, {
        method: "POST",
        headers: { ...bearer(keys.client), "content-type": "application/json" },
        body: '{"context":{}}',
      });
    for (const path of ["one", "one", "one?x", "none"]) await (await evaluate(path)).text();
    const now = await scrape(server.url);
    const grown = (labels: Record<string, string>) =>
      now.value(requests, labels) - before.value(requests, labels);
    assert.equal(grown({ method: "GET", route: flagRoute, status: "200" }), 3);
    assert.equal(grown({ method: "GET", route: flagRoute, status: "304" }), 1);
    assert.equal(grown({ method: "GET", route: flagRoute, status: "404" }), 1);
    assert.equal(grown({ method: "GET", route: "/api/v1/flags", status: "200" }), 2);
    const evaluation = "/ofrep/v1/evaluate/flags/:key";
    assert.equal(grown({ method: "POST", route: evaluation, status: "200" }), 3);
    assert.equal(grown({ method: "POST", route: evaluation, status: "404" }), 1);
    // Every request has its time too.
    const timed = "halyard_http_request_duration_seconds";
    for (const name of [`${timed}_count`, `${timed}_bucket`]) {
      const labels = { route: flagRoute, method: "GET" };
      const all = name.endsWith("_bucket") ? { ...labels, le: "+Inf" } : labels;
      assert.equal(now.value(name, all) - before.value(name, all), 5, name);
    }
    assert.ok(now.value(`${timed}_sum`) > before.value(`${timed}_sum`));
  });

  test("nobody can make up names", async () => {
    const invented = "no-such-path-anywhere";
    await server.anonymous("GET", `//${invented}`);
    await server.anonymous("GET", `/flags/${invented}`);
    await environment.admin("GET", `/flags/${invented}?${invented}`);
    await server.anonymous("POST", "//healthz");
    for (const [method, path] of [
      ["PROPFIND", `/${invented}`],
      ["GET", `/%zz${invented}`],
    ]) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      await exchange(server.url, head);
    }
    const response = await fetch(`${server.url}/metrics`);
    const text = await response.text();
    assert.ok(!text.includes(invented));
    assert.ok(!text.includes("PROPFIND"));
    const now = parseScrape(text);
    assert.ok(now.value(requests, { method: "other", route: "none", status: "404" }) >= 1);
    assert.ok(now.value(requests, { method: "GET", route: "none", status: "400" }) >= 1);
    assert.ok(now.value(requests, { method: "POST", route: "none", status: "405" }) >= 1);
  });

  test("refusals by reason", async () => {
    const before = await scrape(server.url);
    await server.anonymous("GET", "/flags");
    await server.api("wrong")("GET", "/flags");
    const { server: reader } = await server.environment();
    for (let turn = 0; turn < 53; turn += 1) await reader("GET", "/flags");
    const now = await scrape(server.url);
    const grown = (reason: string) =>
      now.value("halyard_refused_total", { reason }) -
      before.value("halyard_refused_total", { reason });
    assert.equal(grown("authentication"), 2);
    assert.equal(grown("rate_limit"), 3);
    assert.equal(grown("overload_management"), 0);
    assert.ok(now.names.has("halyard_requests_waiting"));
  });
});

test("evaluations by value, single and bulk", async () => {
  const { admin, client } = await server.environment();
  const keys = ["off", "on", "split"];
  for (const key of keys) {
    const type = key === "split" ? "rollout" : "boolean";
    await admin("POST", "/flags", { key, type });
    await admin("PATCH", `/flags/${key}`, {
      enabled: key !== "off",
      ...(type === "rollout" && { percentage: 50 }),
    });
  }
  const before = await scrape(server.url);
  // One of each: on, off, and an error, for nobody is named.
  for (const key of keys) await client("POST", `//ofrep/v1/evaluate/flags/${key}`, { context: {} });
  await client("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  const now = await scrape(server.url);
  for (const value of ["on", "off", "error"]) {
    const name = "halyard_evaluations_total";
    assert.equal(now.value(name, { value }) - before.value(name, { value }), 2, value);
  }
});

test("streams by kind, for as long as they are open", async () => {
  const { keys, client } = environment;
  const open = async (kind: string) =>
    (await scrape(server.url)).value("halyard_streams_open", { kind });
  const { body } = await client("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  const { eventStreams } = body as { eventStreams: [{ url: string }] };
  const flags = await openStream(`${server.url}/api/v1/stream`, bearer(keys.server));
  const refetch = await openStream(eventStreams[0].url);
  await flags.first(1);
  await refetch.first(1);
  assert.deepEqual([await open("flags"), await open("refetch")], [1, 1]);
  flags.close();
  await until("the stream is gone", async () => (await open("flags")) === 0);
  assert.equal(await open("refetch"), 1);
  refetch.close();
  await until("the other is gone", async () => (await open("refetch")) === 0);
  assert.equal((await scrape(server.url)).value("halyard_streams_opened_total"), 2);
});

test("changes, attempts, deliveries and the backlog", async (t) => {
  const receiver = await startReceiver(() => ({ status: 503 }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const before = await scrape(server.url);
  await register(admin, receiver.url);
  const gone = await startReceiver();
  await register(admin, gone.url);
  await gone.close();
  const key = await createFlag(admin);
  await until("both attempts have failed", async () => {
    const now = await scrape(server.url);
    const grown = (outcome: string) =>
      now.value("halyard_delivery_attempts_total", { outcome }) -
      before.value("halyard_delivery_attempts_total", { outcome });
    return grown("status_5xx") === 1 && grown("connection") === 1;
  });
  const waiting = await scrape(server.url);
  assert.equal(waiting.value("halyard_deliveries_pending"), 2);
  assert.equal(waiting.value("halyard_deliveries_settled_total", { outcome: "delivered" }), 0);
  // Its age is counted from when it became due, and the next attempt is not due yet.
  assert.ok(waiting.names.has("halyard_delivery_oldest_due_age_seconds"));

  receiver.answer(() => ({ status: 204 }));
  await until("one was delivered", async () => {
    const now = await scrape(server.url);
    return (
      now.value("halyard_deliveries_settled_total", { outcome: "delivered" }) === 1 &&
      now.value("halyard_delivery_attempts_total", { outcome: "success" }) === 1
    );
  });
  await patchFlag(admin, key, { enabled: true });
  const now = await scrape(server.url);
  const timed = "halyard_delivery_attempt_duration_seconds_count";
  assert.ok(now.value(timed, { result: "success" }) >= 1);
  assert.ok(now.value(timed, { result: "failure" }) >= 2);
  const changes = (action: string) =>
    now.value("halyard_changes_total", { action }) -
    before.value("halyard_changes_total", { action });
  assert.deepEqual(["webhook.created", "flag.created", "flag.enabled"].map(changes), [2, 1, 1]);
  for (const operation of ["transaction", "read", "delivery"]) {
    assert.ok(now.value("halyard_store_duration_seconds_count", { operation }) > 0, operation);
  }
  assert.ok(now.value("halyard_store_look_age_seconds") < 30);
});

test("the process: memory, event loop, collections, and which version it is", async () => {
  const now = await scrape(server.url);
  assert.equal(now.value("halyard_processes"), 1);
  assert.deepEqual(now.labelValues("halyard_build_info", "version").size, 1);
  assert.ok(now.value("process_resident_memory_bytes") > 10_000_000);
  for (const name of [
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_heap_size_used_bytes",
    "process_cpu_seconds_total",
    "process_start_time_seconds",
  ]) {
    assert.ok(now.names.has(name), name);
  }
});

test("the dashboard for Grafana asks for metrics and labels that there are", async () => {
  const file = new URL("../../../docs/grafana-dashboard.json", import.meta.url);
  const dashboard = JSON.parse(readFileSync(file, "utf8")) as {
    panels: { id: number; title: string; targets?: { expr: string }[] }[];
  };
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(queries.length > 20);
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  const response = await fetch(`${server.url}/metrics`);
  const text = await response.text();
  // A family without a series yet is known by its type.
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
  );
  const now = parseScrape(text);
  const labelsOf = (name: string): ReadonlySet<string> =>
    new Set(
      [...text.matchAll(new RegExp(`^${name}\\{(.*)\\}`, "gm"))].flatMap(([, labels = ""]) =>
        [...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label),
      ),
    );
  for (const query of queries) {
    const names = query.match(/\b(halyard|nodejs|process)_\w+/g) ?? [];
    assert.ok(names.length > 0, query);
    for (const name of names) {
      const family = name.replace(/_(bucket|sum|count)$/, "");
      const isKnown = types.has(name) || (types.get(family) === "histogram" && name !== family);
      assert.ok(isKnown, `${name} is in no scrape: ${query}`);
      if (!now.names.has(name)) continue;
      const by = /\bby \(([^)]*)\)/.exec(query)?.[1]?.split(/, */) ?? [];
      const labels = labelsOf(name);
      for (const label of by) assert.ok(labels.has(label), `${name} has no ${label}: ${query}`);
    }
  }
});
