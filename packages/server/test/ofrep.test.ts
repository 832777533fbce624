// One flag at a time by the OpenFeature protocol: values, reasons, errors, and what counts as a use.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Answer } from "./support/api.ts";
import { changeFlag, evaluateOne, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** `DISABLED` goes over the wire as metadata, because some providers use the program's default for that reason. */
const assertValue = (
  answer: Answer,
  key: string,
  value: boolean,
  reason: string,
  message = key,
): void => {
  assert.equal(answer.status, 200, answer.text);
  const said = reason === "DISABLED" ? { reason: "STATIC", metadata: { reason } } : { reason };
  assert.deepEqual(answer.body, { key, value, variant: value ? "on" : "off", ...said }, message);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
};

const assertFailed = (answer: Answer, status: number, key: string, errorCode: string): void => {
  assert.equal(answer.status, status, answer.text);
  const { errorDetails, ...rest } = answer.body as Record<string, unknown>;
  assert.deepEqual(rest, { key, errorCode });
  assert.ok(typeof errorDetails === "string" && errorDetails.endsWith("."), String(errorDetails));
};

test("a boolean flag is off, then on, for anybody", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (const context of [{}, { targetingKey: "user-1" }, { targetingKey: "" }]) {
    assertValue(await evaluateOne(client, "a", { context }), "a", false, "DISABLED");
  }
  await changeFlag(admin, "a", { enabled: true });
  for (const context of [{}, { targetingKey: "user-1" }, { targetingKey: "" }]) {
    assertValue(await evaluateOne(client, "a", { context }), "a", true, "STATIC");
  }
});

test("every answer follows the change that was answered before it", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (let turn = 0; turn < 20; turn++) {
    const enabled = turn % 2 === 0;
    await changeFlag(admin, "a", { enabled });
    assertValue(await evaluateOne(client, "a"), "a", enabled, enabled ? "STATIC" : "DISABLED");
  }
  assert.equal((await admin("DELETE", "/flags/a")).status, 204);
  assertFailed(await evaluateOne(client, "a"), 404, "a", "FLAG_NOT_FOUND");
});

test("a rollout flag asks for a targetingKey only while it reaches some but not all", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "rollout", percentage: 50 });
  assertValue(await evaluateOne(client, "a"), "a", false, "DISABLED");
  await changeFlag(admin, "a", { enabled: true });
  for (const context of [{}, { targetingKey: "" }, { targetingKey: null }, { key: "user-1" }]) {
    assertFailed(await evaluateOne(client, "a", { context }), 400, "a", "TARGETING_KEY_MISSING");
  }
  await changeFlag(admin, "a", { percentage: 0 });
  assertValue(await evaluateOne(client, "a"), "a", false, "STATIC");
  await changeFlag(admin, "a", { percentage: 100 });
  assertValue(await evaluateOne(client, "a"), "a", true, "STATIC");
});

test("every conformance case has the same answer over HTTP", async () => {
  interface Case {
    readonly name: string;
    readonly flag: { key: string; type: string; enabled: boolean; percentage?: number };
    readonly context: { readonly targetingKey?: unknown };
    readonly expected: {
      readonly errorCode?: string;
      readonly value?: boolean;
      readonly reason?: string;
    };
  }
  const file = new URL("../../../conformance/evaluation.json", import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };
  assert.ok(cases.length >= 200);
  const { admin, client } = await server.environment();
  const made = new Map<string, string>();
  for (const { name, flag, context, expected } of cases) {
    const { key, type, enabled, percentage } = flag;
    const wanted = JSON.stringify([enabled, percentage]);
    if (!made.has(key)) await makeFlag(admin, { key, type });
    if (made.get(key) !== wanted) await changeFlag(admin, key, { enabled, percentage });
    made.set(key, wanted);
    const answer = await evaluateOne(client, key, { context });
    const { targetingKey } = context;
    if (targetingKey !== undefined && targetingKey !== null && typeof targetingKey !== "string") {
      // Over HTTP a context that is no context is refused before any flag is looked at.
      assertFailed(answer, 400, key, "INVALID_CONTEXT");
    } else if (expected.errorCode) {
      assertFailed(answer, 400, key, expected.errorCode);
    } else {
      assertValue(answer, key, expected.value ?? false, expected.reason ?? "", name);
    }
  }
});

test("attributes of the context and members beside it are passed over", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  for (const body of [
    { context: { targetingKey: "ü", plan: "x", list: [1, [2]], deep: { a: { b: null } } } },
    { context: {}, options: { later: true }, version: 9 },
    '{"context":{"targetingKey":"a","targetingKey":"b"}}',
    '{"context":{"__proto__":{"targetingKey":5}},"__proto__":{"context":1}}',
    '\ufeff{"context":{}}',
    ' \n{"context":{}}\r\n ',
    `{"context":{"deep":${"[".repeat(1_000)}${"]".repeat(1_000)}}}`,
    '{"context":{"targetingKey":"\\ud800"}}',
  ]) {
    assertValue(await evaluateOne(client, "a", body), "a", true, "STATIC");
  }
});

test("what is not JSON is PARSE_ERROR, what is no context INVALID_CONTEXT", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  for (const body of [
    "",
    "{",
    "context",
    "{'context':{}}",
    '{"context":{}}{}',
    new Uint8Array([0xff, 0xfe]),
    Buffer.concat([
      Buffer.from('{"context":{"targetingKey":"'),
      Buffer.of(0xc3),
      Buffer.from('"}}'),
    ]),
  ]) {
    const answer = await evaluateOne(client, "a", body);
    assertFailed(answer, 400, "a", "PARSE_ERROR");
  }
  for (const body of [
    {},
    [],
    null,
    "5",
    '"context"',
    { context: null },
    { context: [] },
    { context: "user-1" },
    { Context: {} },
    { context: { targetingKey: 5 } },
    { context: { targetingKey: ["a"] } },
    { context: { targetingKey: false } },
    '{"__proto__":{"context":{}}}',
  ]) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    assertFailed(await evaluateOne(client, "a", text), 400, "a", "INVALID_CONTEXT");
  }
});

test("a flag that is not there is FLAG_NOT_FOUND, whatever it is called", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (const key of [
    "b",
    "A",
    "a ",
    "-",
    "a/b",
    'a"b',
    "ü",
    "\u0000",
    "__proto__",
    "x".repeat(999),
  ]) {
    const answer = await evaluateOne(client, encodeURIComponent(key));
    assertFailed(answer, 404, key, "FLAG_NOT_FOUND");
  }
});

test("an environment never sees the flags of another", async () => {
  const one = await server.environment();
  const other = await server.environment();
  await makeFlag(one.admin, { key: "a", type: "boolean", enabled: true });
  assertFailed(await evaluateOne(other.client, "a"), 404, "a", "FLAG_NOT_FOUND");
  await makeFlag(other.admin, { key: "a", type: "boolean" });
  assertValue(await evaluateOne(one.client, "a"), "a", true, "STATIC");
  assertValue(await evaluateOne(other.client, "a"), "a", false, "DISABLED");
});

test("an evaluation of one flag counts as a use of it; a refused one does not", async () => {
  const { admin, client, server: reader } = await server.environment();
  await makeFlag(admin, { key: "a", type: "rollout", percentage: 50, enabled: true });
  await makeFlag(admin, { key: "b", type: "boolean" });
  const values = [];
  for (let user = 0; user < 40; user++) {
    const context = { targetingKey: `user-${user}` };
    const { body } = await evaluateOne(client, "a", { context });
    values.push((body as { value: boolean }).value);
  }
  const on = values.filter(Boolean).length;
  assert.ok(on > 0 && on < 40);
  await evaluateOne(client, "a");
  await evaluateOne(client, "a", {});
  await evaluateOne(client, "missing");
  const { body } = await reader("GET", "/usage");
  const uses = body as { key: string; on: number; off: number }[];
  assert.deepEqual(
    uses.map((use) => [use.key, use.on, use.off]),
    [
      ["a", on, 40 - on],
      ["b", 0, 0],
    ],
  );
});
