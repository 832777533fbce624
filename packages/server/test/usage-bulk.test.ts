// Bulk evaluations in the usage of flags, and which flags are stale and who changed them last.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { day, hour, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { environmentWith, evaluate, usageOf } from "./support/usage.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  // In the middle of an hour: none ends while a test runs.
  clock.forward((hour * 3) / 2 - (Date.now() % hour));
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const hourNow = () => new Date(Math.floor(clock.clock().getTime() / hour) * hour).toISOString();
const make = (...keys: string[]) => environmentWith(server, keys);

test("bulk evaluations are counted for all flags, from the first full hour of a flag", async () => {
  const environment = await make("a");
  clock.forward(hour);
  const askForAll = async () => {
    const answer = await environment.client("POST", "//ofrep/v1/evaluate/flags", {
      context: { targetingKey: "u" },
    });
    assert.equal(answer.status, 200);
  };
  await askForAll();
  await askForAll();
  await evaluate(environment, "a");
  const { lastAskedTogetherAt, hours } = await usageOf(environment, "a");
  assert.deepEqual(hours, [{ hour: hourNow(), on: 0, off: 1, together: 2 }]);
  const age = clock.clock().getTime() - Date.parse(lastAskedTogetherAt ?? "");
  assert.ok(age >= 0 && age < 60_000, `${age} ms ago`);

  clock.forward(2 * hour);
  await environment.admin("POST", "/flags", { key: "later", type: "boolean" });
  const later = await usageOf(environment, "later");
  assert.equal(later.lastAskedTogetherAt, null);
  assert.deepEqual(later.hours, []);
  await askForAll();
  await environment.admin("POST", "/flags", { key: "last", type: "boolean" });
  await askForAll();
  const last = await usageOf(environment, "last");
  assert.notEqual(last.lastAskedTogetherAt, null);
  assert.deepEqual(last.hours, [], "the first request was before it");
  clock.forward(hour);
  await askForAll();
  assert.deepEqual((await usageOf(environment, "last")).hours, [
    { hour: hourNow(), on: 0, off: 0, together: 1 },
  ]);
});

test("stale is what was neither evaluated, nor asked for, nor changed in 30 days", async () => {
  const environment = await make("old", "changed", "evaluated");
  const stale = async () => {
    const answer = await environment.server("GET", "/usage");
    return (answer.body as { key: string; stale: boolean }[])
      .filter((each) => each.stale)
      .map(({ key }) => key);
  };
  assert.deepEqual(await stale(), [], "not what is seconds old");
  clock.forward(31 * day);
  await environment.admin("PATCH", "/flags/changed", { enabled: true });
  await evaluate(environment, "evaluated");
  assert.deepEqual(await stale(), ["old"]);
  await environment.client("POST", "//ofrep/v1/evaluate/flags", { context: {} });
  assert.deepEqual(await stale(), [], "all of them were asked for together");
});

test("who changed each flag last, and when: of the key itself, not of one before it", async () => {
  const environment = await make("a", "b", "c");
  clock.forward(hour);
  const { body: made } = await environment.admin("POST", "/keys", { role: "admin", name: "ann" });
  const { id, key } = made as { id: string; key: string };
  await server.api(key)("PATCH", "/flags/b", { enabled: true });
  const changedAt = clock.clock().getTime();
  await environment.admin("DELETE", "/flags/c");
  await environment.admin("POST", "/flags", { key: "c", type: "boolean" });
  const { body } = await environment.server("GET", "/usage");
  const flags = body as {
    key: string;
    lastChange: { at: string; actor: { keyId: string; name: string } };
  }[];
  const [a, b, c] = flags.map(({ lastChange }) => lastChange);
  assert.deepEqual(b?.actor, { keyId: id, name: "ann" });
  const age = (at = "") => changedAt - Date.parse(at);
  assert.ok(Math.abs(age(b?.at)) < hour / 2);
  assert.ok(Math.abs(age(c?.at)) < hour / 2);
  assert.ok(Math.abs(age(a?.at) - hour) < hour / 2);
  assert.notEqual(a?.actor.keyId, id);
  const one = await environment.server("GET", "/flags/b/usage");
  assert.deepEqual((one.body as { lastChange: unknown }).lastChange, b);
});
