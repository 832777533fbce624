// Whatever flags there are and whoever asks: a bulk answer is the bodies of single evaluations, and its tag stands for all of its bytes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { Api } from "./support/api.ts";
import { changeFlag, evaluateAll, evaluateOne, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const people = ["ann", "bob", "dée", "日本", undefined] as const;
const rollouts = ["rollout-a", "rollout-b", "rollout-c"];
const keys = [...rollouts, "rules", "variants"].toSorted();

const rule = fc.record({
  id: fc.constantFrom("first", "second"),
  when: fc.record({
    attribute: fc.constant("targetingKey"),
    op: fc.constant("in"),
    values: fc.uniqueArray(fc.constantFrom("ann", "bob", "dée"), { minLength: 1 }),
  }),
});
const rulesServing = (...serve: string[]) =>
  fc
    .record({ rule, serve: fc.constantFrom(...serve) })
    .map((each) => [{ ...each.rule, serve: each.serve }]);

/** Those of the rollouts change who is in, the others what is told of it. */
const change = fc.oneof(
  fc.record({
    key: fc.constantFrom(...rollouts),
    patch: fc.oneof(
      fc.record({ percentage: fc.constantFrom(0, 30, 50, 70, 100) }),
      fc.record({ enabled: fc.boolean() }),
    ),
  }),
  fc.record({
    key: fc.constant("rules"),
    patch: fc.record({ otherwise: fc.constantFrom("on", "off"), rules: rulesServing("on", "off") }),
  }),
  fc.record({
    key: fc.constant("variants"),
    patch: fc.record({
      enabled: fc.boolean(),
      rules: rulesServing("red", "blue"),
      variants: fc.record({
        red: fc.constantFrom("rot", "赤", "r"),
        blue: fc.constantFrom("blau", "青"),
      }),
    }),
  }),
);

for (const HALYARD_OFREP_METADATA of ["off", "on"]) {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ HALYARD_OFREP_METADATA });
  });
  after(() => server.close());

  test(`a tag for each answer and an answer for each tag, metadata ${HALYARD_OFREP_METADATA}`, async () => {
    const { admin, client, server: reader } = await server.environment();
    for (const key of rollouts) {
      await makeFlag(admin, { key, type: "rollout", percentage: 50, enabled: true });
    }
    await makeFlag(admin, { key: "rules", type: "boolean", enabled: true });
    const made = await admin("POST", "/flags", {
      key: "variants",
      type: "variant",
      valueType: "string",
      variants: { red: "rot", blue: "blau" },
      off: "red",
      otherwise: "blue",
    });
    assert.equal(made.status, 201, made.text);

    const textOfTag = new Map<string, string>();
    const tagOfText = new Map<string, string>();
    const isTrue = async (api: Api, targetingKey: string | undefined) => {
      const body = { context: { targetingKey } };
      const { text, headers } = await evaluateAll(api, body);
      const single = await Promise.all(keys.map((key) => evaluateOne(api, key, body)));
      const list = `{"flags":[${single.map((each) => each.text).join(",")}],`;
      assert.equal(text.slice(0, list.length), list);
      const tag = headers.get("etag") ?? "";
      assert.equal(textOfTag.get(tag) ?? text, text, "one answer for a tag");
      assert.equal(tagOfText.get(text) ?? tag, tag, "one tag for an answer");
      textOfTag.set(tag, text);
      tagOfText.set(text, tag);
    };
    await fc.assert(
      fc.asyncProperty(change, async ({ key, patch }) => {
        await changeFlag(admin, key, patch);
        for (const person of people) await isTrue(client, person);
        await isTrue(reader, "ann");
      }),
      { numRuns: 15 },
    );
    assert.ok(textOfTag.size > 10, String(textOfTag.size));
  });
}
