// Spans, when the operator has loaded an SDK into the process: requests, the store, callbacks; and nothing that is secret.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { createApi } from "./support/api.ts";
import { register } from "./support/delivery-log.ts";
import { bearer } from "./support/event-reader.ts";
import { type RunningServer, serveHalyard } from "./support/halyard-process.ts";
import { type ScriptedReceiver, startReceiver } from "./support/scripted-receiver.ts";
import { newFolder } from "./support/server.ts";

interface ShownSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

const folder = newFolder();
const sdk = new URL("./support/print-spans.ts", import.meta.url);
const key = "trace-key-0123456789abcdef";
let halyard: RunningServer;
let receiver: ScriptedReceiver;
before(async () => {
  halyard = await serveHalyard(folder, {
    NODE_OPTIONS: `--import=${sdk.href}`,
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
  });
  receiver = await startReceiver();
});
after(async () => {
  halyard.kill("SIGTERM");
  await halyard.ended;
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The first span in whose line the pattern is found. */
const spanWith = async (pattern: string): Promise<ShownSpan> => {
  const [, line = ""] = await halyard.printed(new RegExp(`^SPAN (.*(?:${pattern}).*)$`, "m"));
  return JSON.parse(line) as ShownSpan;
};

/** A new trace, and what names it in a request. */
let traces = 0;
const newTrace = () => {
  traces += 1;
  const traceId = traces.toString(16).padStart(32, "a");
  const parentId = traces.toString(16).padStart(16, "b");
  return { traceId, parentId, headers: { traceparent: `00-${traceId}-${parentId}-01` } };
};

suite("a request", () => {
  test("goes on with the trace of its client, and its store calls belong to it", async () => {
    const { traceId, parentId, headers } = newTrace();
    const admin = createApi(halyard.url, key);
    const made = await admin("POST", "/flags?", { key: "one", type: "boolean" }, headers);
    assert.equal(made.status, 201, made.text);
    const span = await spanWith(`"kind":"SERVER","traceId":"${traceId}"`);
    assert.equal(span.name, "POST /api/v1/flags");
    assert.equal(span.parentId, parentId);
    assert.equal(span.scope, "halyard");
    assert.equal(span.failed, false);
    const { "user_agent.original": agent, ...attributes } = span.attributes;
    assert.ok(typeof agent === "string");
    assert.deepEqual(attributes, {
      "http.request.method": "POST",
      "http.route": "/api/v1/flags",
      "http.response.status_code": 201,
      "url.path": "/api/v1/flags",
      "url.scheme": "http",
      "server.address": "127.0.0.1",
      "network.protocol.version": "1.1",
    });
    const store = await spanWith(`store transact","kind":"CLIENT","traceId":"${traceId}"`);
    assert.equal(store.parentId, span.spanId);
    assert.deepEqual(store.attributes, {
      "db.system.name": "sqlite",
      "db.operation.name": "transact",
    });
  });

  test("for an evaluation or a read has a span with its route", async () => {
    const admin = createApi(halyard.url, key);
    const { traceId, headers } = newTrace();
    const context = { context: {} };
    await admin("POST", "//ofrep/v1/evaluate/flags/one", context, headers);
    const evaluation = await spanWith(`"kind":"SERVER","traceId":"${traceId}"`);
    assert.equal(evaluation.name, "POST /ofrep/v1/evaluate/flags/:key");
    const reading = newTrace();
    await admin("GET", "/flags/one", undefined, reading.headers);
    const read = await spanWith(`"kind":"SERVER","traceId":"${reading.traceId}"`);
    assert.equal(read.name, "GET /api/v1/flags/:key");
  });

  test("to nowhere is named by its method, and a query is never told", async () => {
    const { traceId, headers } = newTrace();
    const url = `${halyard.url}/no/such/path?token=secret-in-the-query`;
    await (await fetch(url, { headers: { ...headers, ...bearer(key) } })).text();
    const span = await spanWith(`"kind":"SERVER","traceId":"${traceId}"`);
    assert.equal(span.name, "GET");
    assert.equal(span.attributes["http.response.status_code"], 404);
    assert.equal(span.attributes["http.route"], undefined);
    assert.ok(!JSON.stringify(span).includes("secret-in-the-query"));
  });
});

test("an attempt is a trace of its own, and its receiver is told nothing of it", async () => {
  const admin = createApi(halyard.url, key);
  const { headers, traceId } = newTrace();
  await register(admin, `${receiver.url}/path-that-is-secret`);
  await admin("PATCH", "/flags/one", { enabled: true }, headers);
  const span = await spanWith('POST","kind":"CLIENT"');
  assert.notEqual(span.traceId, traceId);
  assert.equal(span.parentId, undefined);
  const { "halyard.event.id": event, ...attributes } = span.attributes;
  assert.match(String(event), /^evt_/);
  assert.deepEqual(attributes, {
    "http.request.method": "POST",
    "http.response.status_code": 204,
    "server.address": "127.0.0.1",
    "server.port": receiver.port,
    "url.scheme": "http",
  });
  const [received] = receiver.received;
  assert.ok(received);
  assert.equal(received.headers.traceparent, undefined);

  receiver.answer(() => ({ status: 500 }));
  await admin("PATCH", "/flags/one", { enabled: false });
  const failed = await spanWith('"kind":"CLIENT".*"failed":true');
  assert.equal(failed.attributes["http.response.status_code"], 500);
  assert.equal(failed.attributes["error.type"], "500");
});

test("what nobody asked for has no span: the store is looked at twice a second", async () => {
  halyard.kill("SIGTERM");
  const { stdout, code } = await halyard.ended;
  assert.equal(code, 0);
  const spans = [...stdout.matchAll(/^SPAN (.*)$/gm)].map(
    ([, line = ""]) => JSON.parse(line) as ShownSpan,
  );
  assert.ok(spans.length > 5);
  for (const { name, parentId } of spans.filter(({ name }) => name.startsWith("store "))) {
    assert.notEqual(parentId, undefined, name);
  }
  assert.ok(!stdout.includes("path-that-is-secret"), "neither a span nor a line tells the path");
});
