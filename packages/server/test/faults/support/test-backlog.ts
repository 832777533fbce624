// A receiver that was down gets its backlog gently, in order and soon; nobody else waits for it.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { readRows } from "../../support/database.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import { newFolder } from "../../support/server.ts";
import { call, register } from "./client.ts";
import { type Receiver, startReceiver, stepsBack } from "./receiver.ts";
import { until } from "./until.ts";

/** `answerTime` is long enough that requests which may run at once do. */
export const testBacklog = ({
  backlog,
  flags,
  answerTime,
}: {
  readonly backlog: number;
  readonly flags: number;
  readonly answerTime: number;
}): void => {
  const writers = 16;
  const key = "a-key-for-the-test-of-backlogs";
  const folder = newFolder();

  let server: RunningServer;
  /** Gets every change of a flag. */
  let receiver: Receiver;
  let webhook: string;
  /** Gets new flags only. */
  let other: Receiver;

  const ask = async (method: string, path: string, body?: object) => {
    const reply = await call({ url: server.url, key }, method, path, body);
    assert.ok(reply.status < 300, `${method} ${path} answered ${reply.status}`);
    return reply.body;
  };
  const count = async (condition: string): Promise<number> =>
    Number(
      (
        await readRows(
          { folder },
          `select count(*) as n from deliveries where webhook_id = ? and ${condition}`,
          webhook,
        )
      )[0]?.n,
    );

  before(async () => {
    const settings = {
      HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
      HALYARD_LOG_LEVEL: "fatal",
    };
    [server, receiver, other] = await Promise.all([
      serveHalyard(folder, settings),
      startReceiver(),
      startReceiver(),
    ]);
    for (let index = 0; index < flags; index += 1) {
      await ask("POST", "/flags", { key: `flag-${index}`, type: "rollout" });
    }
    const changes = ["flag.enabled", "flag.disabled", "flag.updated"];
    webhook = await register({ url: server.url, key }, receiver, changes);
    await register({ url: server.url, key }, other, ["flag.created"]);
  });
  after(async () => {
    server.kill("SIGKILL");
    await server.ended;
    await receiver.close();
    await other.close();
    rmSync(folder, { recursive: true, force: true });
  });

  let fresh = 0;
  /** Milliseconds from the answer to a new flag until the other receiver knows of it. */
  const timeFresh = async (): Promise<number> => {
    const name = `fresh-${fresh}`;
    fresh += 1;
    await ask("POST", "/flags", { key: name, type: "boolean" });
    return until(`${name} arrives`, () => other.receipts.some(({ flagKey }) => flagKey === name), {
      every: 1,
    });
  };

  describe(`a backlog of ${backlog}`, () => {
    let returned = 0;

    test("a dead receiver is asked now and then only", async (t) => {
      receiver.behave("unavailable");
      const started = performance.now();
      let made = 0;
      const write = async (): Promise<void> => {
        while (made < backlog) {
          made += 1;
          await ask("PATCH", `/flags/flag-${made % flags}`, { description: `change ${made}` });
        }
      };
      await Promise.all(Array.from({ length: writers }, write));
      // The last probe has just failed: the next one is at least a second away.
      await until(
        "the breaker is open",
        () => performance.now() - (receiver.receipts.at(-1)?.at ?? Number.POSITIVE_INFINITY) > 400,
      );
      const seconds = (performance.now() - started) / 1_000;
      t.diagnostic(
        `${made} changes in ${seconds.toFixed(1)} s, asked ${receiver.receipts.length} times`,
      );
      assert.equal(await count("state = 'pending'"), backlog);
      // Ten failures open the breaker while up to three more are under way; then one probe a second at most.
      assert.ok(receiver.receipts.length <= 13 + seconds, `${receiver.receipts.length} requests`);
      assert.ok(receiver.mostAtOnce() <= 4);
    });

    test("it is drained within a minute of its return, while others get theirs at once", async (t) => {
      returned = receiver.receipts.length;
      receiver.behave({ slow: answerTime });
      const started = performance.now();
      const silent = await until("it is asked again", () => receiver.receipts.length > returned);
      const latencies: number[] = [];
      while (receiver.receipts.length < returned + backlog / 2) {
        const begun = performance.now();
        latencies.push(await timeFresh());
        // A steady trickle, not a load of its own.
        await until("a moment passes", () => performance.now() - begun > 50);
      }
      await until("all is delivered", async () => (await count("state <> 'delivered'")) === 0, {
        every: 50,
      });
      const seconds = (performance.now() - started) / 1_000;
      latencies.sort((a, b) => a - b);
      const median = latencies[Math.floor(latencies.length / 2)] ?? Number.NaN;
      const worst = latencies.at(-1) ?? Number.NaN;
      t.diagnostic(
        `asked after ${(silent / 1_000).toFixed(1)} s, drained after ${seconds.toFixed(1)} s (${Math.round(backlog / (seconds - silent / 1_000))} a second); ${latencies.length} fresh events elsewhere: median ${Math.round(median)} ms, worst ${Math.round(worst)} ms`,
      );
      assert.ok(seconds < 60, `${seconds} s`);
      assert.ok(latencies.length >= 5, `only ${latencies.length} fresh events were tried`);
      assert.ok(median < 500 && worst < 3_000, `median ${median} ms, worst ${worst} ms`);
    });

    test("never more than four at once, and one, two, four after the return", () => {
      const after = receiver.receipts.slice(returned).map(({ atOnce }) => atOnce);
      assert.equal(after[0], 1);
      assert.ok((after[1] ?? 9) <= 2 && (after[2] ?? 9) <= 2, `${after.slice(0, 10).join()}`);
      const [first, second] = receiver.receipts.slice(returned);
      assert.ok(first && second && second.at - first.at >= answerTime - 1, "the probe went alone");
      assert.equal(receiver.mostAtOnce(), 4);
      assert.equal(Math.max(...after), 4, "it got up to speed");
    });

    test("each exactly once after the return, in the order of each flag", () => {
      const accepted = receiver.receipts.filter(({ status }) => status === 204);
      assert.equal(accepted.length, backlog);
      assert.equal(new Set(accepted.map(({ sequence }) => sequence)).size, backlog);
      assert.deepEqual(stepsBack(receiver.receipts), []);
      assert.deepEqual(receiver.wrong, []);
      assert.deepEqual(other.wrong, []);
    });
  });

  test("a large replay gives way to what happens meanwhile", async (t) => {
    const begin = receiver.receipts.length;
    const path = `/webhooks/${webhook}/replay`;
    await ask("POST", path, { afterSequence: 0 });
    /** Replays sent between a change and its event. */
    const passedBy = async (name: string): Promise<number> => {
      await ask("PATCH", `/flags/${name}`, { enabled: true });
      const asked = receiver.receipts.length;
      const arrived = () =>
        receiver.receipts.findIndex(
          ({ flagKey, type }) => flagKey === name && type === "flag.enabled",
        );
      await until(`${name} arrives`, () => arrived() !== -1, { every: 1 });
      return Math.max(0, arrived() - asked);
    };
    const passed: number[] = [];
    for (let change = 0; change < 5; change += 1) passed.push(await passedBy(`flag-${change}`));
    receiver.behave({ slow: 100 });
    const slowed = receiver.receipts.length;
    await until("what was claimed before is sent", () => receiver.receipts.length > slowed + 32);
    const passedSlowly = await passedBy("flag-5");
    receiver.behave({ slow: answerTime });
    const { replayed, ...then } = (await ask("GET", path)) as { replayed: number; state: string };
    const left = backlog - replayed + (await count("kind = 'replay' and state = 'pending'"));
    t.diagnostic(
      `replays sent between a change and its event: ${passed.join()}, to a slow receiver ${passedSlowly}; ${left} replays left then`,
    );
    assert.ok(left > 0 && then.state === "running", "the replay was over too soon to tell");
    // What is claimed already goes first: eight for each of four requests at once, two when the receiver is slow.
    assert.ok(Math.max(...passed) <= 32, passed.join());
    assert.ok(passedSlowly <= 8, `${passedSlowly}`);
    const isDone = async () =>
      ((await ask("GET", path)) as { complete: boolean }).complete &&
      (await count("state <> 'delivered'")) === 0;
    await until("the replay is done", isDone, { every: 50 });
    assert.equal(receiver.receipts.length - begin, backlog + 6);
    assert.ok(receiver.mostAtOnce() <= 4);
    assert.deepEqual(receiver.wrong, []);
  });
};
