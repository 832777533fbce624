// Segments, changes of several flags together, and explanations over HTTP.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "./support/server.ts";
import { inPlan, targetingIn, type Value } from "./support/targeting.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());
const setUp = () => targetingIn(server);

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

  test("one that is read while it changes is of one moment", async () => {
    const { admin } = await setUp();
    await admin("POST", "/segments", { key: "moving" });
    let isOver = false;
    const reading = async () => {
      const seen: boolean[] = [];
      while (!isOver) {
        const { body, headers } = await admin("GET", "/segments/moving");
        const isIn = (body as { include: string[] }).include.includes("x");
        // Every other version has the member.
        const version = Number(headers.get("etag")?.replaceAll('"', ""));
        seen.push(isIn === (version % 2 === 0));
      }
      return seen;
    };
    const readers = [reading(), reading(), reading()];
    for (let turn = 0; turn < 60; turn += 1) {
      const change = turn % 2 === 0 ? { add: ["x"] } : { remove: ["x"] };
      await admin("POST", "/segments/moving/members", { include: change });
    }
    isOver = true;
    const seen = (await Promise.all(readers)).flat();
    assert.ok(seen.length > 0);
    assert.ok(seen.every(Boolean), `${seen.filter((each) => !each).length} of ${seen.length}`);
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
    assert.match(wrong.text, /include\[1\] must be a string/);
    assert.match(wrong.text, /segments can't contain others/);
  });
});

suite("events of segments", () => {
  test("say what was added and removed, unless that is too much for a receiver", async () => {
    const { admin, create } = await setUp();
    await admin("POST", "/segments", { key: "big" });
    await create({
      key: "a",
      type: "boolean",
      rules: [{ when: { segment: ["big"] }, serve: "on" }],
      otherwise: "off",
    });
    for (let part = 0; part < 4; part += 1) {
      const add = Array.from({ length: 7_000 }, (_, index) => `user-${part}-${index}`);
      await admin("POST", "/segments/big/members", { include: { add } });
    }
    await admin("PATCH", "/segments/big", { include: [] });
    const { body } = await admin("GET", "/events?limit=2");
    const [part, all] = (body as { type: string; data: Record<string, unknown> }[]).map(
      ({ data }) => data,
    );
    assert.ok(part);
    assert.equal((part.include as { added: string[] }).added.length, 7_000);
    assert.deepEqual(part.flags, ["a"]);
    assert.deepEqual(all, {
      segment: { key: "big", description: null, when: null, counts: { include: 0, exclude: 0 } },
      version: 6,
      previous: { counts: { include: 28_000, exclude: 0 } },
      membersOmitted: true,
      flags: ["a"],
    });
    const { body: history } = await admin("GET", "/history?subject=segment&id=big&limit=1");
    const [entry] = history as { after: { include: { removed: string[] } } }[];
    assert.equal(entry?.after.include.removed.length, 28_000);
    assert.equal((await admin("GET", "/history?id=big")).status, 400);
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
    const again = { "idempotency-key": "once" };
    const on = { changes: [{ flag: "a", ifMatch: "3", patch: { enabled: true } }] };
    const first = await admin("POST", "/changes", on, again);
    const repeated = await admin("POST", "/changes", on, again);
    assert.deepEqual(repeated.body, first.body);
    assert.equal(repeated.headers.get("idempotency-replayed"), "true");
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
    const wrong = await api(keys.admin)("POST", "/flags/a/explain", {
      context,
      patch: { rules: [{ when: {}, serve: "on" }] },
    });
    assert.match(wrong.text, /patch\.rules\[0\]\.when must be a condition/);
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
