// The server is killed again and again while receivers come and go: in the end every change is everywhere, in order.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { readRows } from "../support/database.ts";
import { serveHalyard } from "../support/halyard-process.ts";
import { newFolder } from "../support/server.ts";
import { auditStore } from "../support/store-audit.ts";
import { call, register } from "./support/client.ts";
import { type Receipt, type Receiver, startReceiver, stepsBack } from "./support/receiver.ts";
import { chooseSeed, createRandom, type Random } from "./support/seeded-random.ts";
import { sized } from "./support/size.ts";
import { until } from "./support/until.ts";

const size = sized({
  small: { changes: 600, flags: 40, kills: 6, drainWithin: 150_000 },
  full: { changes: 20_000, flags: 200, kills: 100, drainWithin: 1_500_000 },
});
const writers = 8;
const environment = "development";
const key = "a-key-that-outlives-every-kill";
const folder = newFolder();

interface State {
  version: number;
  there: boolean;
  enabled: boolean;
}

interface Answered {
  readonly flagKey: string;
  readonly version: number;
}

/** The server that is up just now; while it is being restarted, waits for the next. */
const createSupervisor = async () => {
  const start = () =>
    serveHalyard(folder, {
      HALYARD_BOOTSTRAP_KEYS: `${environment}=${key}`,
      HALYARD_LOG_LEVEL: "fatal",
    });
  let running = start();
  await running;
  return {
    server: async () => ({ url: (await running).url, key }),
    async killAndRestart(): Promise<void> {
      const server = await running;
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<typeof running>>();
      running = promise;
      server.kill("SIGKILL");
      assert.equal((await server.ended).signal, "SIGKILL");
      start().then(resolve, reject);
      await running;
    },
    async kill(): Promise<void> {
      (await running).kill("SIGKILL");
    },
    async stop(): Promise<void> {
      const server = await running;
      server.kill("SIGTERM");
      assert.equal((await server.ended).code, 0);
    },
  };
};
type Supervisor = Awaited<ReturnType<typeof createSupervisor>>;

const nextRequest = (random: Random, flagKey: string, { there, enabled, version }: State) => {
  const path = `/flags/${flagKey}`;
  if (!there) return ["POST", "/flags", { key: flagKey, type: "rollout" }] as const;
  const choice = random(20);
  if (choice === 0) return ["DELETE", path, undefined] as const;
  const body = {
    // Both at once make two events of one change.
    ...(choice < 12 && { enabled: !enabled }),
    ...(choice > 8 && { description: `at version ${version}` }),
  };
  return ["PATCH", path, body] as const;
};

/** What the server says of the flag, deleted or not. */
const readState = async (supervisor: Supervisor, flagKey: string): Promise<State> => {
  for (;;) {
    try {
      const path = `/flags/${flagKey}/history?limit=1`;
      const { status, body } = await call(await supervisor.server(), "GET", path);
      if (status === 404) return { version: 0, there: false, enabled: false };
      assert.equal(status, 200);
      const [last] = body as { version: number; after: { enabled: boolean } | null }[];
      assert.ok(last);
      const { version, after: flag } = last;
      return { version, there: flag !== null, enabled: flag?.enabled ?? false };
    } catch (error) {
      // Killed again before it could answer.
      if (!(error instanceof TypeError)) throw error;
    }
  }
};

/** Changes its own flags one after the other; what a kill left unanswered is looked up afterwards. */
const write = async (
  supervisor: Supervisor,
  random: Random,
  keys: readonly string[],
  answered: Answered[],
): Promise<number> => {
  const states = new Map<string, State>();
  let unknown = 0;
  while (answered.length < size.changes) {
    const flagKey = keys[random(keys.length)] ?? "";
    const state = states.get(flagKey) ?? { version: 0, there: false, enabled: false };
    const [method, path, body] = nextRequest(random, flagKey, state);
    const version = state.version + 1;
    try {
      const reply = await call(await supervisor.server(), method, path, body);
      const expected = { POST: 201, PATCH: 200, DELETE: 204 }[method];
      assert.equal(reply.status, expected, JSON.stringify(reply.body));
      const { enabled = state.enabled } = (reply.body ?? {}) as { enabled?: boolean };
      states.set(flagKey, { version, there: method !== "DELETE", enabled });
      answered.push({ flagKey, version });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      unknown += 1;
      const found = await readState(supervisor, flagKey);
      assert.ok([state.version, version].includes(found.version), `${flagKey}: ${found.version}`);
      states.set(flagKey, found);
    }
  }
  return unknown;
};

/** Down three tenths of the time, in slots, by cut connections and by 503. */
const flicker = (receiver: Receiver, random: Random) => {
  // Each is down when the first request comes, whatever chance does in a short run.
  receiver.behave("unavailable");
  const timer = setInterval(() => {
    if (receiver.receipts.length === 0) return;
    const chance = random(20);
    receiver.behave(chance < 3 ? "reset" : chance < 6 ? "unavailable" : "up");
  }, 300);
  return () => {
    clearInterval(timer);
    receiver.behave("up");
  };
};

const pending = () =>
  Number(
    readRows({ folder }, "select count(*) as n from deliveries where state = 'pending'")[0]?.n,
  );

interface Expected {
  readonly id: string;
  readonly sequence: number;
  readonly flagKey: string;
  readonly version: number;
}

const checkReceiver = (
  { receipts, wrong }: Receiver,
  events: ReadonlyMap<string, Expected>,
  answered: readonly Answered[],
): Receipt[] => {
  assert.deepEqual(wrong, [], "no wrong signature, ever");
  assert.deepEqual(stepsBack(receipts), [], "no flag ever goes back");
  const accepted = receipts.filter(({ status }) => status === 204);
  for (const { eventId, flagKey, sequence, version } of receipts) {
    const event = events.get(eventId);
    assert.ok(event, `event ${eventId} of ${flagKey} has no change`);
    assert.deepEqual([flagKey, sequence, version], [event.flagKey, event.sequence, event.version]);
  }
  const sequences = [...new Set(accepted.map(({ sequence }) => sequence))].sort((a, b) => a - b);
  assert.deepEqual(
    sequences,
    Array.from({ length: events.size }, (_, index) => index + 1),
    "every event arrived",
  );
  const told = new Set(accepted.map(({ flagKey, version }) => `${flagKey} ${version}`));
  for (const { flagKey, version } of answered) {
    assert.ok(told.has(`${flagKey} ${version}`), `${flagKey} version ${version} was never told`);
  }
  return accepted;
};

test(`${size.changes} changes, ${size.kills} kills`, { timeout: 2_400_000 }, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`SEED=${seed}`);
  const random = createRandom(seed);
  const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  const supervisor = await createSupervisor();
  const steady: (() => void)[] = [];
  after(async () => {
    for (const stop of steady) stop();
    await supervisor.kill();
    for (const receiver of receivers) await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const receiver of receivers) await register(await supervisor.server(), receiver);
  for (const receiver of receivers) {
    steady.push(flicker(receiver, createRandom(random(2 ** 31))));
  }

  const keys = Array.from({ length: size.flags }, (_, index) => `flag-${index}`);
  const answered: Answered[] = [];
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => {
      const own = keys.filter((_key, index) => index % writers === writer);
      return write(supervisor, createRandom(random(2 ** 31)), own, answered);
    }),
  );
  const started = performance.now();
  for (let kills = 0; kills < size.kills; kills += 1) {
    const next = Math.floor(((kills + 0.5) * size.changes) / size.kills);
    await Promise.race([writing, until(`${next} changes`, () => answered.length >= next)]);
    // The moment itself is what varies.
    await wait(random(400));
    await supervisor.killAndRestart();
  }
  const unknown = (await writing).reduce((sum, count) => sum + count, 0);
  const loop = performance.now() - started;
  for (const stop of steady) stop();

  const backlog = pending();
  const drained = await until("nothing is pending", () => pending() === 0, {
    within: size.drainWithin,
    every: 200,
  });
  await supervisor.stop();

  auditStore(folder, environment, receivers.length);
  const states = readRows({ folder }, "select state, count(*) as n from deliveries group by state");
  assert.deepEqual(
    states.map(({ state }) => state),
    ["delivered"],
  );
  const rows = readRows({ folder }, "select id, sequence, flag_key, body from events");
  const events = new Map(
    rows.map(({ id, sequence, flag_key, body }) => {
      const { data } = JSON.parse(Buffer.from(body as Uint8Array).toString());
      const event = { sequence: Number(sequence), flagKey: String(flag_key) };
      return [String(id), { id: String(id), ...event, version: Number(data.version) }];
    }),
  );
  const accepted = receivers.map((receiver) => checkReceiver(receiver, events, answered));
  const duplicates = accepted.map(({ length }) => length - events.size);
  const asked = receivers.map(({ receipts }) => receipts.length);
  t.diagnostic(
    `${answered.length} changes answered, ${unknown} cut off, ${events.size} events, ${size.kills} kills in ${Math.round(loop / 1_000)} s`,
  );
  t.diagnostic(
    `requests ${asked.join()}; repeated after success ${duplicates.join()}; ${backlog} pending at the end, drained in ${Math.round(drained / 1_000)} s`,
  );
  assert.ok(
    receivers.every(({ receipts }) => receipts.some(({ status }) => status !== 204)),
    "every receiver was down at times",
  );
});
