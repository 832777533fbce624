// The limits on flips: a change that hits too many is refused with its preview, unless that is confirmed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { limitTo, refusedPreview, sampledEnvironment } from "./support/preview.ts";
import { act, protectedEnvironment, type Request } from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { inPlan } from "./support/targeting.ts";
import { people, reportTraffic } from "./support/traffic.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ HALYARD_RATE_LIMIT: "0" });
});
after(() => server.close());
const setUp = () => sampledEnvironment(server);

test("the limit of an environment refuses what flips more, unless that is confirmed", async () => {
  const { name, admin, editor, owner } = await setUp();
  assert.equal((await admin("PATCH", `/environments/${name}`, { maxFlips: 5 })).status, 403);
  await limitTo(owner, name, 20);
  const listed = (await admin("GET", "/environments")).body as { maxFlips: number }[];
  assert.deepEqual(
    listed.map(({ maxFlips }) => maxFlips),
    [20],
  );

  const wide = { percentage: 100 };
  const refused = refusedPreview(await admin("PATCH", "/flags/checkout", wide));
  assert.equal(refused.flags[0]?.exactShare, 90);
  assert.ok((refused.share ?? 0) > 80);
  assert.equal(refused.examples?.length, 20);
  const forEditor = refusedPreview(await editor("PATCH", "/flags/checkout", wide));
  assert.equal(forEditor.examples, undefined);
  assert.equal((await admin("GET", "/flags/checkout")).headers.get("etag"), '"2"');

  refusedPreview(await admin("PATCH", "/flags/checkout?confirmFlips=60", wide));
  assert.equal((await admin("PATCH", "/flags/checkout?confirmFlips=101", wide)).status, 400);
  assert.equal((await admin("PATCH", "/flags/checkout?confirmFlips=some", wide)).status, 400);
  assert.equal((await admin("PATCH", "/flags/checkout", { percentage: 25 })).status, 200);
  assert.equal((await admin("PATCH", "/flags/checkout", { description: "Same" })).status, 200);
  assert.equal((await admin("PATCH", "/flags/checkout?confirmFlips=100", wide)).status, 200);

  refusedPreview(await admin("DELETE", "/flags/checkout"));
  refusedPreview(
    await admin("POST", "/changes", {
      changes: [{ flag: "checkout", patch: { enabled: false } }],
    }),
  );
  await limitTo(owner, name, null);
  assert.equal((await admin("DELETE", "/flags/checkout")).status, 204);
});

test("the limit holds for segments too, and a new flag is off at first", async () => {
  const { name, admin, owner } = await setUp();
  await limitTo(owner, name, 10);
  assert.equal((await admin("POST", "/segments", { key: "staff" })).status, 201);
  const rules = [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }];
  const flag = { key: "tools", type: "boolean", rules, otherwise: "off" };
  assert.equal((await admin("POST", "/flags", flag)).status, 201);
  assert.equal((await admin("PATCH", "/flags/tools", { enabled: true })).status, 200);
  const pro = { when: inPlan("pro") };
  const refused = refusedPreview(await admin("PATCH", "/segments/staff", pro));
  assert.equal(refused.changed, 40);
  const add = Array.from({ length: 30 }, (_, index) => `user-${index}`);
  const members = { include: { add } };
  refusedPreview(await admin("POST", "/segments/staff/members", members));
  const confirmed = await admin("POST", "/segments/staff/members?confirmFlips=15", members);
  assert.equal(confirmed.status, 200, confirmed.text);
});

test("the limit counts those who lack an attribute that nobody was seen with", async () => {
  const { name, admin, owner } = await setUp();
  await limitTo(owner, name, 20);
  const lacks = { attribute: "country", op: "exists", value: false };
  const all = { rules: [{ id: "rest", when: lacks, serve: "on" }] };
  const refused = refusedPreview(await admin("PATCH", "/flags/checkout", all));
  assert.ok(refused.unknown > 150, String(refused.unknown));
  assert.ok((refused.shareAsSampled ?? 0) > 80, String(refused.shareAsSampled));
  // Whom a rule for a new attribute will hit is unknown, and nobody yet.
  const home = { attribute: "country", op: "in", values: ["DE"] };
  const none = { rules: [{ id: "home", when: home, serve: "on" }] };
  assert.equal((await admin("PATCH", "/flags/checkout", none)).status, 200);
});

test("the limit of a key holds beside the environment's, and the lower one decides", async () => {
  const { name, admin, owner } = await setUp();
  const made = await admin("POST", "/keys", { name: "ci", role: "editor", maxFlips: 5.5 });
  assert.equal(made.status, 201, made.text);
  assert.equal((made.body as { maxFlips: number }).maxFlips, 5.5);
  const keys = (await admin("GET", "/keys")).body as { name: string; maxFlips?: number }[];
  assert.equal(keys.find((key) => key.name === "ci")?.maxFlips, 5.5);
  assert.equal(keys.find((key) => key.name === "admin")?.maxFlips, undefined);
  const ci = server.api((made.body as { key: string }).key);
  refusedPreview(await ci("PATCH", "/flags/checkout", { percentage: 50 }));
  assert.equal((await ci("PATCH", "/flags/checkout", { percentage: 12 })).status, 200);
  const limited = await admin("POST", "/keys", { name: "bot", role: "admin", maxFlips: 5 });
  const bot = server.api((limited.body as { key: string }).key);
  for (const [wanted, given] of [
    [undefined, 5],
    [null, 5],
    [50, 5],
    [2, 2],
  ]) {
    const handed = await bot("POST", "/keys", { name: "next", role: "editor", maxFlips: wanted });
    assert.equal((handed.body as { maxFlips?: number }).maxFlips, given, handed.text);
  }
  await limitTo(owner, name, 1);
  refusedPreview(await ci("PATCH", "/flags/checkout", { percentage: 16 }));
  for (const maxFlips of [-1, 100.5, "5", 0.0001]) {
    const wrong = await admin("POST", "/keys", { name: "x", role: "editor", maxFlips });
    assert.equal(wrong.status, 400, wrong.text);
    assert.ok(wrong.text.includes("maxFlips"), wrong.text);
    const patched = await owner("PATCH", `/environments/${name}`, { maxFlips });
    assert.equal(patched.status, 400, patched.text);
  }
});

test("the limit may be confirmed under the same Idempotency-Key's name anew, and a kept answer comes back", async () => {
  const { name, admin, owner } = await setUp();
  await limitTo(owner, name, 20);
  const changes = { changes: [{ flag: "checkout", patch: { enabled: false } }] };
  const widened = { changes: [{ flag: "checkout", patch: { percentage: 90 } }] };
  const once = { "idempotency-key": "one" };
  refusedPreview(await admin("POST", "/changes", widened, once));
  const confirmed = await admin("POST", "/changes?confirmFlips=100", widened, once);
  assert.equal(confirmed.status, 200, confirmed.text);
  const again = await admin("POST", "/changes?confirmFlips=100", widened, once);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  refusedPreview(await admin("POST", "/changes", changes));
});

test("the limit is asked when a change is proposed, and not again when it is applied", async () => {
  const environment = await protectedEnvironment(server);
  const { name, asAda, asBen, keys, newKey } = environment;
  await reportTraffic(server.url, keys.server, "checkout", people(50));
  const owner = server.api(await newKey("owner"));
  await limitTo(owner, name, 20);
  const on = { enabled: true };
  refusedPreview(await asAda("PATCH", "/flags/checkout", on));
  const operations = [{ kind: "flag", key: "checkout", action: "patch", body: on }];
  const refused = refusedPreview(await asAda("POST", "/change-requests", { operations }));
  assert.equal(refused.examples, undefined);
  refusedPreview(await asAda("POST", "/change-requests?confirmFlips=30", { operations }));
  assert.deepEqual((await asAda("GET", "/change-requests")).body, { requests: [], next: null });

  const described = {
    kind: "flag",
    key: "checkout",
    action: "patch",
    body: { description: "x" },
  };
  const small = await asAda("POST", "/change-requests", { operations: [described] });
  assert.equal(small.status, 201, small.text);
  const { id } = small.body as Request;
  refusedPreview(await asAda("PATCH", `/change-requests/${id}`, { operations }));

  const proposed = await asAda("PATCH", "/flags/checkout?confirmFlips=100", on);
  assert.equal(proposed.status, 202, proposed.text);
  const approved = await act(asBen, proposed.body as Request, "approve");
  assert.equal(approved.status, 200, approved.text);
  assert.equal(((await asAda("GET", "/flags/checkout")).body as typeof on).enabled, true);
});

test("the limit judges each of two changes at once by what is there when it is made", async () => {
  const { name, admin, owner } = await setUp();
  await limitTo(owner, name, 40);
  // Each is within the limit from 40%; one after the other moves more than that.
  for (let round = 0; round < 10; round += 1) {
    const set = await admin("PATCH", "/flags/checkout?confirmFlips=100", { percentage: 40 });
    assert.equal(set.status, 200, set.text);
    const [up, down] = await Promise.all([
      admin("PATCH", "/flags/checkout", { percentage: 75 }),
      admin("PATCH", "/flags/checkout", { percentage: 5 }),
    ]);
    assert.deepEqual(
      new Set([up.status, down.status]),
      new Set([200, 409]),
      `${up.text} ${down.text}`,
    );
    refusedPreview(up.status === 409 ? up : down);
  }
});
