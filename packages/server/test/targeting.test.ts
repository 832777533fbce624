// Flags with rules, variants and requirements, and the segments that they name, over HTTP.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const inPlan = (...values: readonly string[]) => ({ attribute: "plan", op: "in", values });
const pro = { id: "pro", when: inPlan("pro"), serve: "on" };

interface Value {
  readonly value: unknown;
  readonly variant: string;
  readonly reason: string;
  readonly metadata?: unknown;
}

const setUp = async () => {
  const { keys, admin } = await server.environment();
  const { api } = server;
  const evaluate = async (key: string, context: object, asked = keys.server): Promise<Value> => {
    const answer = await api(asked)("POST", `//ofrep/v1/evaluate/flags/${key}`, { context });
    const { key: _, ...rest } = answer.body as Value & { readonly key: string };
    return rest;
  };
  const create = async (flag: object) => {
    const made = await admin("POST", "/flags", flag);
    assert.equal(made.status, 201, made.text);
    const { key } = flag as { readonly key: string };
    const on = await admin("PATCH", `/flags/${key}`, { enabled: true });
    assert.equal(on.status, 200, on.text);
    return on.body as Readonly<Record<string, unknown>>;
  };
  return { keys, admin, api, evaluate, create };
};

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

suite("segments", () => {
  const beta = { key: "beta", include: ["ann", "bob"], when: inPlan("pro") };
  const ofBeta = { id: "beta", when: { segment: ["beta"] }, serve: "on" };

  test("are made, changed in parts, used and deleted", async () => {
    const { keys, api, admin, create, evaluate } = await setUp();
    const made = await admin("POST", "/segments", beta);
    assert.equal(made.status, 201, made.text);
    const summary = {
      key: "beta",
      description: null,
      when: inPlan("pro"),
      counts: { include: 2, exclude: 0 },
    };
    assert.deepEqual(made.body, summary);
    assert.deepEqual((await admin("GET", "/segments")).body, [summary]);
    assert.equal((await admin("POST", "/segments", beta)).status, 409);
    await create({ key: "a", type: "boolean", rules: [ofBeta], otherwise: "off" });
    assert.equal((await evaluate("a", { targetingKey: "ann" })).value, true);
    assert.equal((await evaluate("a", { targetingKey: "eve" })).value, false);

    const moved = await admin("POST", "/segments/beta/members", {
      include: { add: ["eve", "bob"], remove: ["ann", "nobody"] },
      exclude: { add: ["zoe"] },
    });
    assert.equal(moved.status, 200, moved.text);
    assert.deepEqual((moved.body as typeof summary).counts, { include: 2, exclude: 1 });
    assert.deepEqual((await api(keys.server)("GET", "/segments/beta")).body, {
      key: "beta",
      description: null,
      include: ["bob", "eve"],
      exclude: ["zoe"],
      when: inPlan("pro"),
    });
    assert.equal((await evaluate("a", { targetingKey: "ann" })).value, false);
    assert.equal((await evaluate("a", { targetingKey: "eve" })).value, true);
    assert.equal((await evaluate("a", { targetingKey: "zoe", plan: "pro" })).value, false);

    const again = await admin("POST", "/segments/beta/members", { include: { add: ["eve"] } });
    assert.equal(again.headers.get("etag"), moved.headers.get("etag"), "nothing has changed");
    const stale = await admin(
      "PATCH",
      "/segments/beta",
      { when: null },
      { "if-match": made.headers.get("etag") ?? "" },
    );
    assert.equal(stale.status, 412, stale.text);
    assert.equal((await admin("PATCH", "/segments/beta", { include: ["zed"] })).status, 200);
    assert.equal((await evaluate("a", { targetingKey: "zed" })).value, true);
    assert.equal((await evaluate("a", { targetingKey: "eve" })).value, false);

    assert.deepEqual((await admin("GET", "/segments/beta/flags")).body, [
      { key: "a", rules: ["beta"] },
    ]);
    const used = await admin("DELETE", "/segments/beta");
    assert.equal(used.status, 409);
    assert.match(used.text, /named by the flag \\"a\\"/);
    await admin("DELETE", "/flags/a");
    assert.equal((await admin("DELETE", "/segments/beta")).status, 204);
    assert.equal((await admin("GET", "/segments/beta")).status, 404);

    const { body } = await admin("GET", "/history?subject=segment");
    const entries = body as { actions: string[]; after: Record<string, unknown> | null }[];
    assert.deepEqual(
      entries.map(({ actions }) => actions[0]),
      ["segment.deleted", "segment.updated", "segment.updated", "segment.created"],
    );
    assert.deepEqual(entries[2]?.after?.include, { added: ["eve"], removed: ["ann"] });
  });

  test("what is not there is not named, and keys below admin do not write", async () => {
    const { keys, api, admin } = await setUp();
    const missing = await admin("POST", "/flags", {
      key: "a",
      type: "boolean",
      rules: [{ when: { not: { segment: ["gone"] } }, serve: "on" }],
      otherwise: "off",
    });
    assert.equal(missing.status, 400);
    assert.match(missing.text, /rules\[0\]\.when\.not\.segment\[0\] must name a segment/);
    for (const [role, status] of [
      ["server", 403],
      ["client", 403],
    ] as const) {
      assert.equal((await api(keys[role])("POST", "/segments", beta)).status, status);
    }
    assert.equal((await api(keys.client)("GET", "/segments")).status, 403);
    const wrong = await admin("POST", "/segments", {
      key: "b",
      include: ["ok", 7],
      when: { segment: ["a"] },
    });
    assert.match(wrong.text, /include\[1\] must be a text/);
    assert.match(wrong.text, /segments do not contain others/);
  });
});

suite("several changes together", () => {
  test("all of them or none", async () => {
    const { admin, create } = await setUp();
    for (const key of ["a", "b", "c"]) await create({ key, type: "boolean" });
    const revision = async () => (await admin("GET", "/flags")).headers.get("etag");
    const started = Number((await revision())?.replaceAll('"', ""));
    const off = (flag: string, ifMatch?: string) => ({ flag, ifMatch, patch: { enabled: false } });
    const refused = await admin("POST", "/changes", { changes: [off("a"), off("b", "1")] });
    assert.equal(refused.status, 412, refused.text);
    assert.match(refused.text, /changes\[1\] \(b\)/);
    const invalid = await admin("POST", "/changes", {
      changes: [off("a"), { flag: "c", patch: { rules: [{ when: {}, serve: "on" }] } }],
    });
    assert.match(invalid.text, /changes\[1\]\.patch\.otherwise is required with rules/);
    assert.equal(await revision(), `"${started}"`, "nothing has happened");
    const done = await admin("POST", "/changes", { changes: [off("a", "2"), off("b"), off("c")] });
    assert.equal(done.status, 200, done.text);
    assert.equal(await revision(), `"${started + 3}"`);
    const twice = await admin("POST", "/changes", { changes: [off("a"), off("a")] });
    assert.match(twice.text, /changes\[1\]\.flag must be named once/);
  });
});

suite("explain", () => {
  test("now, as it would be, and as it was", async () => {
    const { keys, api, admin, create } = await setUp();
    await admin("POST", "/segments", { key: "beta", include: ["ann"] });
    const rules = [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }];
    await create({ key: "a", type: "boolean", rules, otherwise: "off" });
    const context = { targetingKey: "ann" };
    type Explained = Value & { revision: number; rules: { decided: boolean }[] };
    const explain = async (more: object, key = keys.admin) =>
      (await api(key)("POST", "/flags/a/explain", { context, ...more })).body as Explained;
    const now = await explain({}, keys.server);
    assert.equal(now.value, true);
    assert.deepEqual(
      now.rules.map(({ decided }) => decided),
      [true],
    );
    const then = now.revision;
    assert.equal((await explain({ patch: { rules: null } })).value, true);
    assert.equal((await explain({ patch: { enabled: false } })).reason, "DISABLED");
    const forbidden = await api(keys.server)("POST", "/flags/a/explain", { context, revision: 1 });
    assert.equal(forbidden.status, 403);

    await admin("POST", "/segments/beta/members", { include: { remove: ["ann"], add: ["bob"] } });
    assert.equal((await explain({})).value, false);
    assert.equal((await explain({ revision: then })).value, true, "the segment as it was");
    await admin("DELETE", "/flags/a");
    await admin("DELETE", "/segments/beta");
    assert.equal((await explain({ revision: then })).value, true, "also after deletion");
    assert.equal((await explain({ revision: then + 1 })).value, false);
    assert.equal((await explain({ at: new Date().toISOString() })).value, undefined, "gone");
    const future = await api(keys.admin)("POST", "/flags/a/explain", { context, revision: 999 });
    assert.equal(future.status, 400);
  });
});
