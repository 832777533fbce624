// { "all": [] }, the condition that is always true, over HTTP: rules, segments, explain, previews, snapshots and flagd.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { targetingLevel } from "@halyard/core/levels";
import { FlagdCore } from "@openfeature/flagd-core";
import { startTestServer, type TestServer } from "./support/server.ts";
import { targetingIn } from "./support/targeting.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const everyone = { all: [] };
const ruleFor = (when: object, serve: unknown = "on") => ({ id: "it", when, serve });
const half = [{ variant: "on", share: 50 }];

test("a rule for everyone splits a boolean flag and needs nothing but the targeting key", async () => {
  const { evaluate, create } = await targetingIn(server);
  const made = await create({
    key: "half",
    type: "boolean",
    rules: [ruleFor(everyone, half)],
    otherwise: "off",
  });
  assert.deepEqual(made.rules, [ruleFor(everyone, half)]);
  const found = await Promise.all(
    Array.from({ length: 40 }, (_, index) => evaluate("half", { targetingKey: `user-${index}` })),
  );
  const variants = new Set(found.map(({ variant }) => variant));
  assert.deepEqual([...variants].toSorted(), ["off", "on"]);
  await create({ key: "all", type: "boolean", rules: [ruleFor(everyone)], otherwise: "off" });
  assert.deepEqual(await evaluate("all", {}), {
    value: true,
    variant: "on",
    reason: "TARGETING_MATCH",
    metadata: { rule: "it" },
  });
});

test("a variant flag, a segment and nested conditions accept it; an empty any is rejected", async () => {
  const { admin, evaluate, create } = await targetingIn(server);
  await admin("POST", "/segments", { key: "all", when: everyone, exclude: ["user-1"] });
  await create({
    key: "size",
    type: "variant",
    valueType: "string",
    variants: { small: "S", large: "L" },
    off: "small",
    otherwise: "small",
    rules: [ruleFor({ segment: ["all"] }, "large")],
  });
  assert.equal((await evaluate("size", { targetingKey: "user-1" })).value, "S");
  assert.equal((await evaluate("size", { targetingKey: "user-2" })).value, "L");
  const rules = [ruleFor({ any: [{ not: everyone }, everyone] }, "large")];
  assert.equal((await admin("PATCH", "/flags/size", { rules })).status, 200);
  assert.equal((await evaluate("size", {})).value, "L");
  const message = /must be a list of at least one condition/;
  for (const when of [{ any: [] }, { not: { any: [] } }, { all: [{ any: [] }] }]) {
    const flag = await admin("PATCH", "/flags/size", { rules: [ruleFor(when, "large")] });
    assert.deepEqual([flag.status, message.test(flag.text)], [400, true], flag.text);
    const segment = await admin("PATCH", "/segments/all", { when });
    assert.deepEqual([segment.status, message.test(segment.text)], [400, true], segment.text);
  }
});

test("explain and a preview show it, and snapshots need no higher level for it", async () => {
  const { keys, admin, api, create } = await targetingIn(server);
  await create({ key: "f", type: "boolean", rules: [ruleFor(everyone)], otherwise: "off" });
  const explained = await admin("POST", "/flags/f/explain", { context: {} });
  assert.deepEqual((explained.body as { rules: unknown }).rules, [
    { id: "it", when: { all: [], result: true }, serve: "on", decided: true },
  ]);
  const patch = { rules: [ruleFor(everyone, half)] };
  const preview = await admin("POST", "/flags/f/preview", { patch });
  assert.equal(preview.status, 200, preview.text);
  const snapshot = (await api(keys.server)("GET", "/snapshot")).body as {
    flags: readonly { readonly level?: number }[];
  };
  assert.deepEqual(
    snapshot.flags.map(({ level }) => level),
    [targetingLevel],
  );
});

test("the flagd definition returns its variant for everyone", async () => {
  const { keys, api, create } = await targetingIn(server);
  await create({ key: "f", type: "boolean", rules: [ruleFor(everyone)], otherwise: "off" });
  await create({
    key: "g",
    type: "boolean",
    rules: [ruleFor({ not: everyone })],
    otherwise: "off",
  });
  const { text } = await api(keys.server)("GET", "//flagd/v1/flags.json");
  const flagd = new FlagdCore();
  flagd.setConfigurations(text);
  const found = ["f", "g"].map((key) => flagd.resolveBooleanEvaluation(key, false, {}, console));
  assert.deepEqual(
    found.map(({ value }) => value),
    [true, false],
  );
});

test("the API reference allows an empty all and no empty any", async () => {
  const { body } = await server.anonymous("GET", "//openapi.json");
  const { schemas } = (body as { components: { schemas: Record<string, unknown> } }).components;
  const { all } = (schemas.AllCondition as { properties: Record<string, object> }).properties;
  const { any } = (schemas.AnyCondition as { properties: Record<string, object> }).properties;
  assert.deepEqual([all && "minItems" in all, any], [false, { ...any, minItems: 1 }]);
});
