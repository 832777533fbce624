// Contexts that are not plain JSON: the client in the program and the server over OFREP give the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createManagement, type EvaluationContext } from "@halyard/sdk/management";
import { startTestServer } from "../../server/test/support/server.ts";
import { clientOf } from "./support/clients.ts";

const text = "2026-01-01T00:00:00.000Z";
const conditions = {
  exists: { attribute: "a", op: "exists", value: true },
  missing: { attribute: "a", op: "exists", value: false },
  texts: { attribute: "a", op: "in", values: ["x", "7", text, "[object Object]", "a", "0"] },
  numbers: { attribute: "a", op: "in", values: [0, 7] },
  booleans: { attribute: "a", op: "notIn", values: [true] },
  greater: { attribute: "a", op: "gte", value: 0 },
  before: { attribute: "a", op: "before", value: "2026-06-01T00:00:00Z" },
  member: { attribute: "/a/b", op: "in", values: ["x", "b", text] },
  element: { attribute: "/a/0", op: "exists", value: true },
  "element-text": { attribute: "/a/0", op: "in", values: ["x", "0", text] },
  proto: { attribute: "__proto__", op: "exists", value: true },
  constructed: { attribute: "constructor", op: "exists", value: true },
  "array-length": { attribute: "/a/length", op: "exists", value: true },
  segment: { segment: ["people"] },
} as const;

class Person {
  a = "x";
  targetingKey = "u1";
  #hidden = "x";
  get b() {
    return this.#hidden;
  }
}
/** Like a Date of another library: JSON calls toJSON with the name of the member. */
const named = { toJSON: (name: string) => name };
const throwing = {
  targetingKey: "u1",
  get a(): string {
    throw new Error("no");
  },
};
const circle: Record<string, unknown> = { targetingKey: "u1", a: { b: "x" } };
circle.self = circle;
const holes: unknown[] = [];
holes[1] = "x";

const values: readonly unknown[] = [
  ...["x", "", 7, -0, 0, Number.NaN, Number.POSITIVE_INFINITY, true, false, null, undefined],
  ...[new Date(text), new Date(Number.NaN), Symbol("x"), () => "x", 10n, Object(10n)],
  ...[new String("x"), new Number(7), new Number(Number.NaN), new Boolean(true)],
  ...[[], ["x", 7], ["x", undefined], [new Date(text)], [named], holes, [[["x"]]], [Number.NaN]],
  ...[{}, { b: "x" }, { b: new Date(text) }, { b: undefined }, { b: named }, { b: { toJSON: 7 } }],
  ...[named, { toJSON: () => undefined }, { toJSON: () => new Date(text) }, { toJSON: () => [7] }],
  ...[
    new Map([["b", "x"]]),
    new Set(["x"]),
    new Uint8Array([7]),
    /x/,
    new Error("x"),
    new Person(),
  ],
  ...[
    Object.create({ b: "x" }),
    Object.assign(Object.create(null), { b: "x" }),
    Object.assign(() => 7, named),
  ],
  ...[Object.defineProperty({}, "b", { value: "x", enumerable: false }), new URL("http://x/")],
  ...["\ud800", "ü", "\u0000", 2 ** 53, 1e21, 1e-7, Number.MAX_VALUE, 5e-324],
];
const contexts: readonly unknown[] = [
  ...values.flatMap((a) => [{ targetingKey: "u1", a }, { a }]),
  ...[new Person(), new Map([["a", "x"]]), {}, circle, throwing, Object.create({ a: "x" })],
  { toJSON: () => ({ targetingKey: "u2", a: 7 }), a: "x" },
  { toJSON: () => new Person() },
  JSON.parse('{"__proto__":"x","constructor":"x","targetingKey":"u1"}'),
  ...[new String("u2"), new Date(text), { toJSON: () => "u2" }, "", null, "\ud800"].map(
    (targetingKey) => ({
      targetingKey,
      a: "x",
    }),
  ),
];

/** Undefined when JSON cannot carry it. */
const carried = (context: unknown): string | undefined => {
  try {
    return JSON.stringify({ context });
  } catch {
    return undefined;
  }
};

test("the program and the server agree about every context that JSON can carry", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys } = await server.environment();
  const { flags, segments } = createManagement({ url: server.url, key: keys.admin });
  await segments.create({ key: "people", include: ["u2"], when: conditions.texts });
  for (const [key, when] of Object.entries(conditions)) {
    const rules = [{ id: "it", when, serve: "on" }];
    await flags.create({ key, type: "boolean", rules, otherwise: "off" });
  }
  await flags.create({ key: "split", type: "rollout", percentage: 50 });
  await flags.create({ key: "split-by", type: "rollout", percentage: 50, bucketBy: "a" });
  const names = [...Object.keys(conditions), "split", "split-by"];
  for (const key of names) {
    const made = await flags.update(key, { enabled: true });
    assert.ok(made.ok, key);
  }
  const { client } = clientOf(t, server.url, { key: keys.server });
  assert.deepEqual(await client.ready(), { ok: true });

  let compared = 0;
  for (const [index, context] of contexts.entries()) {
    const locally = names.map((key) => {
      const { value, variant, rule, errorCode } = client.details(key, context as EvaluationContext);
      assert.equal(client.isEnabled(key, context as EvaluationContext), value);
      return errorCode === undefined ? { key, value, variant, rule } : { key, errorCode };
    });
    const body = carried(context);
    if (body === undefined) continue;
    const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.server}`, "content-type": "application/json" },
      body,
    });
    assert.equal(response.status, 200, body);
    const answer = (await response.json()) as { flags: Record<string, never>[] };
    const remotely = names.map((name) => {
      const found = answer.flags.find(({ key }) => key === name);
      const { value, variant, metadata, errorCode } = found as unknown as {
        value: boolean;
        variant: string;
        metadata?: { rule?: string };
        errorCode?: string;
      };
      return errorCode === undefined
        ? { key: name, value, variant, rule: metadata?.rule }
        : { key: name, errorCode };
    });
    assert.deepEqual(locally, remotely, `context ${index}: ${body}`);
    compared += 1;
  }
  // A BigInt, a circle and a getter that throws cannot be carried.
  assert.equal(contexts.length - compared, 6);
});
