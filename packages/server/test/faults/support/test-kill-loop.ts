// The server is killed again and again while receivers come and go: in the end every change is everywhere, in order.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { readRows } from "../../support/database.ts";
import { serveHalyard } from "../../support/halyard-process.ts";
import { newFolder } from "../../support/server.ts";
import { auditStore } from "../../support/store-audit.ts";
import { register } from "./client.ts";
import { type AnsweredChange, writeFlags } from "./flag-writer.ts";
import { startReceiver, stepsBack } from "./receiver.ts";
import { chooseSeed, createRandom } from "./seeded-random.ts";
import { checkTold, flicker, readExpectedEvents } from "./told.ts";
import { until } from "./until.ts";

export const testKillLoop = (size: {
  readonly changes: number;
  readonly flags: number;
  readonly kills: number;
}): void => {
  const writers = 8;
  const environment = "development";
  const key = "a-key-that-outlives-every-kill";
  const folder = newFolder();

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
  const pending = async () =>
    Number(
      (
        await readRows({ folder }, "select count(*) as n from deliveries where state = 'pending'")
      )[0]?.n,
    );

  test(`${size.changes} changes, ${size.kills} kills`, async (t) => {
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
    const answered: AnsweredChange[] = [];
    const writing = Promise.all(
      Array.from({ length: writers }, (_, writer) => {
        const own = keys.filter((_key, index) => index % writers === writer);
        return writeFlags({
          server: supervisor.server,
          random: createRandom(random(2 ** 31)),
          keys: own,
          answered,
          goOn: () => answered.length < size.changes,
        });
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
    const unknown = (await writing).reduce((sum, written) => sum + written.unknown, 0);
    const loop = performance.now() - started;
    for (const stop of steady) stop();

    const backlog = await pending();
    const drained = await until("nothing is pending", async () => (await pending()) === 0, {
      within: 1_500_000,
      every: 200,
    });
    await supervisor.stop();

    await auditStore(folder, environment, receivers.length);
    const states = await readRows(
      { folder },
      "select state, count(*) as n from deliveries group by state",
    );
    assert.deepEqual(
      states.map(({ state }) => state),
      ["delivered"],
    );
    const events = await readExpectedEvents(folder);
    const accepted = receivers.map((receiver) => {
      assert.deepEqual(stepsBack(receiver.receipts), [], "no flag ever goes back");
      return checkTold(receiver, events, answered);
    });
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
};
