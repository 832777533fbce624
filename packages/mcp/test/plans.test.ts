// Plans are rejected if something changed meanwhile, if they were altered or have expired; with approval, they create change requests.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { day, minute, movableClock } from "../../server/test/support/movable-clock.ts";
import { sampledEnvironment } from "../../server/test/support/preview.ts";
import { setProtected } from "../../server/test/support/protected.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type Assistant, overHttp } from "./support/assistant.ts";

const time = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({ HALYARD_MCP: "on" }, { clock: time.clock });
});
after(() => server.close());

const reason = "A test";
const patch = (key: string, body: object) => ({ kind: "flag", action: "patch", key, body });

interface Place extends TestEnvironment {
  readonly assistant: Assistant;
}

/** An environment with two flags, and an assistant with an editor key. */
const newPlace = async (): Promise<Place> => {
  const environment = await server.environment();
  const { admin, newKey } = environment;
  for (const key of ["one", "two"]) await admin("POST", "/flags", { key, type: "boolean" });
  return { ...environment, assistant: await overHttp(server, await newKey("editor")) };
};

const isEnabled = async ({ admin }: Place, key: string): Promise<boolean> =>
  ((await admin("GET", `/flags/${key}`)).body as { enabled: boolean }).enabled;

suite("a plan", () => {
  test("is rejected with the concurrent change, and nothing of it is applied", async () => {
    const place = await newPlace();
    const { assistant, admin } = place;
    const operations = [patch("one", { enabled: true }), patch("two", { enabled: true })];
    const { data } = await assistant.use("plan_change", { operations, reason });
    await admin("PATCH", "/flags/two?reason=Faster", { description: "Changed meanwhile" });

    const late = await assistant.refused("apply_plan", { plan: data.plan });
    assert.equal(late.code, "CHANGED_SINCE");
    assert.match(late.sentence, /^Rejected: the flag or segment has changed since/);
    const [change, ...others] = late.data.since as Record<string, unknown>[];
    assert.deepEqual(others, []);
    assert.equal(change?.key, "two");
    assert.equal(change?.by, "admin");
    assert.equal(change?.reason, "Faster");
    assert.deepEqual(change?.changes, [
      { member: "description", before: null, after: "Changed meanwhile" },
    ]);
    assert.equal(await isEnabled(place, "one"), false);
  });

  test("of a deletion, or of a deleted flag, is rejected in the same way", async () => {
    const { assistant, admin } = await newPlace();
    const operations = [{ kind: "flag", action: "delete", key: "one" }];
    const first = await assistant.use("plan_change", { operations, reason });
    await admin("PATCH", "/flags/one", { enabled: true });
    const late = await assistant.refused("apply_plan", { plan: first.data.plan });
    assert.equal(late.code, "CHANGED_SINCE");
    const second = await assistant.use("plan_change", { operations, reason });
    await admin("DELETE", "/flags/one");
    const gone = await assistant.refused("apply_plan", { plan: second.data.plan });
    assert.equal(gone.code, "CHANGED_SINCE");
    assert.equal((gone.data.since as unknown[]).length, 1);
  });

  test("that is applied twice changes the flag once", async () => {
    const { assistant, admin } = await newPlace();
    const operations = [patch("one", { enabled: true })];
    const { data } = await assistant.use("plan_change", { operations, reason });
    await assistant.use("apply_plan", { plan: data.plan });
    await assistant.use("apply_plan", { plan: data.plan });
    assert.equal((await admin("GET", "/flags/one")).headers.get("etag"), '"2"');
  });

  test("is rejected if it was altered, is for another environment, or is older than 15 minutes", async () => {
    const place = await newPlace();
    const { assistant } = place;
    const operations = [patch("one", { enabled: true })];
    const { data } = await assistant.use("plan_change", { operations, reason });
    const plan = String(data.plan);
    const middle = Math.floor(plan.length / 2);
    const other = plan[middle] === "A" ? "B" : "A";
    const altered = plan.slice(0, middle) + other + plan.slice(middle + 1);
    // The same bytes in another encoding would be another request, which would apply the plan twice.
    const spellings = [`${plan}=`, `${plan} `, plan.replace("plan_", "plan_."), `${plan}\n`];
    const cut = [plan.slice(0, -4), `${plan}AAAA`, "plan_", "", "cr_1"];
    for (const wrong of [altered, ...spellings, ...cut]) {
      assert.equal((await assistant.refused("apply_plan", { plan: wrong })).code, "PLAN_NOT_VALID");
    }
    const elsewhere = await newPlace();
    const moved = await elsewhere.assistant.refused("apply_plan", { plan });
    assert.equal(moved.code, "PLAN_NOT_VALID");

    time.forward(15 * minute);
    assert.equal((await assistant.refused("apply_plan", { plan })).code, "PLAN_EXPIRED");
    assert.equal(await isEnabled(place, "one"), false);
    assert.equal(await isEnabled(elsewhere, "one"), false);
  });

  test("is not valid for a later environment of the same name", async () => {
    const { name, assistant } = await newPlace();
    const operations = [patch("one", { enabled: true })];
    const { data } = await assistant.use("plan_change", { operations, reason });
    const owner = server.api(await (await server.environment()).newKey("owner"));
    assert.equal((await owner("DELETE", `/environments/${name}?flags=true`)).status, 204);
    const again = await owner("POST", "/environments", { name });
    assert.equal(again.status, 201, again.text);
    const { key } = (again.body as { key: { key: string } }).key;
    await server.api(key)("POST", "/flags", { key: "one", type: "boolean" });
    const namesake = await overHttp(server, key);
    const refused = await namesake.refused("apply_plan", { plan: data.plan });
    assert.equal(refused.code, "PLAN_NOT_VALID");
  });

  test("is rejected if its id would be too long", async () => {
    const { assistant, admin } = await newPlace();
    await admin("POST", "/segments", { key: "beta" });
    const planOf = (count: number) => {
      const add = Array.from({ length: count }, () => randomBytes(30).toString("base64url"));
      const body = { include: { add, remove: [] } };
      return { operations: [{ kind: "segment", action: "members", key: "beta", body }], reason };
    };
    const refused = await assistant.refused("plan_change", planOf(4_000));
    assert.equal(refused.code, "PLAN_TOO_LARGE");
    assert.match(refused.sentence, /Make several plans/);
    const { data } = await assistant.use("plan_change", planOf(1_000));
    await assistant.use("apply_plan", { plan: data.plan });
  });

  test("must be a single change: several requests and empty changes are rejected", async () => {
    const { assistant } = await newPlace();
    const remove = { kind: "flag", action: "delete", key: "two" };
    const mixed = { operations: [patch("one", { enabled: true }), remove], reason };
    assert.equal((await assistant.refused("plan_change", mixed)).code, "NOT_ONE_CHANGE");
    const nothing = { operations: [patch("one", { enabled: false })], reason };
    assert.equal((await assistant.refused("plan_change", nothing)).code, "NOTHING_TO_CHANGE");
    const wrong = { operations: [patch("one", { percentage: 10 })], reason };
    assert.equal((await assistant.refused("plan_change", wrong)).code, "VALIDATION_FAILED");
    const when = await assistant.refused("plan_rollback", { reason });
    assert.equal(when.code, "NO_TIME");
  });

  test("of a segment is applied, and shows only the number of members", async () => {
    const { assistant, admin } = await newPlace();
    await admin("POST", "/segments", { key: "beta", include: ["ann@example.com"] });
    const body = { include: { add: ["bob"], remove: [] } };
    const operations = [{ kind: "segment", action: "members", key: "beta", body }];
    const { data } = await assistant.use("plan_change", { operations, reason });
    await assistant.use("apply_plan", { plan: data.plan });
    const { include } = (await admin("GET", "/segments/beta")).body as { include: string[] };
    assert.deepEqual(include, ["ann@example.com", "bob"]);
    const history = await assistant.use("history", { kind: "segment", key: "beta" });
    assert.doesNotMatch(JSON.stringify(history.data), /ann@example\.com|bob/);
    const late = await assistant.refused("plan_rollback", { flags: ["beta"], revision: 1, reason });
    assert.deepEqual(late.data.leftOut, [{ key: "beta", why: "it did not exist then" }]);
  });
});

suite("with approval", () => {
  test("applying creates one change request, even with a key that can bypass approval", async () => {
    const place = await newPlace();
    const { admin, name } = place;
    const direct = await admin("POST", "/keys", {
      name: "bot",
      role: "editor",
      writesDirectly: true,
    });
    const { key } = direct.body as { key: string };
    await setProtected(server, name, true);
    const editor = await overHttp(server, await place.newKey("editor"));
    for (const assistant of [editor, await overHttp(server, key)]) {
      const operations = [patch("one", { enabled: true })];
      const { data, sentence } = await assistant.use("plan_change", { operations, reason });
      assert.equal(data.protected, true);
      assert.match(sentence, /apply_plan creates a change request/);
      const first = await assistant.use("apply_plan", { plan: data.plan });
      assert.match(first.sentence, /^Created a change request\. Nothing has changed yet/);
      const again = await assistant.use("apply_plan", { plan: data.plan });
      assert.deepEqual(again.data, first.data);
      const { id } = first.data.changeRequest as { id: string };
      const made = (await admin("GET", `/change-requests/${id}`)).body as Record<string, unknown>;
      assert.equal(made.state, "open");
      assert.equal(made.reason, reason);
    }
    assert.equal(await isEnabled(place, "one"), false);
    const list = (await admin("GET", "/change-requests")).body as { requests: unknown[] };
    assert.equal(list.requests.length, 2);
  });

  test("an outdated plan creates no change request", async () => {
    const { admin, name, newKey } = await newPlace();
    const owner = server.api(await newKey("owner"));
    await setProtected(server, name, true);
    const assistant = await overHttp(server, await newKey("editor"));
    const operations = [patch("one", { enabled: true })];
    const { data } = await assistant.use("plan_change", { operations, reason });
    const past = "/flags/one?bypass=true&reason=Incident";
    assert.equal((await owner("PATCH", past, { description: "x" })).status, 200);
    const late = await assistant.refused("apply_plan", { plan: data.plan });
    assert.equal(late.code, "CHANGED_SINCE");
    const list = (await admin("GET", "/change-requests")).body as { requests: unknown[] };
    assert.equal(list.requests.length, 0);
  });
});

test("the impact limit applies, and no sampled context is revealed, not even to an admin", async () => {
  const { name, keys, owner } = await sampledEnvironment(server);
  assert.equal((await owner("PATCH", `/environments/${name}`, { maxFlips: 5 })).status, 200);
  const assistant = await overHttp(server, keys.admin);
  const operations = [patch("checkout", { percentage: 90 })];
  const preview = await assistant.use("preview_change", { operations });
  const planned = await assistant.use("plan_change", { operations, reason });
  const refused = await assistant.refused("apply_plan", { plan: planned.data.plan });
  assert.equal(refused.code, "TOO_MANY_FLIPS");
  for (const { data } of [preview, planned]) {
    const text = JSON.stringify(data);
    assert.match(text, /"rounded":true/);
    assert.match(text, /"changed":1\d0,/);
    assert.doesNotMatch(text, /"examples"|"context"|"targetingKey"/);
  }
  // With an admin key, the server's error contains exact counts.
  assert.deepEqual(refused.data.error, {
    code: "TOO_MANY_FLIPS",
    message: "The change affects more users than the impact limit allows. Preview it for counts.",
  });
});

test("a flag without evaluations and changes for 30 days is stale", async () => {
  const { assistant, client } = await newPlace();
  time.forward(31 * day);
  await client("POST", "//ofrep/v1/evaluate/flags/two", { context: {} });
  const { sentence, data } = await assistant.use("stale_flags");
  assert.equal(sentence, "Stale: 1 of 2 flags.");
  const [{ lastChange, ...flag } = {}, ...others] = data.stale as Record<string, unknown>[];
  assert.deepEqual([flag, others], [{ key: "one", lastEvaluatedAt: null }, []]);
  assert.equal((lastChange as { by: string }).by, "admin");
});
