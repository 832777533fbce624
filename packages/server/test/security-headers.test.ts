// Headers that keep browsers from making more of an answer than it is, on every path and on every way to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer } from "./support/event-reader.ts";
import { exchange } from "./support/raw-http.ts";
import { startTestServer } from "./support/server.ts";

const assertGuarded = (headers: Headers, what: string): void => {
  assert.equal(headers.get("x-content-type-options"), "nosniff", what);
  // JSON of the API is no page.
  if (!/ \/(api|ofrep)\//.test(what)) {
    assert.equal(headers.get("x-frame-options"), "DENY", what);
    assert.equal(headers.get("referrer-policy"), "no-referrer", what);
  }
  assert.ok(headers.get("cache-control"), what);
  assert.match(headers.get("x-request-id") ?? "", /^[\w.:-]+$/, what);
  for (const telling of ["server", "x-powered-by", "strict-transport-security"]) {
    assert.equal(headers.get(telling), null, what);
  }
};

test("every answer has them", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin, keys } = await server.environment();
  await admin("POST", "/flags", { key: "one", type: "boolean" });
  const context = { method: "POST", body: '{"context":{}}' };
  const asked: readonly [string, RequestInit][] = [
    ["/api/v1/flags", {}],
    ["/api/v1/flags/one", {}],
    ["/api/v1/flags/one?x=1", {}],
    ["/api/v1/flags/two", {}],
    ["/api/v1/stream", {}],
    ["/api/v1/flags", { method: "PUT" }],
    ["/api/v1/flags", { method: "POST", body: "{" }],
    ["/api/v1/flags", { headers: {} }],
    ["/ofrep/v1/evaluate/flags/one", context],
    ["/ofrep/v1/evaluate/flags/one?x", context],
    ["/ofrep/v1/evaluate/flags", context],
    ["/ofrep/v1/events?token=wrong", {}],
    ["/ofrep/v1/evaluate/flags/one", { method: "OPTIONS" }],
    ["/no/such/path", {}],
    ["/healthz", {}],
    ["/readyz", {}],
    ["/metrics", {}],
    ["/openapi.json", {}],
    ["/docs", {}],
    ["/", {}],
    ["/session", {}],
    ["/sign-in?once=wrong", { redirect: "manual" }],
  ];
  for (const [path, init] of asked) {
    const headers = { ...bearer(keys.admin), "content-type": "application/json" };
    const leave = new AbortController();
    const response = await fetch(server.url + path, { headers, signal: leave.signal, ...init });
    assertGuarded(response.headers, `${init.method ?? "GET"} ${path} ${response.status}`);
    leave.abort();
  }
  const { answers } = await exchange(
    server.url,
    "GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  assert.equal(answers[0]?.status, 400);
  assertGuarded(answers[0].headers, "a path that is none");
});

test("pages may not be framed, and nothing from elsewhere runs in them", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  for (const path of ["/", "/docs"]) {
    const { headers } = await fetch(server.url + path);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.match(policy, /default-src '(none|self)'/, path);
    assert.doesNotMatch(policy, /unsafe-(inline|eval)/, path);
  }
});
