// A long replay: queued in parts as its receiver takes them, seen from outside, stopped, and continued after a restart.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { createFlag, patchFlag, readLog, register } from "./support/delivery-log.ts";
import { dropDatabase } from "./support/postgres.ts";
import { type Received, startReceiver } from "./support/scripted-receiver.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

interface Shown {
  readonly state: string;
  readonly replayed: number;
  readonly complete: boolean;
  readonly reachedSequence: number;
  readonly lastSequence: number;
  readonly endedAt: string | null;
}

const events = 160;
const makeEvents = async (admin: Api) => {
  const flags = await Promise.all(Array.from({ length: 10 }, () => createFlag(admin)));
  for (let round = 0; round < events / flags.length - 1; round += 1) {
    await Promise.all(flags.map((flag) => patchFlag(admin, flag, { description: `${round}` })));
  }
};

const eventOf = ({ body }: Received) =>
  JSON.parse(body.toString()) as { sequence: number; data: { flag: { key: string } } };

/** Each event once, and those of a flag in their order. */
const assertWhole = (received: readonly Received[]) => {
  const all = received.map(eventOf);
  assert.equal(received.length, events);
  assert.equal(new Set(all.map(({ sequence }) => sequence)).size, events);
  for (const key of new Set(all.map(({ data }) => data.flag.key))) {
    const own = all.filter(({ data }) => data.flag.key === key).map(({ sequence }) => sequence);
    assert.deepEqual(
      own,
      own.toSorted((a, b) => a - b),
    );
  }
};

test("no more is queued than a part while the receiver takes nothing; a restart goes on where it was", async (t) => {
  const folder = newFolder();
  const settings = { HALYARD_DATA: folder };
  t.after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(basename(folder));
  });
  const receiver = await startReceiver(() => ({ status: 503 }));
  t.after(() => receiver.close());
  const first = await startTestServer(settings);
  const { admin, keys } = await first.environment();
  await makeEvents(admin);
  const { id } = await register(admin, receiver.url);
  const path = `/webhooks/${id}/replay`;
  assertRefused(await admin("GET", path), 404, id, "no replay");
  assertRefused(await admin("DELETE", path), 404, id, "no replay");
  const begun = await admin("POST", path, { afterSequence: 0 });
  assert.equal(begun.status, 202, begun.text);
  const shown = begun.body as Shown;
  assert.deepEqual(
    [shown.state, shown.complete, shown.replayed, shown.lastSequence, shown.endedAt],
    ["running", false, 50, events, null],
  );
  await until("attempts", () => receiver.received.length >= 4);
  assertRefused(await admin("POST", path, { afterSequence: 0 }), 409, id, "50 of 160");
  assert.equal((await readLog(admin, id, "?limit=1000")).length, 50);
  assert.deepEqual((await admin("GET", path)).body, shown);
  await first.close();

  const second = await startTestServer(settings);
  t.after(() => second.close());
  const again = second.api(keys.admin);
  assert.deepEqual((await again("GET", path)).body, shown, "it knows how far it was");
  const failed = receiver.received.length;
  receiver.answer(() => ({ status: 204 }));
  // The retries would come in their time; the receiver is well again.
  await again("PATCH", `/webhooks/${id}`, { active: false });
  await again("PATCH", `/webhooks/${id}`, { active: true });
  const done = await until("the end", async () => {
    const now = (await again("GET", path)).body as Shown;
    return now.complete && now;
  });
  assert.deepEqual([done.state, done.replayed, done.reachedSequence], ["complete", events, events]);
  assert.ok(done.endedAt !== null);
  await until("all are sent", () => receiver.received.length >= failed + events);
  assertWhole(receiver.received.slice(failed));
});

test("a replay that is stopped queues no more, and another can begin", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const receiver = await startReceiver(() => ({ status: 503 }));
  t.after(() => receiver.close());
  const { admin, server: reader } = await server.environment();
  await makeEvents(admin);
  const { id } = await register(admin, receiver.url);
  const path = `/webhooks/${id}/replay`;
  await admin("POST", path, { afterSequence: 100 });
  assert.equal((await reader("GET", path)).status, 200);
  assertRefused(await reader("DELETE", path), 403, "role admin");
  assert.equal((await admin("DELETE", path)).status, 204);
  assert.equal((await admin("DELETE", path)).status, 204, "again");
  const stopped = (await admin("GET", path)).body as Shown;
  assert.deepEqual([stopped.state, stopped.complete, stopped.replayed], ["stopped", false, 50]);
  receiver.answer(() => ({ status: 204 }));
  // Its first part is not taken, so the other one waits with its own.
  const other = (await admin("POST", path, { afterSequence: 0 })).body as Shown;
  assert.deepEqual([other.state, other.replayed], ["running", 0]);
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  assertRefused(await admin("POST", path, { afterSequence: 0 }), 409, "not active");
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  await until("the end", async () => ((await admin("GET", path)).body as Shown).complete);
  const log = await until("all are sent", async () => {
    const all = await readLog(admin, id, "?limit=1000");
    return all.every(({ state }) => state === "delivered") && all;
  });
  assert.equal(log.length, 50 + events);
});
