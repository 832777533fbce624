// Flags with rules, variants and requirements over HTTP.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";
import { inPlan, targetingIn } from "./support/targeting.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());
const setUp = () => targetingIn(server);

const pro = { id: "pro", when: inPlan("pro"), serve: "on" };

suite("rules", () => {
  test("the first that is true decides; what it says over OFREP depends on the key", async () => {
    const { keys, create, evaluate } = await setUp();
    await create({ key: "a", type: "boolean", rules: [pro], otherwise: "off" });
    assert.deepEqual(await evaluate("a", { plan: "pro" }), {
      value: true,
      variant: "on",
      reason: "TARGETING_MATCH",
      metadata: { rule: "pro" },
    });
    assert.deepEqual(await evaluate("a", { plan: "pro" }, keys.client), {
      value: true,
      variant: "on",
      reason: "TARGETING_MATCH",
    });
    assert.deepEqual(await evaluate("a", { plan: "free" }), {
      value: false,
      variant: "off",
      reason: "TARGETING_MATCH",
      metadata: { reason: "DEFAULT" },
    });
  });

  test("members are set, replaced whole and taken away", async () => {
    const { admin } = await setUp();
    const bare = { key: "a", type: "boolean", enabled: false, description: null };
    assert.deepEqual((await admin("POST", "/flags", { key: "a", type: "boolean" })).body, bare);
    const { id: _, ...nameless } = pro;
    const set = await admin("PATCH", "/flags/a", {
      rules: [nameless, { ...nameless, id: "rule-2" }],
      otherwise: "on",
      tags: ["payments"],
      owner: "team-shop",
    });
    assert.deepEqual(set.body, {
      ...bare,
      otherwise: "on",
      rules: [
        { ...nameless, id: "rule-1" },
        { ...nameless, id: "rule-2" },
      ],
      tags: ["payments"],
      owner: "team-shop",
    });
    assert.deepEqual(Object.keys(set.body as object), [
      "key",
      "type",
      "enabled",
      "otherwise",
      "description",
      "rules",
      "tags",
      "owner",
    ]);
    const same = await admin("PATCH", "/flags/a", set.body && { tags: ["payments"] });
    assert.equal(same.headers.get("etag"), set.headers.get("etag"), "nothing has changed");
    const away = await admin("PATCH", "/flags/a", { rules: [], tags: [], owner: null });
    assert.deepEqual(away.body, bare, "otherwise goes with the rules");
    const [last] = (await admin("GET", "/flags/a/history")).body as { before: unknown }[];
    assert.deepEqual(last?.before, set.body);
  });

  test("flags are found by tag and owner", async () => {
    const { admin } = await setUp();
    for (const [key, tags, owner] of [
      ["a", ["x", "y"], "ann"],
      ["b", ["y"], "bob"],
      ["c", undefined, undefined],
    ] as const) {
      await admin("POST", "/flags", { key, type: "boolean", tags, owner });
    }
    const keys = async (query: string) =>
      ((await admin("GET", `/flags?${query}`)).body as { key: string }[]).map(({ key }) => key);
    assert.deepEqual(await keys("tag=y"), ["a", "b"]);
    assert.deepEqual(await keys("tag=x"), ["a"]);
    assert.deepEqual(await keys("owner=bob"), ["b"]);
    assert.deepEqual(await keys("tag=y&owner=ann"), ["a"]);
    assert.deepEqual(await keys("tag=z"), []);
  });

  test("every mistake is named by its place", async () => {
    const { admin } = await setUp();
    const refused = await admin("POST", "/flags", {
      key: "a",
      type: "boolean",
      otherwise: "maybe",
      rules: [pro, { when: { all: [inPlan("a"), { attribute: "b", op: "like" }] }, serve: "blue" }],
    });
    assert.equal(refused.status, 400);
    const { details } = refused.body as { details: { field: string }[] };
    assert.deepEqual(
      details.map(({ field }) => field),
      ["otherwise"],
    );
    const inside = await admin("POST", "/flags", {
      key: "a",
      type: "boolean",
      otherwise: "off",
      rules: [pro, { when: { all: [inPlan("a"), { attribute: "b", op: "like" }] }, serve: "blue" }],
    });
    const found = (inside.body as { details: { field: string }[] }).details;
    assert.deepEqual(
      found.map(({ field }) => field),
      ["rules[1].when.all[1].op", "rules[1].serve"],
    );
    for (const [rules, field] of [
      [[null], "rules[0]"],
      [["x"], "rules[0]"],
      [Array.from({ length: 51 }, () => 0), "rules"],
    ] as const) {
      const odd = await admin("POST", "/flags", { key: "a", type: "rollout", rules });
      assert.equal(odd.status, 400, odd.text);
      assert.equal((odd.body as { details: { field: string }[] }).details[0]?.field, field);
    }
    assert.equal(
      (await admin("POST", "/flags", { key: "a", type: "boolean", owner: [] })).status,
      400,
    );
    const without = await admin("POST", "/flags", { key: "a", type: "boolean", rules: [pro] });
    assert.match(without.text, /otherwise is required with rules/);
    const alone = await admin("POST", "/flags", { key: "a", type: "boolean", otherwise: "on" });
    assert.match(alone.text, /otherwise applies with rules only/);
  });
});

suite("variants", () => {
  const size = {
    key: "size",
    type: "variant",
    valueType: "string",
    variants: { small: "S", large: "L" },
    off: "small",
    otherwise: "large",
  };

  test("texts, numbers and objects", async () => {
    const { admin, create, evaluate } = await setUp();
    await create(size);
    const large = { value: "L", variant: "large", reason: "STATIC" };
    assert.deepEqual(await evaluate("size", {}), large);
    await create({
      ...size,
      key: "limit",
      valueType: "object",
      variants: { small: { most: 1 }, large: { most: 9 } },
      otherwise: [
        { variant: "small", share: 50 },
        { variant: "large", share: 50 },
      ],
    });
    const { value } = await evaluate("limit", { targetingKey: "u1" });
    assert.ok(typeof value === "object" && value !== null && "most" in value);
    await admin("PATCH", "/flags/size", { enabled: false });
    assert.deepEqual(await evaluate("size", {}), {
      value: "S",
      variant: "small",
      reason: "STATIC",
      metadata: { reason: "DISABLED" },
    });
  });

  test("what is served or required stays", async () => {
    const { admin, create } = await setUp();
    await create(size);
    const served = await admin("PATCH", "/flags/size", { variants: { small: "S" } });
    assert.equal(served.status, 409, served.text);
    assert.match(served.text, /"large\\" cannot be taken out: it is served by otherwise/);
    await create({ key: "b", type: "boolean", requires: [{ flag: "size", variant: "large" }] });
    const required = await admin("PATCH", "/flags/size", {
      variants: { small: "S" },
      otherwise: "small",
    });
    assert.equal(required.status, 409, required.text);
    assert.match(required.text, /required by the flag \\"b\\"/);
    assert.equal((await admin("DELETE", "/flags/size")).status, 409);
    for (const variants of [null, []]) {
      assert.equal((await admin("PATCH", "/flags/size", { variants })).status, 400);
    }
    const type = await admin("PATCH", "/flags/size", { valueType: "number" });
    assert.match(type.text, /valueType is fixed at creation/);
  });
});

suite("requirements", () => {
  test("a flag gives off unless what it requires is met", async () => {
    const { admin, create, evaluate } = await setUp();
    await create({ key: "base", type: "boolean", rules: [pro], otherwise: "off" });
    await create({ key: "top", type: "boolean", requires: [{ flag: "base", variant: "on" }] });
    assert.equal((await evaluate("top", { plan: "pro" })).value, true);
    assert.deepEqual(await evaluate("top", {}), {
      value: false,
      variant: "off",
      reason: "STATIC",
      metadata: { reason: "PREREQUISITE_FAILED" },
    });
    await admin("PATCH", "/flags/base", { enabled: false });
    assert.equal((await evaluate("top", { plan: "pro" })).value, false, "at once");
  });

  test("no flag comes to require more than 50 others, whichever of them is changed", async () => {
    const { admin, create } = await setUp();
    const on = (flags: readonly string[]) => flags.map((flag) => ({ flag, variant: "on" }));
    const middle = Array.from({ length: 10 }, (_, index) => `mid-${index}`);
    for (const key of middle) await create({ key, type: "boolean" });
    const leaves = Array.from({ length: 45 }, (_, index) => `leaf-${index}`);
    for (const key of leaves) await create({ key, type: "boolean" });
    await create({ key: "top", type: "boolean", requires: on(middle) });
    for (let part = 0; part < 4; part += 1) {
      const requires = on(leaves.slice(part * 10, part * 10 + 10));
      assert.equal((await admin("PATCH", `/flags/mid-${part}`, { requires })).status, 200);
    }
    const more = await admin("PATCH", "/flags/mid-4", { requires: on(leaves.slice(40)) });
    assert.equal(more.status, 409, more.text);
    assert.match(more.text, /\\"top\\" would require more than 50/);
  });

  test("circles, depth, and what is not there", async () => {
    const { admin, create } = await setUp();
    await create({ key: "f0", type: "boolean" });
    for (let number = 1; number <= 5; number += 1) {
      await create({
        key: `f${number}`,
        type: "boolean",
        requires: [{ flag: `f${number - 1}`, variant: "on" }],
      });
    }
    const circle = await admin("PATCH", "/flags/f0", {
      requires: [{ flag: "f2", variant: "on" }],
    });
    assert.equal(circle.status, 409);
    assert.match(circle.text, /f0 → f2 → f1 → f0/);
    const deep = await admin("POST", "/flags", {
      key: "f6",
      type: "boolean",
      requires: [{ flag: "f5", variant: "on" }],
    });
    assert.equal(deep.status, 409, deep.text);
    const below = await create({ key: "below", type: "boolean" });
    assert.ok(below);
    const deeper = await admin("PATCH", "/flags/f0", {
      requires: [{ flag: "below", variant: "on" }],
    });
    assert.equal(deeper.status, 409, "f5 would be too deep");
    const missing = await admin("PATCH", "/flags/below", {
      requires: [{ flag: "nothing", variant: "on" }],
    });
    assert.match(missing.text, /requires\[0\]\.flag must be a flag that exists/);
    const variant = await admin("PATCH", "/flags/f5", {
      requires: [{ flag: "f4", variant: "blue" }],
    });
    assert.match(variant.text, /requires\[0\]\.variant must be a variant of the flag/);
  });
});
