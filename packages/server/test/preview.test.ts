// Previews of changes: whom they would hit, counted over the contexts that were asked about lately.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPreviewDecisions } from "../src/features/previews/preview.ts";
import { createQueue, createRunInSlices } from "../src/platform/background/slices.ts";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { askPreview, limitTo, refusedPreview, sampledEnvironment } from "./support/preview.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { inPlan } from "./support/targeting.ts";
import { people, sendTraffic } from "./support/traffic.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ HALYARD_RATE_LIMIT: "0" });
});
after(() => server.close());
const setUp = () => sampledEnvironment(server);

test("a preview tells flips by rule with examples for admins alone, and writes nothing", async () => {
  const { admin, editor } = await setUp();
  const patch = { rules: [{ id: "pro", when: inPlan("pro"), serve: "on" }] };
  const before = (await admin("GET", "/history")).text;
  const preview = await askPreview(admin, "/flags/checkout/preview", { patch });
  const [flag] = preview.flags;
  assert.equal(preview.sample?.contexts, 200);
  assert.equal(preview.unknown, 0);
  assert.ok(preview.changed > 25 && preview.changed <= 40, String(preview.changed));
  assert.equal(preview.share, Math.round(preview.changed * 50) / 100);
  assert.ok(
    (preview.low ?? 99) < (preview.share ?? 0) && (preview.high ?? 0) > (preview.share ?? 99),
  );
  assert.deepEqual(flag?.flips[0]?.to, {
    variant: "on",
    value: true,
    rule: "pro",
    reason: "TARGETING_MATCH",
  });
  assert.equal(flag?.flips.length, 1);
  assert.equal(flag?.exactShare, undefined);
  assert.equal(preview.examples?.length, 20);
  assert.equal(preview.examples?.[0]?.context.plan, "pro");
  assert.equal((await admin("GET", "/history")).text, before);

  const asEditor = await askPreview(editor, "/flags/checkout/preview", { patch });
  assert.equal(asEditor.examples, undefined);
  assert.equal(asEditor.rounded, true);
});

test("a preview tells the exact share of a percentage, what it cannot know, and who asked with client keys", async () => {
  const { admin, keys } = await setUp();
  await sendTraffic(server.url, keys.client, "checkout", [{ targetingKey: "page", plan: "free" }]);
  const raised = await askPreview(admin, "/flags/checkout/preview", { patch: { percentage: 35 } });
  assert.equal(raised.flags[0]?.exactShare, 25);
  assert.equal(raised.sample?.fromClientKeys, 1);
  assert.ok((raised.low ?? 99) <= 25 && (raised.high ?? 0) >= 25, JSON.stringify(raised));
  const rules = [
    { id: "home", when: { attribute: "country", op: "in", values: ["DE"] }, serve: "on" },
  ];
  const unknown = await askPreview(admin, "/flags/checkout/preview", { patch: { rules } });
  assert.deepEqual(unknown.unknownAttributes, ["country"]);
  assert.equal(unknown.changed, 0);
  // Who is among the 10% has it in any case.
  assert.ok(unknown.unknown > 150 && unknown.unknown < 201, String(unknown.unknown));
  assert.equal(unknown.unchanged + unknown.unknown, 201);
});

test("a preview of a segment looks at all flags that it touches; a list of operations at all together", async () => {
  const { admin } = await setUp();
  await admin("POST", "/segments", { key: "staff", include: ["user-1"] });
  const rules = [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }];
  await makeFlag(admin, { key: "tools", type: "boolean", enabled: true });
  await changeFlag(admin, "tools", { rules, otherwise: "off" });
  await makeFlag(admin, { key: "panel", type: "boolean", enabled: true });
  await changeFlag(admin, "panel", { requires: [{ flag: "tools", variant: "on" }] });

  const members = { include: { add: ["user-2", "user-3"], remove: ["user-1"] } };
  const changed = await askPreview(admin, "/segments/staff/preview", { members });
  assert.deepEqual(
    changed.flags.map((flag) => [flag.key, flag.changed, flag.flips.length]),
    [
      ["tools", 3, 2],
      ["panel", 3, 2],
    ],
  );
  const excluded = await askPreview(admin, "/segments/staff/preview", {
    patch: { exclude: ["user-1"] },
  });
  assert.equal(excluded.changed, 1);

  const together = await askPreview(admin, "/preview", {
    operations: [
      { kind: "segment", key: "staff", action: "patch", body: { when: inPlan("pro") } },
      {
        kind: "flag",
        key: "fresh",
        action: "create",
        body: { type: "rollout", percentage: 100 },
      },
      { kind: "flag", key: "fresh", action: "patch", body: { enabled: true } },
      { kind: "flag", key: "panel", action: "delete" },
    ],
  });
  const counts = new Map(together.flags.map((flag) => [flag.key, flag]));
  assert.deepEqual(counts.get("fresh")?.flips[0]?.from, { errorCode: "FLAG_NOT_FOUND" });
  assert.equal(counts.get("fresh")?.changed, 200);
  assert.equal(counts.get("fresh")?.exactShare, 100);
  assert.equal(counts.get("tools")?.changed, 40);
  assert.equal(counts.get("panel")?.changed, 1);
  assert.equal((await admin("GET", "/flags/fresh")).status, 404);
});

test("a preview refuses what the change would be refused with", async () => {
  const { admin } = await setUp();
  const refusal = async (path: string, body: unknown, status: number, word: string) => {
    const answer = await admin("POST", path, body);
    assert.equal(answer.status, status, answer.text);
    assert.ok(answer.text.includes(word), answer.text);
  };
  await refusal("/flags/nothing/preview", { patch: { enabled: true } }, 404, "nothing");
  await refusal("/flags/a%20b/preview", { patch: {} }, 404, "a b");
  await refusal("/flags/checkout/preview", {}, 400, "patch");
  await refusal("/flags/checkout/preview", { patch: { percentage: 101 } }, 400, "patch.percentage");
  const rules = [{ id: "x", when: { segment: ["none"] }, serve: "on" }];
  await refusal("/flags/checkout/preview", { patch: { rules } }, 400, "patch.rules[0].when");
  await refusal("/segments/none/preview", { patch: { when: null } }, 404, "none");
  await refusal("/segments/none/preview", {}, 400, "members");
  await refusal("/segments/none/preview", { patch: {}, members: {} }, 400, "members");
  await refusal("/preview", { operations: [] }, 400, "operations");
  const key = { kind: "key", key: "k", action: "patch", body: { writesDirectly: true } };
  await refusal("/preview", { operations: [key] }, 400, "operations[0].kind");
  const old = { kind: "flag", key: "checkout", action: "patch", body: {}, version: 1 };
  await refusal("/preview", { operations: [old] }, 412, "operations[0]");
  const many = Array.from({ length: 101 }, () => old);
  await refusal("/preview", { operations: many }, 400, "100");
  const nothing = await askPreview(admin, "/flags/checkout/preview", { patch: { percentage: 10 } });
  assert.deepEqual([nothing.changed, nothing.flags], [0, []]);
});

const usedBy = 260;

test(`a preview of a segment that ${usedBy} flags use looks at 250 of them at most, and says so`, async () => {
  const { admin, keys } = await setUp();
  await admin("POST", "/segments", { key: "staff" });
  const rules = [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }];
  for (let index = 0; index < usedBy; index += 1) {
    const flag = { key: `flag-${index}`, type: "rollout", rules };
    const made = await admin("POST", "/flags", flag);
    assert.equal(made.status, 201, made.text);
  }
  const changes = Array.from({ length: 100 }, (_, index) => ({
    flag: `flag-${index}`,
    patch: { enabled: true },
  }));
  assert.equal((await admin("POST", "/changes", { changes })).status, 200);
  const body = { members: { include: { add: ["user-1", "user-7"] } } };
  const [preview, answered] = await Promise.all([
    askPreview(admin, "/segments/staff/preview", body),
    sendTraffic(server.url, keys.server, "checkout", people(50)),
  ]);
  assert.equal(answered.length, 50);
  assert.equal(preview.flagsLeftOut, usedBy - 250);
  assert.equal(preview.changed, 2);
  assert.ok(preview.flags.every((flag) => flag.changed === 2));
});

test("a preview without a sample tells only what is exact", async () => {
  const other = await startTestServer({ HALYARD_CONTEXT_SAMPLE: "0" });
  try {
    const { name, admin, newKey } = await other.environment();
    await makeFlag(admin, { key: "checkout", type: "rollout", percentage: 10, enabled: true });
    const preview = await askPreview(admin, "/flags/checkout/preview", {
      patch: { percentage: 60 },
    });
    assert.equal(preview.sample, null);
    assert.equal(preview.share, null);
    assert.equal(preview.flags[0]?.exactShare, 50);
    await limitTo(other.api(await newKey("owner")), name, 20);
    const refused = refusedPreview(await admin("PATCH", "/flags/checkout", { percentage: 60 }));
    assert.equal(refused.flags[0]?.exactShare, 50);
    const rules = [{ id: "pro", when: inPlan("pro"), serve: "on" }];
    assert.equal((await admin("PATCH", "/flags/checkout", { rules })).status, 200);
  } finally {
    await other.close();
  }
});

test("previews are made one after the other", async () => {
  let [running, most] = [0, 0];
  const preview = createPreviewDecisions({
    store: { requiring: async () => [] },
    memory: { get: () => undefined, current: async () => {} },
    async sample() {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (most === 1) throw new Error("one that fails holds up nobody");
      return undefined;
    },
    runInSlices: createRunInSlices(() => 0),
    queue: createQueue(),
  });
  const environment = { id: 1, name: "test" };
  const asked = Array.from({ length: 5 }, () => preview(environment, []));
  assert.equal((await Promise.allSettled(asked)).length, 5);
  assert.equal(most, 1);
});

test("of many previews that are asked for at once, some are refused", async () => {
  const { editor } = await setUp();
  const patch = { percentage: 20 };
  const ask = () => editor("POST", "/flags/checkout/preview", { patch });
  const found = new Map<number, number>();
  for (const { status } of await Promise.all(Array.from({ length: 100 }, ask))) {
    found.set(status, (found.get(status) ?? 0) + 1);
  }
  assert.deepEqual(new Set(found.keys()), new Set([200, 503]));
  assert.equal((await ask()).status, 200);
});

test("many previews at once take one slice together in each turn of the event loop", async () => {
  let [time, steps, seen, most] = [0, 0, 0, 0];
  // Every step takes longer than a slice.
  const run = createRunInSlices(() => {
    time += 10;
    return time;
  });
  function* work() {
    for (let step = 0; step < 20; step += 1) {
      steps += 1;
      yield;
    }
    return "done";
  }
  const all = Promise.all(Array.from({ length: 5 }, () => run(work())));
  const watch = () => {
    most = Math.max(most, steps - seen);
    seen = steps;
    if (steps < 100) setImmediate(watch);
  };
  setImmediate(watch);
  assert.deepEqual(await all, Array(5).fill("done"));
  assert.deepEqual([steps, most], [100, 1]);
});
