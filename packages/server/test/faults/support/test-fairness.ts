// One dead and one dripping receiver beside eight healthy ones: what the healthy ones get, compared with what they get alone.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createApi } from "../../support/api.ts";
import { createFlag, patchFlag, register } from "../../support/delivery-log.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import {
  afterRequest,
  dripInto,
  type Listener,
  listenPlain,
} from "../../support/hostile-socket.ts";
import {
  type Received,
  type ScriptedReceiver,
  startReceiver,
} from "../../support/scripted-receiver.ts";
import { newFolder } from "../../support/server.ts";
import { until } from "../../support/until.ts";

/** Without limits it only prints the ratios: next to other tests they mean nothing. */
export const testFairness = ({
  rounds,
  changes,
  limits,
}: {
  readonly rounds: number;
  readonly changes: number;
  readonly limits?: { readonly p99: number; readonly throughput: number };
}): void => {
  const healthyCount = 8;
  /** Rounds of each kind, and changes in each of them. */
  /** Milliseconds between two changes: well below what the server can do, so that delays are those of single deliveries. */
  const pace = 20;
  const flagCount = 32;
  const adminKey = "a-key-for-the-fairness-test";

  const folder = newFolder();
  let server: RunningServer;
  let healthy: ScriptedReceiver[] = [];
  let bad: Listener[] = [];
  let flags: string[] = [];

  const admin: ReturnType<typeof createApi> = (...call) => createApi(server.url, adminKey)(...call);

  interface Round {
    /** Milliseconds from the commit to the receipt, of the slowest but one in a hundred, while changes come at a steady pace. */
    readonly p99: number;
    /** Deliveries a second over all the healthy ones, while changes come as fast as they are answered. */
    readonly throughput: number;
  }

  before(async () => {
    healthy = await Promise.all(Array.from({ length: healthyCount }, () => startReceiver()));
    bad = [
      await listenPlain((socket) => void socket.resume()),
      await listenPlain(
        afterRequest((socket) => {
          socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
          dripInto(socket, "drip");
        }),
      ),
    ];
    server = await serveHalyard(folder, {
      HALYARD_BOOTSTRAP_KEYS: `development=${adminKey}`,
      HALYARD_LOG_LEVEL: "fatal",
    });
    for (const { url } of healthy) await register(admin, url);
    flags = await Promise.all(Array.from({ length: flagCount }, () => createFlag(admin)));
    const created = flagCount * healthyCount;
    await until("the new flags are told", () => receivedByAll() === created);
  });

  after(async () => {
    await Promise.all([...healthy, ...bad].map((each) => each.close()));
    server.kill("SIGKILL");
    await server.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const receivedByAll = () => healthy.reduce((sum, { received }) => sum + received.length, 0);

  /** What has come since, once every healthy receiver has been told of all the changes. */
  const toldSince = async (from: readonly number[]): Promise<Received[]> => {
    const expected = from.reduce((sum, count) => sum + count, 0) + changes * healthyCount;
    await until("the healthy ones are told everything", () => receivedByAll() >= expected);
    assert.equal(receivedByAll(), expected, "and nothing twice");
    return healthy.flatMap(({ received }, index) => received.slice(from[index]));
  };

  const runRound = async (): Promise<Round> => {
    const counts = () => healthy.map(({ received }) => received.length);
    const before = counts();
    const began = performance.now();
    const answered: Promise<void>[] = [];
    for (let change = 0; change < changes; change += 1) {
      await pause(Math.max(0, began + change * pace - performance.now()));
      const key = flags[change % flags.length] ?? "";
      answered.push(patchFlag(admin, key, { description: `${began} ${change}` }));
    }
    await Promise.all(answered);
    const fresh = await toldSince(before);
    const delays = fresh
      .map(({ at, body }) => performance.timeOrigin + at - Date.parse(eventOf(body).createdAt))
      .sort((a, b) => a - b);

    const again = counts();
    const begun = performance.now();
    for (let change = 0; change < changes; change += flags.length) {
      const some = flags.slice(0, changes - change);
      await Promise.all(
        some.map((key) => patchFlag(admin, key, { description: `${begun} ${change}` })),
      );
    }
    const ended = Math.max(...(await toldSince(again)).map(({ at }) => at));
    return {
      p99: delays[Math.floor(delays.length * 0.99)] ?? 0,
      throughput: ((changes * healthyCount) / (ended - begun)) * 1_000,
    };
  };

  const eventOf = (body: Buffer) => JSON.parse(body.toString()) as { createdAt: string };

  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

  test("healthy receivers hardly notice a dead and a dripping one", async (t) => {
    await runRound();
    const alone: Round[] = [];
    const beside: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await runRound());
      const ids: string[] = [];
      for (const { port } of bad) ids.push((await register(admin, `http://127.0.0.1:${port}/`)).id);
      const visits = bad.map(({ connections }) => connections());
      beside.push(await runRound());
      for (const [index, { connections }] of bad.entries()) {
        assert.ok(connections() > (visits[index] ?? 0), "the bad one has been called");
      }
      for (const id of ids) {
        assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
      }
      // What is under way to them would otherwise reach into the next round alone.
      await until("the bad ones are left alone", () => bad.every(({ open }) => open() === 0));
    }
    const figures = (of: (round: Round) => number) => {
      const [a, b] = [median(alone.map(of)), median(beside.map(of))];
      return {
        alone: a,
        beside: b,
        ratio: median(beside.map((each, i) => of(each) / of(alone[i] ?? each))),
      };
    };
    const p99 = figures((round) => round.p99);
    const throughput = figures((round) => round.throughput);
    t.diagnostic(
      `p99 ${p99.alone.toFixed(0)} ms alone, ${p99.beside.toFixed(0)} ms beside them (x ${p99.ratio.toFixed(2)})`,
    );
    t.diagnostic(
      `throughput ${throughput.alone.toFixed(0)}/s alone, ${throughput.beside.toFixed(0)}/s beside them (x ${throughput.ratio.toFixed(2)})`,
    );
    if (limits === undefined) return;
    assert.ok(p99.ratio <= limits.p99, `p99 is ${p99.ratio} times that of alone`);
    assert.ok(
      throughput.ratio > limits.throughput,
      `throughput is ${throughput.ratio} of that of alone`,
    );
  });
};
