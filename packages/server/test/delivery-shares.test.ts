// How environments and webhooks share what is sent at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRequestShares } from "../src/platform/http/request-shares.ts";
import { createFlag, readLog, register } from "./support/delivery-log.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  // However slow the machine is, those that get no answer have not ended when the test looks.
  server = await startTestServer({}, { deliveryTimeout: 3_600_000 });
});
after(() => server.close());

test("a hundred receivers that do not answer hold back no other environment", async (t) => {
  const silent = await startReceiver(() => undefined);
  const quick = await startReceiver();
  t.after(() => Promise.all([silent.close(), quick.close()]));
  const [slow, other] = [await server.environment(), await server.environment()];
  const hooks: string[] = [];
  for (let index = 0; index < 100; index += 1) {
    hooks.push((await register(slow.admin, silent.url)).id);
  }
  const { id } = await register(other.admin, quick.url);
  await createFlag(slow.admin, "a");
  await until("as many as may run at once", () => silent.received.length >= 60);
  await createFlag(other.admin, "b");
  await until("the delivery of the other environment", () => quick.received.length === 1);
  const attempts = (await Promise.all(hooks.map((hook) => readLog(slow.admin, hook)))).flat();
  assert.equal(attempts.length, 100);
  assert.ok(
    attempts.every((delivery) => delivery.attempts.length === 0),
    "none of the others has ended meanwhile",
  );
  // What is under way would keep the server from stopping.
  await Promise.all(hooks.map((hook) => slow.admin("DELETE", `/webhooks/${hook}`)));
  assert.equal((await readLog(other.admin, id)).length, 1);
});

const sharerOf = (environmentId: number) => ({ environmentId, running: 0 });
const fill = <T extends ReturnType<typeof sharerOf>>(
  shares: ReturnType<typeof createRequestShares<T>>,
  mayStart: (state: T) => boolean,
  failing: ReadonlySet<T> = new Set(),
) => {
  let count = 0;
  while (shares.next(mayStart, (state) => failing.has(state))) count += 1;
  return count;
};

test("alone an environment has a quarter of the requests; each that comes has room, and shares are equal", () => {
  const shares = createRequestShares<ReturnType<typeof sharerOf>>(256);
  const limit = (state: ReturnType<typeof sharerOf>) => state.running < shares.allowed(state, 4);
  const environments = Array.from({ length: 12 }, (_, id) =>
    Array.from({ length: 100 }, () => sharerOf(id)),
  );
  const runningOf = (id: number) =>
    environments[id]?.reduce((sum, { running }) => sum + running, 0) ?? 0;
  for (const state of environments[0] ?? []) shares.add(state);
  assert.equal(fill(shares, limit), 64);
  for (const state of environments[1] ?? []) shares.add(state);
  assert.ok(fill(shares, limit) >= 40, "the second has nearly as much");
  for (const webhooks of environments.slice(2)) for (const state of webhooks) shares.add(state);
  fill(shares, limit);
  // Whoever had more gets none until the others have as many.
  for (let round = 0; round < 300; round += 1) {
    const states = environments.flat().filter(({ running }) => running > 0);
    const ending = states[(round * 7) % states.length];
    if (ending) shares.ended(ending);
    fill(shares, limit);
  }
  const counts = environments.map((_, id) => runningOf(id));
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, counts.join());
  const newcomer = sharerOf(99);
  shares.add(newcomer);
  assert.equal(shares.next(limit, () => false) === undefined, false, "and there is room left");
});

test("within an environment a webhook has fewer at once the less room there is, and failing ones half", () => {
  const shares = createRequestShares<ReturnType<typeof sharerOf>>(256);
  const limit = (state: ReturnType<typeof sharerOf>) => state.running < shares.allowed(state, 4);
  const webhooks = Array.from({ length: 40 }, () => sharerOf(1));
  for (const state of webhooks) shares.add(state);
  fill(shares, limit);
  assert.ok(Math.max(...webhooks.map(({ running }) => running)) <= 3);
  assert.ok(Math.min(...webhooks.map(({ running }) => running)) >= 1);

  const others = createRequestShares<ReturnType<typeof sharerOf>>(256);
  const [down, up] = [
    Array.from({ length: 80 }, () => sharerOf(1)),
    Array.from({ length: 80 }, () => sharerOf(1)),
  ];
  for (const state of [...down, ...up]) others.add(state);
  const failing = new Set(down);
  const started = fill(others, (state) => failing.has(state) && state.running < 1, failing);
  assert.ok(started >= 30 && started <= 45, `${started} of the 64 that one may have alone`);
  assert.ok(fill(others, (state) => state.running < 1, failing) >= 20);
});
