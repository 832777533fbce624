// Previews for roles that can't read contexts: what counts can reveal about one person.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Api } from "./support/api.ts";
import { makeFlag } from "./support/ofrep.ts";
import { askPreview, limitTo, refusedPreview, sampledEnvironment } from "./support/preview.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { reportTraffic } from "./support/traffic.ts";

let server: TestServer;
before(async () => {
  // The noise of the counts depends on the key: every run sees the same.
  const HALYARD_SECRET_KEY = Buffer.alloc(32, 7).toString("base64");
  server = await startTestServer({ HALYARD_RATE_LIMIT: "0", HALYARD_SECRET_KEY });
});
after(() => server.close());

const email = "zoe@example.com";

/** 200 people, and one more whose address an editor wants to know. */
const setUp = async () => {
  const environment = await sampledEnvironment(server);
  await makeFlag(environment.admin, { key: "probe", type: "boolean", enabled: true });
  const victim = { targetingKey: "victim", plan: "free", email };
  await reportTraffic(server.url, environment.keys.server, "checkout", [victim]);
  return environment;
};

const startsWith = (prefix: string) => ({
  all: [
    { attribute: "targetingKey", op: "in", values: ["victim"] },
    { attribute: "email", op: "startsWith", values: [prefix] },
  ],
});
/** A rule for the victim if the address starts with the prefix, and for some other people. */
const probe = (prefix: string, others: number) => {
  const values = Array.from({ length: others }, (_, index) => `user-${index}`);
  const padding = { attribute: "targetingKey", op: "in", values };
  const when = others === 0 ? startsWith(prefix) : { any: [startsWith(prefix), padding] };
  return { patch: { rules: [{ id: "probe", when, serve: "on" }], otherwise: "off" } };
};
/** Off for everyone, by a rule that matches no person. */
const turnOff = async (admin: Api): Promise<void> => {
  const { patch } = probe("-", 0);
  assert.equal((await admin("PATCH", "/flags/probe", patch)).status, 200);
};

const changedBy = async (api: Api, body: object): Promise<number> =>
  (await askPreview(api, "/flags/probe/preview", body)).changed;

test("an editor cannot spell out an attribute of one person by counting", async () => {
  const { admin, editor } = await setUp();
  await turnOff(admin);
  assert.equal(await changedBy(admin, probe("z", 0)), 1);
  assert.equal(await changedBy(admin, probe("a", 0)), 0);
  for (const prefix of ["a", "z", "zo", "zoe", "x"]) {
    const preview = await askPreview(editor, "/flags/probe/preview", probe(prefix, 0));
    for (const count of [preview.changed, preview.unknown, preview.flags[0]?.changed ?? 0]) {
      assert.equal(count % 10, 0, JSON.stringify(preview));
    }
    for (const share of [preview.share, preview.low, preview.high, preview.shareAsSampled]) {
      assert.ok(share === null || Number.isInteger(share), JSON.stringify(preview));
    }
    assert.doesNotMatch(JSON.stringify(preview), /zoe@|victim/);
  }
});

test("a group padded to a boundary of rounding reveals the next person by chance only", async () => {
  const { admin, editor } = await setUp();
  await turnOff(admin);
  // Groups of 34 or 35 people, which rounding alone would distinguish each time.
  const shown = new Map<string, Set<number>>([
    ["z", new Set()],
    ["a", new Set()],
  ]);
  for (const [prefix, counts] of shown) {
    for (let variant = 0; variant < 40; variant += 1) {
      const { patch } = probe(prefix, 34);
      const [rule] = patch.rules;
      const rules = [{ ...rule, id: `probe-${variant}` }];
      counts.add(await changedBy(editor, { patch: { ...patch, rules } }));
    }
  }
  // Both groups share some possible counts, so one response doesn't distinguish them.
  const [hit = new Set(), miss = new Set()] = shown.values();
  assert.ok(hit.intersection(miss).size > 1, JSON.stringify([[...hit], [...miss]]));
  // Repeating a preview repeats its counts: the noise cannot be averaged away.
  const first = await changedBy(editor, probe("z", 34));
  for (let time = 0; time < 10; time += 1) {
    assert.equal(await changedBy(editor, probe("z", 34)), first);
  }
});

test("flips of few people and flags that they reach are left out, so that no list reveals them", async () => {
  const { admin, editor } = await setUp();
  await admin("POST", "/segments", { key: "staff" });
  const rules = [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }];
  await admin("PATCH", "/flags/probe", { rules, otherwise: "off" });
  const patch = { when: startsWith("z") };
  const exact = await askPreview(admin, "/segments/staff/preview", { patch });
  assert.deepEqual(
    exact.flags.map(({ key, changed }) => [key, changed]),
    [["probe", 1]],
  );
  const few = await askPreview(editor, "/segments/staff/preview", { patch });
  assert.deepEqual([few.changed, few.flags], [0, []]);
  assert.equal(few.high === null || few.high > 0, true, "few is not none");
});

test("a rejection by the impact limit has rounded counts for an editor, and exact ones for an admin", async () => {
  const { name, admin, editor, owner } = await setUp();
  await limitTo(owner, name, 5);
  const patch = { percentage: 90 };
  const exact = refusedPreview(await admin("PATCH", "/flags/checkout", patch));
  assert.equal(exact.rounded, undefined);
  const response = await editor("PATCH", "/flags/checkout", patch);
  const shown = refusedPreview(response);
  assert.equal(shown.rounded, true);
  assert.equal(shown.changed % 10, 0);
  const { message } = response.body as { message: string };
  const [, bound = ""] = /confirmFlips=(\d+)/.exec(message) ?? [];
  assert.match(message, /another value to about \d+%/);
  const confirmed = await editor("PATCH", `/flags/checkout?confirmFlips=${bound}`, patch);
  assert.equal(confirmed.status, 200, confirmed.text);
});

test("one person has at most 240 flags counted in an hour; admins are not limited", async () => {
  const { name, admin, editor, owner } = await setUp();
  let counted = 0;
  for (;;) {
    const operations = Array.from({ length: 100 }, (_, index) => ({
      kind: "flag",
      key: `new-${index}`,
      action: "create",
      body: { type: "rollout", percentage: 50 },
    }));
    const response = await editor("POST", "/preview", { operations });
    if (response.status === 429) {
      assert.match(response.text, /240 flags/);
      assert.ok(Number(response.headers.get("retry-after")) > 3_000);
      break;
    }
    assert.equal(response.status, 200, response.text);
    counted += 100;
    assert.ok(counted <= 300);
  }
  assert.equal(counted, 300);
  // Changes stay possible: with a limit, all of them have to be confirmed, whatever they flip.
  const off = { enabled: false };
  assert.equal((await editor("PATCH", "/flags/checkout", off)).status, 200);
  await limitTo(owner, name, 50);
  const refused = await editor("PATCH", "/flags/checkout", { enabled: true });
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /was not checked: .*; repeat it with confirmFlips=100/);
  assert.equal((refused.body as { preview?: object }).preview, undefined);
  const confirmed = await editor("PATCH", "/flags/checkout?confirmFlips=100", { enabled: true });
  assert.equal(confirmed.status, 200, confirmed.text);
  const rounded = await admin("POST", "/flags/checkout/preview?rounded=true", {
    patch: { percentage: 20 },
  });
  assert.equal((rounded.body as { rounded?: true }).rounded, true);
  const exact = await askPreview(admin, "/flags/checkout/preview", { patch: { percentage: 20 } });
  assert.equal(exact.rounded, undefined);
});
