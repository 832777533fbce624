// Several processes deliver from one database: the work is shared, nothing is sent twice, and a sleeper does no harm.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, afterEach, beforeEach, test } from "node:test";
import { readRows } from "../../support/database.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import { newFolder } from "../../support/server.ts";
import { call, register } from "./client.ts";
import { type Receiver, startReceiver, stepsBack } from "./receiver.ts";
import { until } from "./until.ts";

export const testWorkers = ({
  changes,
  naps,
}: {
  readonly changes: number;
  readonly naps: number;
}): void => {
  const key = "a-key-for-the-test-of-several-workers";
  const started: RunningServer[] = [];
  const folders: string[] = [];
  let folder: string;
  let receiver: Receiver;

  /** Each signs under a name of its own, so that the receiver can tell them apart. */
  const startWorkers = async (...names: string[]): Promise<RunningServer[]> => {
    const servers: RunningServer[] = [];
    for (const name of names) {
      const settings = {
        HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
        HALYARD_LOG_LEVEL: "fatal",
        HALYARD_SERVICE_NAME: name,
      };
      servers.push(await serveHalyard(folder, settings));
    }
    started.push(...servers);
    return servers;
  };
  const ask = async ({ url }: RunningServer, method: string, path: string, body?: object) => {
    const reply = await call({ url, key }, method, path, body);
    assert.ok(
      reply.status < 300,
      `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`,
    );
  };
  const count = async (condition: string) =>
    (await readRows({ folder }, `select count(*) as n from deliveries where ${condition}`))[0]?.n;

  beforeEach(async () => {
    folder = newFolder();
    folders.push(folder);
    receiver = await startReceiver();
  });
  afterEach(async () => {
    // One that still sleeps would not end by itself.
    for (const server of started) server.kill("SIGKILL");
    await Promise.all(started.splice(0).map(({ ended }) => ended));
    await receiver.close();
    assert.deepEqual(receiver.wrong, []);
  });
  after(() => {
    for (const each of folders) rmSync(each, { recursive: true, force: true });
  });

  const shareOf = (service: string) =>
    receiver.receipts.filter((receipt) => receipt.service === service).length;

  test("three workers share the work and send nothing twice", async (t) => {
    const servers = await startWorkers("one", "two", "three");
    const [first] = servers;
    assert.ok(first);
    await register({ url: first.url, key }, receiver);
    receiver.behave({ slow: 20 });
    const flags = Array.from({ length: 60 }, (_, index) => `flag-${index}`);
    for (const flag of flags) await ask(first, "POST", "/flags", { key: flag, type: "boolean" });

    let made = 0;
    const write = async (_: unknown, writer: number): Promise<void> => {
      while (made < changes) {
        made += 1;
        const server = servers[writer % servers.length] ?? first;
        const body = { description: `change ${made}` };
        await ask(server, "PATCH", `/flags/${flags[made % flags.length]}`, body);
      }
    };
    await Promise.all(Array.from({ length: 6 }, write));
    const expected = changes + flags.length;
    await until("all is delivered", async () => (await count("state <> 'delivered'")) === 0, {
      every: 50,
    });
    const shares = ["one", "two", "three"].map(shareOf);
    t.diagnostic(`${expected} events, by worker: ${shares.join()}`);
    assert.equal(receiver.receipts.length, expected, "each of them once");
    assert.equal(new Set(receiver.receipts.map(({ sequence }) => sequence)).size, expected);
    assert.deepEqual(stepsBack(receiver.receipts), []);
    assert.equal(await count("attempts <> 1"), 0);
    for (const share of shares) assert.ok(share > expected / 20, `by worker: ${shares.join()}`);
  });

  test("a worker that is told to stop leaves nothing claimed behind", async () => {
    const [first] = await startWorkers("one");
    assert.ok(first);
    await register({ url: first.url, key }, receiver);
    // So slow that far from all can have been told by the time it is told to stop.
    receiver.behave({ slow: 200 });
    const flags = Array.from({ length: 100 }, (_, index) => `flag-${index}`);
    // A few at once: on a busy machine more would wait too long for a connection.
    for (let begin = 0; begin < flags.length; begin += 10) {
      await Promise.all(
        flags
          .slice(begin, begin + 10)
          .map((flag) => ask(first, "POST", "/flags", { key: flag, type: "boolean" })),
      );
    }
    await until("some are told", () => receiver.receipts.length > 4);
    first.kill("SIGTERM");
    assert.equal((await first.ended).code, 0);
    receiver.behave("up");
    assert.notEqual(await count("state = 'pending'"), 0, "it stopped before all was told");
    assert.deepEqual(
      await readRows({ folder }, "select id from delivery_queues where lease_id is not null"),
      [],
    );
    await startWorkers("two");
    await until("the next goes on at once", async () => (await count("state = 'pending'")) === 0, {
      every: 20,
    });
    assert.equal(receiver.receipts.length, flags.length, "each of them once");
  });

  for (let nap = 0; nap < naps; nap += 1) {
    const late = nap % 2 === 0 ? 503 : 204;
    test(`a worker that sleeps past its lease and gets ${late} settles nothing (${nap + 1})`, async (t) => {
      const [sleeper] = await startWorkers("sleeper");
      assert.ok(sleeper);
      await register({ url: sleeper.url, key }, receiver);
      // One that has answered the sleeper well gets several at once from it.
      await ask(sleeper, "POST", "/flags", { key: "first", type: "boolean" });
      await until("it is proven", async () => (await count("state = 'delivered'")) === 1);
      assert.equal(shareOf("sleeper"), 1);
      receiver.behave(({ service }) => (service === "sleeper" ? "hold" : "up"));
      // More flags than may be under way at once: the sleeper has claims that it has not begun, too.
      const flags = Array.from({ length: 8 }, (_, index) => `flag-${index}`);
      await Promise.all(
        flags.map((flag) => ask(sleeper, "POST", "/flags", { key: flag, type: "boolean" })),
      );
      const leased = "select id from delivery_queues where lease_id is not null";
      // All is claimed: it waits for answers only, and does not fall asleep with the database in its hands.
      await until(
        "the sleeper is busy",
        async () =>
          shareOf("sleeper") === 5 && (await readRows({ folder }, leased)).length === flags.length,
      );
      // At once: its requests end after 15 seconds, and a busy machine may start the next worker more slowly.
      sleeper.kill("SIGSTOP");
      const asleep = performance.now();
      const begun = shareOf("sleeper");
      // Only now: it would have taken some of them.
      const [watcher] = await startWorkers("watcher");
      assert.ok(watcher);
      for (const flag of flags) await ask(watcher, "PATCH", `/flags/${flag}`, { enabled: true });
      await until(
        "the watcher has delivered everything",
        async () => (await count("state <> 'delivered'")) === 0,
        {
          every: 50,
        },
      );
      const took = performance.now() - asleep;
      const told = await readRows({ folder }, "select * from deliveries order by position");
      const attempts = await readRows(
        { folder },
        "select * from attempts order by position, number",
      );
      assert.equal(told.length, 2 * flags.length + 1);
      assert.equal(attempts.length, told.length, "the sleeper's attempts are nobody's yet");

      // Whatever is told from here on, only the sleeper can have told it.
      watcher.kill("SIGTERM");
      assert.equal((await watcher.ended).code, 0);
      receiver.behave("up");
      receiver.release(late);
      sleeper.kill("SIGCONT");
      // It answers again, and what it is asked to tell now it settles no sooner than what it slept over.
      await ask(sleeper, "POST", "/flags", { key: "awake", type: "boolean" });
      await until(
        "it is awake and told",
        async () => (await count("state = 'delivered'")) === told.length + 1,
      );
      assert.equal(shareOf("sleeper") - begun, 1, "it sends nothing that it slept over");
      assert.deepEqual(
        (await readRows({ folder }, "select * from deliveries order by position")).slice(
          0,
          told.length,
        ),
        told,
      );
      assert.deepEqual(
        (await readRows({ folder }, "select * from attempts order by position, number")).slice(
          0,
          -1,
        ),
        attempts,
      );
      assert.equal(
        (
          await readRows(
            { folder },
            "select id from delivery_queues where due_at is not null or lease_id is not null",
          )
        ).length,
        0,
        "every queue is at rest",
      );
      assert.deepEqual(stepsBack(receiver.receipts), []);
      const accepted = receiver.receipts.filter(({ service }) => service === "watcher");
      assert.equal(accepted.length, 2 * flags.length, "the watcher sent each of them once");
      t.diagnostic(
        `${begun - 1} under way when it fell asleep; all delivered after ${Math.round(took / 1_000)} s`,
      );
    });
  }
};
