// Management calls when answers are lost or late: another attempt only where it can do no harm.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { suite, test } from "node:test";
import { applyChanges } from "@halyard/sdk/apply-plan";
import { createManagement, type ManagementErrorCode } from "@halyard/sdk/management";
import { key } from "./support/clients.ts";
import { booleanFlag, scriptedServer, sendJson } from "./support/scripted-server.ts";

const flagRoute = "/api/v1/flags/a";
const off = booleanFlag("a", false);
const on = booleanFlag("a", true);

type Step = (response: ServerResponse) => unknown;
const lost: Step = (response) => response.destroy();
const unavailable: Step = (response) =>
  response.writeHead(503, { "retry-after": "0" }).end('{"error":"UNAVAILABLE","message":"later"}');
const limited: Step = (response) =>
  response.writeHead(429, { "retry-after": "0" }).end('{"error":"RATE_LIMITED","message":"slow"}');
const internal: Step = (response) =>
  sendJson(response, 500, { error: "INTERNAL", message: "oops" });
const gateway: Step = (response) => response.writeHead(502).end("<html>");
const missing: Step = (response) =>
  sendJson(response, 404, { error: "NOT_FOUND", message: "gone" });
const flag: Step = (response) => response.writeHead(200, { etag: '"2"' }).end(JSON.stringify(on));
const removed: Step = (response) => response.writeHead(204).end();
const moved =
  (version: number, current: object): Step =>
  (response) =>
    response
      .writeHead(412, { etag: `"${version}"` })
      .end(JSON.stringify({ error: "PRECONDITION_FAILED", message: "moved", current }));

suite("attempts", { concurrency: true }, () => {
  type Name =
    | "get"
    | "post"
    | "patch"
    | "patchMatch"
    | "delete"
    | "deleteMatch"
    | "revoke"
    | "webhook"
    | "together"
    | "members"
    | "segment";
  const cases: readonly [
    call: Name,
    steps: readonly Step[],
    outcome: "ok" | ManagementErrorCode,
    attempts: number,
  ][] = [
    ["get", [lost, gateway, flag], "ok", 3],
    ["get", [lost, lost, lost, flag], "UNREACHABLE", 3],
    ["get", [unavailable, limited, flag], "ok", 3],
    ["get", [internal, flag], "INTERNAL", 1],
    ["get", [missing, flag], "NOT_FOUND", 1],
    ["post", [lost, unavailable, flag], "ok", 3],
    ["post", [gateway, gateway, gateway], "UNEXPECTED_ANSWER", 3],
    ["post", [internal, flag], "INTERNAL", 1],
    ["patch", [lost, flag], "UNREACHABLE", 1],
    ["patch", [unavailable, flag], "UNAVAILABLE", 1],
    ["patch", [limited, flag], "ok", 2],
    ["patchMatch", [lost, flag], "ok", 2],
    ["patchMatch", [lost, moved(2, on)], "ok", 2],
    ["patchMatch", [lost, limited, moved(2, on)], "ok", 3],
    ["patchMatch", [lost, moved(2, off)], "PRECONDITION_FAILED", 2],
    ["patchMatch", [lost, moved(3, on)], "PRECONDITION_FAILED", 2],
    ["patchMatch", [limited, moved(2, on)], "PRECONDITION_FAILED", 2],
    ["patchMatch", [moved(2, on)], "PRECONDITION_FAILED", 1],
    ["delete", [lost, removed], "UNREACHABLE", 1],
    ["delete", [limited, removed], "ok", 2],
    ["deleteMatch", [lost, missing], "ok", 2],
    ["deleteMatch", [lost, moved(3, on)], "PRECONDITION_FAILED", 2],
    ["deleteMatch", [limited, missing], "NOT_FOUND", 2],
    ["revoke", [lost, missing], "ok", 2],
    ["revoke", [missing], "NOT_FOUND", 1],
    ["webhook", [lost, flag], "UNREACHABLE", 1],
    ["together", [lost, unavailable, flag], "ok", 3],
    ["members", [lost, flag], "ok", 2],
    ["segment", [lost, flag], "UNREACHABLE", 1],
  ];
  for (const [name, steps, outcome, attempts] of cases) {
    const described = steps.map(
      (step) =>
        Object.entries({
          lost,
          unavailable,
          limited,
          internal,
          gateway,
          missing,
          flag,
          removed,
        }).find(([, known]) => known === step)?.[0] ?? "412",
    );
    test(`${name}: ${described.join(", ")} gives ${outcome}`, async (t) => {
      const server = await scriptedServer(t);
      const respond = (response: ServerResponse) => steps[server.received.length - 1]?.(response);
      for (const route of [
        `GET ${flagRoute}`,
        "POST /api/v1/flags",
        `PATCH ${flagRoute}`,
        `DELETE ${flagRoute}`,
        "DELETE /api/v1/keys/k",
        "PATCH /api/v1/webhooks/w",
        "POST /api/v1/changes",
        "POST /api/v1/segments/s/members",
        "PATCH /api/v1/segments/s",
      ]) {
        server.answer(route, respond);
      }
      const { flags, keys, segments, webhooks } = createManagement({ url: server.url, key });
      const calls = {
        get: () => flags.get("a"),
        together: () => flags.changeTogether([{ flag: "a", patch: { enabled: true } }]),
        members: () => segments.changeMembers("s", { include: { add: ["ann"] } }),
        segment: () => segments.update("s", { when: null }),
        post: () => flags.create({ key: "a", type: "boolean" }),
        patch: () => flags.update("a", { enabled: true }),
        patchMatch: () => flags.update("a", { enabled: true }, { ifMatch: 1 }),
        delete: () => flags.delete("a"),
        deleteMatch: () => flags.delete("a", { ifMatch: 1 }),
        revoke: () => keys.revoke("k"),
        webhook: () => webhooks.update("w", { active: true }),
      };
      const result = await calls[name]();
      assert.equal(result.ok ? "ok" : result.error.code, outcome);
      assert.equal(server.received.length, attempts);
      if (name === "patchMatch" && result.ok)
        assert.deepEqual([result.value, result.version], [on, 2]);
      const tokens = new Set(server.received.map(({ headers }) => headers["idempotency-key"]));
      assert.equal(tokens.size, 1, "the same idempotency key at every attempt");
      assert.equal(tokens.has(undefined), !["post", "together", "members"].includes(name));
    });
  }

  test("each call has an idempotency key of its own", async (t) => {
    const server = await scriptedServer(t, { "POST /api/v1/flags": flag });
    const { flags } = createManagement({ url: server.url, key });
    for (const name of ["a", "b"]) await flags.create({ key: name, type: "boolean" });
    const [first, second] = server.received.map(({ headers }) => headers["idempotency-key"]);
    assert.match(String(first), /^[0-9a-f]{32}$/);
    assert.notEqual(first, second);
  });

  test("a long Retry-After is returned instead of waited for", async (t) => {
    const server = await scriptedServer(t, {
      [`GET ${flagRoute}`]: (response) =>
        response
          .writeHead(429, { "retry-after": "3600" })
          .end('{"error":"RATE_LIMITED","message":"slow"}'),
    });
    const result = await createManagement({ url: server.url, key }).flags.get("a");
    assert.ok(!result.ok);
    assert.equal(result.error.retryAfter, 3_600_000);
    assert.equal(server.received.length, 1);
  });
});

suite("waiting and giving up", () => {
  for (const [where, seconds] of [
    ["client", 25],
    ["plan", 55],
  ] as const) {
    test(`a plan that is stopped while the ${where} waits for the rate limit sends nothing more`, async (t) => {
      const server = await scriptedServer(t, {
        [`DELETE ${flagRoute}`]: (response) =>
          response
            .writeHead(429, { "retry-after": String(seconds) })
            .end('{"error":"RATE_LIMITED","message":"slow"}'),
      });
      const stop = new AbortController();
      const { signal } = stop;
      const management = createManagement({
        url: server.url,
        key,
        retryUntil: signal,
        async fetch(...request) {
          const response = await fetch(...request);
          // Soon: the response is read by then, and the test waits.
          setTimeout(() => stop.abort(), 20);
          return response;
        },
      });
      const outcomes = await applyChanges(
        management,
        [{ of: "flag", kind: "delete", key: "a", flag: off }],
        { onProgress: () => {}, onWait: () => {}, versions: new Map([["a", 1]]), signal },
      );
      assert.partialDeepStrictEqual(outcomes, [{ kind: "failed", error: { code: "ABORTED" } }]);
      assert.equal(server.received.length, 1);
    });
  }

  test("Retry-After is waited for", async (t) => {
    const server = await scriptedServer(t, {
      [`GET ${flagRoute}`]: (response) =>
        server.received.length > 1
          ? flag(response)
          : response
              .writeHead(503, { "retry-after": "20" })
              .end('{"error":"UNAVAILABLE","message":"later"}'),
    });
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { flags } = createManagement({ url: server.url, key });
    const result = flags.get("a", { timeout: 1_000_000 });
    let seconds = 0;
    while (server.received.length < 2) {
      await new Promise(setImmediate);
      // Beyond that the second request is under way, and its own time limit must not end it.
      if (server.received.length === 0 || seconds > 100) continue;
      t.mock.timers.tick(1_000);
      seconds += 1;
    }
    assert.ok((await result).ok);
    assert.ok(seconds >= 20, `retried after ${seconds} seconds`);
  });

  test("the time limit counts for each attempt", async (t) => {
    const server = await scriptedServer(t, { [`GET ${flagRoute}`]: () => undefined });
    const { flags } = createManagement({ url: server.url, key });
    const result = await flags.get("a", { timeout: 1_500 });
    assert.ok(!result.ok);
    assert.equal(result.error.code, "UNREACHABLE");
    assert.match(result.error.message, /timed out after 1500 ms$/);
    assert.equal(server.received.length, 3);
  });

  test("the caller's signal ends it: before, during a request, during a pause", async (t) => {
    const server = await scriptedServer(t, {
      [`GET ${flagRoute}`]: () => stop.abort(new Error("enough")),
      "GET /api/v1/keys": (response) => {
        response
          .writeHead(503, { "retry-after": "20" })
          .end('{"error":"UNAVAILABLE","message":"later"}');
        setImmediate(() => stop.abort(new Error("enough")));
      },
    });
    const { flags, keys } = createManagement({ url: server.url, key });
    let stop = new AbortController();
    for (const call of [
      () => flags.get("a", { signal: stop.signal }),
      () => keys.list({ signal: stop.signal }),
      () => flags.get("a", { signal: AbortSignal.abort() }),
    ]) {
      stop = new AbortController();
      const result = await call();
      assert.ok(!result.ok);
      assert.equal(result.error.code, "ABORTED");
    }
    assert.equal(server.received.length, 2);
  });

  test("a server that is not there", async () => {
    const result = await createManagement({ url: "http://127.0.0.1:9", key }).flags.list();
    assert.ok(!result.ok);
    assert.equal(result.error.code, "UNREACHABLE");
    assert.match(result.error.message, /cannot be reached/);
  });
});
