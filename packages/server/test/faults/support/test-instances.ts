// Three instances on one PostgreSQL are killed, stopped past their leases and cut off from it while all of them write and deliver.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { readRows } from "../../support/database.ts";
import { newFolder } from "../../support/server.ts";
import { auditStore } from "../../support/store-audit.ts";
import { call, register } from "./client.ts";
import { type AnsweredChange, type FlagState, writeFlags } from "./flag-writer.ts";
import { repetitions, type Sleeper, startInstances, withoutSleepTalk } from "./instances.ts";
import { type Receiver, startReceiver, stepsBack } from "./receiver.ts";
import { chooseSeed, createRandom, type Random } from "./seeded-random.ts";
import { checkTold, readExpectedEvents } from "./told.ts";
import { until } from "./until.ts";

interface Size {
  readonly calm: number;
  readonly changes: number;
  readonly flags: number;
  readonly rounds: number;
  readonly kills: number;
  readonly terminations: number;
}

/** In each round one instance sleeps for longer than a lease, and meanwhile the others fall and are cut off. */
export const testInstances = (size: Size): void => {
  const writers = 12;
  const lease = 25_000;
  const environment = "development";
  const key = "a-key-that-outlives-three-instances";
  const folder = newFolder();

  const numberOf = async (query: string) => Number((await readRows({ folder }, query))[0]?.n);
  const pending = () => numberOf("select count(*) as n from deliveries where state = 'pending'");

  /** Ends connections that are at work, and now and then some that wait to be used; gives how many. */
  const terminate = () =>
    numberOf(`select count(pg_terminate_backend(pid)) as n from pg_stat_activity
    where datname = current_database() and application_name = 'halyard'
      and (state <> 'idle' or random() < 0.2)`);

  /** A settlement under a lease that somebody has taken over would leave an attempt too many, or one after the success. */
  const checkAttempts = async () => {
    const wrong = await readRows(
      { folder },
      `select deliveries.id, deliveries.attempts, count(*) as kept, max(number) as last,
       count(*) filter (where status between 200 and 299) as successes,
       max(number) filter (where status between 200 and 299) as success
     from deliveries left join attempts on attempts.position = deliveries.position
     group by deliveries.id, deliveries.attempts
     having not (count(*) = deliveries.attempts and max(number) = deliveries.attempts
       and count(*) filter (where status between 200 and 299) = 1
       and max(number) filter (where status between 200 and 299) = deliveries.attempts)`,
    );
    assert.deepEqual(wrong, [], "each has its attempts, and the last one is the success");
  };

  /** Three in ten deliveries fail, but only once: the pauses after that are long, and have their own tests. */
  const failAtTimes = (receiver: Receiver, random: Random) => {
    const tried = new Set(receiver.receipts.map(({ deliveryId }) => deliveryId));
    receiver.behave(({ deliveryId }) => {
      // Slow enough that whoever falls or falls asleep is in the midst of something.
      if (tried.has(deliveryId)) return { slow: 30 };
      tried.add(deliveryId);
      const chance = random(20);
      return chance < 3 ? "reset" : chance < 6 ? "unavailable" : { slow: 30 };
    });
  };

  type Place = Parameters<typeof call>[0];

  const isWritten = (flag: { readonly key: string }) => flag.key.startsWith("flag-");

  /** What the flags of an instance are, from the store and from its memory. */
  const shownBy = async (place: Place): Promise<[listed: object, evaluated: object]> => {
    const list = (await call(place, "GET", "/flags")).body as { key: string; enabled: boolean }[];
    const response = await fetch(`${place.url}/ofrep/v1/evaluate/flags`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: '{"context":{}}',
    });
    const { flags } = (await response.json()) as { flags: { key: string; value: boolean }[] };
    return [
      Object.fromEntries(list.filter(isWritten).map((flag) => [flag.key, flag.enabled])),
      Object.fromEntries(flags.filter(isWritten).map((flag) => [flag.key, flag.value])),
    ];
  };

  /** One that slept tells of changes again, and is not held up by what it slept over. */
  const untilItSends = async ({ service, place }: Sleeper, receivers: readonly Receiver[]) => {
    const woken = performance.now();
    let changes = 0;
    await until(
      "the one that slept sends again",
      async () => {
        changes += 1;
        await call(place, "POST", "/flags", { key: `of-${service}-${changes}`, type: "boolean" });
        return receivers.some(({ receipts }) =>
          receipts.some((receipt) => receipt.service === service && receipt.at > woken),
        );
      },
      { every: 100 },
    );
  };

  test(`${size.changes} changes by three instances, ${size.kills} kills, ${size.terminations} terminations, ${size.rounds} sleeps`, async (t) => {
    const seed = chooseSeed();
    t.diagnostic(`SEED=${seed}`);
    const random = createRandom(seed);
    const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    const instances = await startInstances(folder, key, ["one", "two", "three"], random);
    let isOver = false;
    after(async () => {
      isOver = true;
      await instances.kill();
      for (const receiver of receivers) await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    });
    for (const receiver of receivers) await register(await instances.any(), receiver);

    const keys = Array.from({ length: size.flags }, (_, index) => `flag-${index}`);
    const answered: AnsweredChange[] = [];
    const expected = new Map<string, FlagState>();
    let allowed = size.calm;
    const goOn = async () => {
      while (!isOver && answered.length >= allowed) await wait(5);
      return !isOver;
    };
    const writing = Promise.all(
      Array.from({ length: writers }, (_, writer) =>
        writeFlags({
          server: instances.any,
          random: createRandom(random(2 ** 31)),
          keys: keys.filter((_key, index) => index % writers === writer),
          answered,
          goOn,
          mayBeUnavailable: true,
        }),
      ),
    );
    // A writer that fails must not leave the rest waiting.
    const untilAnswered = (count: number) =>
      Promise.race([writing, until(`${count} changes`, () => answered.length >= count)]);

    await untilAnswered(size.calm);
    await until("all of the calm is delivered", async () => (await pending()) === 0, { every: 50 });
    for (const { receipts } of receivers) {
      const deliveries = new Set(receipts.map(({ deliveryId }) => deliveryId));
      assert.equal(receipts.length, deliveries.size, "without a fault nothing is sent twice");
      assert.deepEqual(stepsBack(receipts), []);
    }
    const calmReceipts = receivers.map(({ receipts }) => receipts.length);
    const senders = new Set(
      receivers.flatMap(({ receipts }) => receipts.map(({ service }) => service)),
    );
    assert.ok(senders.size > 1, "the work is shared");
    for (const receiver of receivers) failAtTimes(receiver, createRandom(random(2 ** 31)));

    const started = performance.now();
    const kills = size.kills / size.rounds;
    const cuts = size.terminations / size.rounds;
    let [killed, cut, ended] = [0, 0, 0];
    for (let round = 1; round <= size.rounds; round += 1) {
      const [from, to] = [round - 1, round].map((done) =>
        Math.round(size.calm + ((size.changes - size.calm) * done) / size.rounds),
      ) as [number, number];
      const faults = [
        ...Array.from({ length: Math.round(kills * round) - killed }, () => "kill"),
        ...Array.from({ length: Math.round(cuts * round) - cut }, () => "cut"),
      ]
        .map((kind) => [random(1_000), kind] as const)
        .sort(([a], [b]) => a - b);
      allowed = Math.round(from + (to - from) / 4);
      await untilAnswered(allowed);
      const asleep = performance.now();
      const sleeper = instances.putToSleep();
      for (const [index, [, kind]] of faults.entries()) {
        allowed = Math.round(from + ((to - from) * (index + 1)) / (faults.length + 1));
        await untilAnswered(Math.max(from, allowed - writers));
        // The moment itself is what varies.
        await wait(random(100));
        if (kind === "kill") {
          await instances.killAndRestart();
          killed += 1;
        } else {
          ended += await terminate();
          cut += 1;
        }
      }
      await wait(Math.max(0, asleep + lease + 1_500 - performance.now()));
      sleeper.wake();
      allowed = to;
      await untilAnswered(to);
      await untilItSends(sleeper, receivers);
    }
    isOver = true;
    let unknown = 0;
    for (const written of await writing) {
      unknown += written.unknown;
      for (const [flag, state] of written.states) if (state.there) expected.set(flag, state);
    }
    const loop = performance.now() - started;

    const wanted = Object.fromEntries([...expected].map(([flag, { enabled }]) => [flag, enabled]));
    for (const place of instances.all()) {
      const [listed] = await shownBy(place);
      assert.deepEqual(listed, wanted, "every instance shows every answered change at once");
      await until("it evaluates so too", async () => {
        const [, evaluated] = await shownBy(place);
        return JSON.stringify(evaluated) === JSON.stringify(listed);
      });
    }
    const backlog = await pending();
    const drained = await until("nothing is pending", async () => (await pending()) === 0, {
      within: 1_500_000,
      every: 100,
    });
    await instances.stop();

    await auditStore(folder, environment, receivers.length);
    assert.equal(
      await numberOf("select count(*) as n from deliveries where state <> 'delivered'"),
      0,
    );
    assert.equal(
      await numberOf(
        "select count(*) as n from delivery_queues where lease_id is not null or due_at is not null",
      ),
      0,
      "every queue is at rest",
    );
    await checkAttempts();
    const events = await readExpectedEvents(folder);
    const repeated: number[] = [];
    for (const receiver of receivers) {
      checkTold(receiver, events, answered);
      const { count, unexplained } = repetitions(receiver.receipts, instances.faults);
      assert.deepEqual(unexplained, [], "sent again only after a crash or a sleep of the sender");
      repeated.push(count);
      const orderly = withoutSleepTalk(receiver.receipts, instances.faults);
      assert.deepEqual(stepsBack(orderly), [], "no flag ever goes back");
      assert.ok(
        receiver.receipts.some(({ status }) => status !== 204),
        "it was down at times",
      );
    }
    assert.deepEqual([killed, cut], [size.kills, size.terminations]);
    t.diagnostic(
      `${answered.length} changes answered, ${unknown} unknown, ${events.size} events; ${killed} kills (${instances.failedStarts()} starts repeated), ${ended} connections ended in ${cut} goes, ${size.rounds} sleeps in ${Math.round(loop / 1_000)} s`,
    );
    t.diagnostic(
      `requests ${receivers.map(({ receipts }) => receipts.length).join()}, of which ${calmReceipts.join()} in the calm; sent again after success ${repeated.join()}; ${backlog} pending at the end, drained in ${Math.round(drained / 1_000)} s`,
    );
  });
};
