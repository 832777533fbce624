// The machine's clock jumps: retries come late or early by the step, and nothing is lost, repeated, out of order or stuck.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { readRows } from "../../support/database.ts";
import { startTestServer, type TestServer } from "../../support/server.ts";
import { call, register } from "./client.ts";
import { type Receiver, startReceiver, stepsBack } from "./receiver.ts";
import { until } from "./until.ts";

export const testClock = ({ changes }: { readonly changes: number }): void => {
  const hour = 60 * 60 * 1_000;
  const year = 365 * 24 * hour;
  /** Long enough for the worker to look at the clock twice. */
  const twoLooks = 2_500;

  let jumped = 0;
  let server: TestServer;
  let receiver: Receiver;
  let key: string;
  let webhook: string;
  let flags = 0;

  const ask = async (method: string, path: string, body?: object) => {
    const reply = await call({ url: server.url, key }, method, path, body);
    assert.ok(
      reply.status < 300,
      `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`,
    );
    return reply.body;
  };
  const newFlag = async (): Promise<string> => {
    const name = `flag-${flags}`;
    flags += 1;
    await ask("POST", "/flags", { key: name, type: "boolean" });
    return name;
  };
  const arrivals = (name: string) => receiver.receipts.filter(({ flagKey }) => flagKey === name);

  interface Shown {
    readonly state: string;
    readonly attempts: readonly unknown[];
  }
  const deliveries = async (): Promise<readonly Shown[]> =>
    (await ask("GET", `/webhooks/${webhook}/deliveries?limit=1000`)) as Shown[];
  const count = async (condition: string) => {
    const query = `select count(*) as n from deliveries where webhook_id = ? and ${condition}`;
    return (await readRows(server, query, webhook))[0]?.n;
  };
  const settled = async () => (await count("state <> 'delivered'")) === 0;

  /** Watches for as long as the worker needs to notice the clock: the number of requests stays as it is. */
  const staysQuiet = async (): Promise<void> => {
    const before = receiver.receipts.length;
    const started = performance.now();
    await until("time passes", () => performance.now() - started > twoLooks);
    assert.equal(receiver.receipts.length, before, "requests without reason");
  };

  before(async () => {
    const clock = () => new Date(Date.now() + jumped);
    // No attempt fails because the machine is slow.
    server = await startTestServer({}, { clock, deliveryTimeout: 3_600_000 });
  });
  after(() => server.close());
  beforeEach(async () => {
    const { keys } = await server.environment();
    key = keys.admin;
    receiver = await startReceiver();
    webhook = await register({ url: server.url, key }, receiver);
  });
  afterEach(async () => {
    assert.deepEqual(receiver.wrong, []);
    assert.deepEqual(stepsBack(receiver.receipts), []);
    await call({ url: server.url, key }, "DELETE", `/webhooks/${webhook}`);
    await receiver.close();
  });

  for (const [name, jump, planned] of [
    ["an hour back", -hour, "late"],
    ["a year back", -year, "at once"],
    ["an hour forward", hour, "at once"],
  ] as const) {
    describe(`the clock jumps ${name}`, () => {
      test("while nothing is to be done: a fresh change is told within seconds, once", async () => {
        // The times of an environment never go back, whatever the clock does.
        await newFlag();
        await until("all is settled", settled);
        jumped += jump;
        const flag = await newFlag();
        await until("it arrives", () => arrivals(flag).length > 0);
        await until("it is settled", settled);
        await staysQuiet();
        assert.equal(arrivals(flag).length, 1);
      });

      test("while a delivery is under way: it is neither lost nor sent again", async () => {
        // One that has answered well may get several at once.
        await newFlag();
        await until("it is proven", async () => receiver.receipts.length > 0 && (await settled()));
        receiver.behave("hold");
        const flag = await newFlag();
        await until("it arrives", () => arrivals(flag).length === 1);
        await ask("PATCH", `/flags/${flag}`, { enabled: true });
        jumped += jump;
        await staysQuiet();
        receiver.behave("up");
        receiver.release(204);
        await until("both are settled", settled);
        assert.deepEqual(
          arrivals(flag).map(({ type }) => type),
          ["flag.created", "flag.enabled"],
        );
        assert.deepEqual(
          (await deliveries()).map(({ attempts }) => attempts.length),
          [1, 1, 1],
        );
      });

      test(`while a retry is waited for: it comes ${planned}, once`, async () => {
        receiver.behave("unavailable");
        const flag = await newFlag();
        await until(
          "the first attempt",
          async () => (await deliveries())[0]?.attempts.length === 1,
        );
        jumped += jump;
        if (planned === "late") {
          // Longer than the pause of five seconds, by a clock that nobody has set.
          const started = performance.now();
          await until("the pause is over", () => performance.now() - started > 8_000);
          assert.equal(arrivals(flag).length, 1, "by the step");
          jumped -= jump;
        }
        await until("the second attempt", () => arrivals(flag).length === 2);
        // The third is half a minute away, by whichever clock.
        await staysQuiet();
        receiver.behave("up");
        jumped += hour;
        await until("it is delivered", settled);
        assert.equal(arrivals(flag).length, 3);
      });

      test("while much is under way: everything arrives once, in order", async (t) => {
        receiver.behave({ slow: 3 });
        const names = await Promise.all(Array.from({ length: 12 }, newFlag));
        let made = 0;
        let jumps = 0;
        const write = async (flag: string): Promise<void> => {
          for (let enabled = true; made < changes; enabled = !enabled) {
            made += 1;
            if (made % 50 === 0) {
              jumped += jump;
              jumps += 1;
            }
            await ask("PATCH", `/flags/${flag}`, { enabled });
          }
        };
        await Promise.all(names.map(write));
        // What was queued before a step and not yet claimed is late by it too.
        if (planned === "late") jumped -= jump * jumps;
        const expected = changes + names.length;
        const drained = await until("all arrived", () => receiver.receipts.length >= expected);
        await until("all is settled", settled, { every: 50 });
        t.diagnostic(
          `${expected} events, ${jumps} jumps, the last arrived after ${Math.round(drained)} ms`,
        );
        assert.equal(new Set(receiver.receipts.map(({ sequence }) => sequence)).size, expected);
        assert.equal(receiver.receipts.length, expected, "each of them once");
        assert.equal(await count("attempts <> 1"), 0);
      });
    });
  }
};
