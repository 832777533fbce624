// Reports of usage: what was counted arrives once, in batches, also after failures and at the end.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ResultCounts } from "@halyard/core/result-counts";
import { until } from "../../server/test/support/until.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import {
  booleanFlag,
  type ScriptedServer,
  scriptedServer,
  sendJson,
} from "./support/scripted-server.ts";

const route = "POST /api/v1/usage";
type Evaluations = { evaluations: ({ key: string; on: number; off: number } & ResultCounts)[] };

const reportsTo = (server: ScriptedServer) =>
  server.to(route).map(({ body }) => (JSON.parse(body) as Evaluations).evaluations);

suite("usage", () => {
  test("is reported from time to time and at the end, each evaluation once", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => response.writeHead(204).end(),
    });
    const rollout = {
      key: "r",
      type: "rollout",
      enabled: true,
      percentage: 50,
      description: null,
    } as const;
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: [booleanFlag("a", true), booleanFlag("b", false), booleanFlag("c", true), rollout],
    });
    for (let count = 0; count < 3; count += 1) client.isEnabled("a");
    client.details("b");
    client.isEnabled("r");
    client.isEnabled("missing");
    await until("the first report", () => server.to(route).length > 0);
    assert.deepEqual(reportsTo(server), [
      [
        { key: "a", on: 3, off: 0 },
        { key: "b", on: 0, off: 1 },
      ],
    ]);
    client.isEnabled("c");
    await client.close();
    assert.deepEqual(reportsTo(server).slice(1), [[{ key: "c", on: 1, off: 0 }]]);
    const [request] = server.to(route);
    assert.equal(request?.headers["content-type"], "application/json");
    assert.match(request?.headers.authorization ?? "", /^Bearer /);
  });

  test("carries a bounded sample of the contexts only for who has chosen that", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => response.writeHead(204).end(),
    });
    const options = { reportUsage: true, bootstrap: [booleanFlag("a", true)] } as const;
    const contextsOf = () =>
      server
        .to(route)
        .map(
          ({ body }) => (JSON.parse(body) as { contexts?: { targetingKey: string }[] }).contexts,
        );
    const { client: silent } = clientOf(t, server.url, options);
    silent.isEnabled("a", { targetingKey: "user-1" });
    await silent.close();
    assert.deepEqual(contextsOf(), [undefined]);
    const { client } = clientOf(t, server.url, { ...options, sampleContexts: true });
    const at = new Date(0);
    for (let turn = 0; turn < 3; turn += 1) client.isEnabled("a", { targetingKey: "one", at });
    client.details("a", { targetingKey: "two", bio: "x".repeat(300) });
    client.isEnabled("missing", { targetingKey: "three" });
    const thrower = {
      get targetingKey(): string {
        throw new Error("no context");
      },
    };
    assert.equal(client.isEnabled("a", thrower), true);
    await until("the first report", () => server.to(route).length > 1);
    const [, first = []] = contextsOf();
    const byKey = first.toSorted((one, other) => (one.targetingKey < other.targetingKey ? -1 : 1));
    assert.deepEqual(byKey, [{ targetingKey: "one", at: at.toJSON() }, { targetingKey: "two" }]);
    for (let index = 0; index < 1_000; index += 1) {
      client.isEnabled("a", { targetingKey: `user-${index}` });
    }
    await client.close();
    const later = contextsOf().slice(2).flat();
    assert.ok(later.length >= 100 && later.length <= 200, `${later.length} of 1,000`);
  });

  test("that could not be reported is added to the next report", async (t) => {
    let attempts = 0;
    const server = await scriptedServer(t, {
      [route]: (response) => {
        attempts += 1;
        if (attempts === 1) return response.destroy();
        return response.writeHead(attempts < 4 ? 503 : 204).end();
      },
    });
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: [booleanFlag("a", true)],
    });
    client.isEnabled("a");
    await until("failures", () => attempts >= 2);
    client.isEnabled("a");
    await until("success", () => attempts >= 4);
    await client.close();
    assert.deepEqual(reportsTo(server).at(-1), [{ key: "a", on: 2, off: 0 }]);
    assert.equal(attempts, 4);
  });

  test("that the server does not take is dropped rather than sent for ever", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => sendJson(response, 400, { error: "VALIDATION_FAILED", message: "no" }),
    });
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: [booleanFlag("a", true)],
    });
    for (const count of [1, 2, 3]) {
      client.isEnabled("a");
      await until("the report", () => server.to(route).length === count);
    }
    assert.deepEqual(reportsTo(server), Array(3).fill([{ key: "a", on: 1, off: 0 }]));
  });

  test("of many flags goes in batches of a thousand, and what follows a failed batch is kept", async (t) => {
    let failing = true;
    const server = await scriptedServer(t, {
      [route]: (response) => {
        const second = server.to(route).length === 2;
        response.writeHead(failing && second ? 503 : 204).end();
        if (second) failing = false;
      },
    });
    const keys = Array.from({ length: 2_500 }, (_, index) => `flag-${index}`);
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: keys.map((name) => booleanFlag(name, true)),
    });
    for (const name of keys) client.isEnabled(name);
    await until("all reports", () => server.to(route).length === 4);
    await client.close();
    const sizes = reportsTo(server).map(({ length }) => length);
    assert.deepEqual(sizes, [1_000, 1_000, 1_000, 500]);
    const [first, , third, fourth] = reportsTo(server);
    const reported = [first, third, fourth].flatMap((part) => part ?? []);
    assert.deepEqual(reported.map((entry) => entry.key).toSorted(), keys.toSorted());
  });

  test("of flags with variants or rules is counted by them too, also after a failed report", async (t) => {
    let attempts = 0;
    const server = await scriptedServer(t, {
      [route]: (response) => {
        attempts += 1;
        return response.writeHead(attempts === 1 ? 503 : 204).end();
      },
    });
    const inPlan = (plan: string) => ({ attribute: "plan", op: "in", values: [plan] }) as const;
    const sizes = {
      key: "size",
      type: "variant",
      enabled: true,
      description: null,
      valueType: "string",
      variants: { small: "S", large: "L" },
      off: "small",
      otherwise: "small",
      rules: [{ id: "pro", when: inPlan("pro"), serve: "large" }],
      level: 2,
    } as const;
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: [booleanFlag("a", true), sizes],
    });
    client.isEnabled("a");
    for (const plan of ["pro", "free", "pro"]) client.stringValue("size", { plan }, "");
    await until("the failure", () => attempts >= 1);
    client.stringValue("size", { plan: "pro" }, "");
    assert.deepEqual(reportsTo(server)[0], [
      { key: "a", on: 1, off: 0 },
      { key: "size", on: 2, off: 1, variants: { large: 2, small: 1 }, rules: { pro: 2 } },
    ]);
    // What came after the failure may be in a report of its own.
    const accepted = (member: "variants" | "rules", name: string) =>
      reportsTo(server)
        .slice(1)
        .flat()
        .reduce((total, entry) => total + (entry[member]?.[name] ?? 0), 0);
    await until("the rest", () => accepted("rules", "pro") >= 3);
    await client.close();
    assert.equal(accepted("rules", "pro"), 3);
    assert.equal(accepted("variants", "large"), 3);
    assert.equal(accepted("variants", "small"), 1);
  });

  test("of flags with many rules goes in parts that the server accepts", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => response.writeHead(204).end(),
    });
    const ids = Array.from({ length: 50 }, (_, index) => `${index}-`.padEnd(128, "x"));
    const flags = Array.from({ length: 60 }, (_, index) => ({
      ...booleanFlag(`flag-${index}`, true),
      otherwise: "off" as const,
      rules: ids.map((id) => ({
        id,
        when: { attribute: "id", op: "in", values: [id] } as const,
        serve: "on",
      })),
      level: 2,
    }));
    const { client } = clientOf(t, server.url, { reportUsage: true, bootstrap: flags });
    for (const { key } of flags) for (const id of ids) client.isEnabled(key, { id });
    await client.close();
    for (const { body } of server.to(route)) assert.ok(body.length < 256 * 1_024, `${body.length}`);
    const reported = reportsTo(server).flat();
    assert.equal(reported.length, 60);
    for (const { on, rules = {} } of reported) {
      assert.deepEqual([on, Object.keys(rules).length], [50, 50]);
    }
  });

  test("is not reported if that is turned off", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => response.writeHead(204).end(),
    });
    const { client } = clientOf(t, server.url, {
      reportUsage: false,
      bootstrap: [booleanFlag("a", true)],
    });
    client.isEnabled("a");
    await client.close();
    assert.equal(server.to(route).length, 0);
  });

  test("of a context client is reported too", async (t) => {
    const server = await scriptedServer(t, {
      [route]: (response) => response.writeHead(204).end(),
    });
    const { client } = contextClientOf(t, server.url, {
      reportUsage: true,
      bootstrap: { a: true, b: false },
    });
    client.isEnabled("a");
    client.details("b");
    client.isEnabled("b");
    client.isEnabled("missing");
    await client.close();
    assert.deepEqual(reportsTo(server), [
      [
        { key: "a", on: 1, off: 0 },
        { key: "b", on: 0, off: 2 },
      ],
    ]);
  });
});
