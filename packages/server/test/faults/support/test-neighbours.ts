// What one environment does, another hardly notices: long replays, and receivers that take long to answer.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PatientReport } from "../../load/patient-receiver.ts";
import type { ProbeReport, ProbeWish } from "../../load/probe.ts";
import { createApi } from "../../support/api.ts";
import { createFlag, patchFlag, register } from "../../support/delivery-log.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import { type ScriptedReceiver, startReceiver } from "../../support/scripted-receiver.ts";
import { newFolder } from "../../support/server.ts";
import { until } from "../../support/until.ts";

const keys = { busy: "a-key-for-the-busy-one", quiet: "a-key-for-the-quiet-one" };
interface Size {
  /** Changes of the quiet environment in a round, and milliseconds between them. */
  readonly changes: number;
  readonly pace: number;
  readonly replayed: number;
  readonly replays: number;
  readonly slowReceivers: number;
  readonly busyFlags: number;
  readonly rounds: number;
  /** On a machine that is busy with other work a small limit would refuse what the test sets up. */
  readonly maxLag: string;
  /** Next to other tests the ratios mean nothing, and are only printed. */
  readonly hasLimits: boolean;
}

const flagCount = 20;

export const testNeighbours = (size: Size): void => {
  const { changes, pace, replayed, replays, slowReceivers, busyFlags, rounds, hasLimits } = size;
  const folder = newFolder();
  let server: RunningServer;
  let receiver: ScriptedReceiver;
  const busy: ReturnType<typeof createApi> = (...call) => createApi(server.url, keys.busy)(...call);
  const quiet: ReturnType<typeof createApi> = (...call) =>
    createApi(server.url, keys.quiet)(...call);

  const start = (file: string, argument: string) => {
    const path = fileURLToPath(new URL(`../../load/${file}`, import.meta.url));
    return fork(path, [argument], { execArgv: [] });
  };
  const startPatient = async (milliseconds: number) => {
    const child = start("patient-receiver.ts", String(milliseconds));
    const [{ port }] = (await once(child, "message")) as [PatientReport];
    return { url: `http://127.0.0.1:${port}/`, close: () => child.disconnect() };
  };

  let probe: ReturnType<typeof start>;
  const told = async (wish: ProbeWish): Promise<ProbeReport> => {
    probe.send(wish);
    const [report] = (await once(probe, "message")) as [ProbeReport];
    return report;
  };

  before(async () => {
    receiver = await startReceiver();
    server = await serveHalyard(folder, {
      HALYARD_BOOTSTRAP_KEYS: `busy=${keys.busy},quiet=${keys.quiet}`,
      HALYARD_LOG_LEVEL: "fatal",
      HALYARD_MAX_LAG: size.maxLag,
    });
    await createFlag(quiet, "steady");
    for (let index = 0; index < flagCount; index += 1) await createFlag(quiet, `changing-${index}`);
    await register(quiet, receiver.url);
    const order = { url: server.url, key: keys.quiet, flag: "steady", every: 5 };
    probe = start("probe.ts", JSON.stringify(order));
    await until("it evaluates", async () => (await told("look")).answered > 50);
  });
  after(async () => {
    probe.disconnect();
    server.kill("SIGKILL");
    await server.ended;
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  interface Round {
    readonly evaluation: number;
    readonly delivery: number;
    readonly refused: number;
  }

  /** Tries again when it is refused; how often it was tried. */
  const patchUntilDone = async (flag: string, patch: object): Promise<number> => {
    for (let tries = 1; ; tries += 1) {
      const { status, text } = await quiet("PATCH", `/flags/${flag}`, patch);
      if (status === 200) return tries;
      assert.equal(status, 503, text);
      await pause(20);
    }
  };

  /** The quiet environment at a steady pace: the slowest but one in a hundred of its evaluations and deliveries. */
  const runRound = async (): Promise<Round> => {
    await told("report");
    const begin = receiver.received.length;
    const began = performance.now();
    const answered: Promise<number>[] = [];
    for (let change = 0; change < changes; change += 1) {
      await pause(Math.max(0, began + change * pace - performance.now()));
      const flag = `changing-${change % flagCount}`;
      answered.push(patchUntilDone(flag, { description: `${began} ${change}` }));
    }
    const tries = await Promise.all(answered);
    await until("its deliveries", () => receiver.received.length >= begin + changes);
    const delays = receiver.received
      .slice(begin)
      .map(({ at, body }) => {
        const { createdAt } = JSON.parse(body.toString()) as { createdAt: string };
        return performance.timeOrigin + at - Date.parse(createdAt);
      })
      .sort((a, b) => a - b);
    const { p99, refused } = await told("report");
    return {
      evaluation: p99,
      delivery: delays[Math.floor(delays.length * 0.99)] ?? 0,
      refused: refused + tries.reduce((sum, count) => sum + count - 1, 0),
    };
  };

  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const medians = (of: readonly Round[]): Round => ({
    evaluation: median(of.map(({ evaluation }) => evaluation)),
    delivery: median(of.map(({ delivery }) => delivery)),
    refused: of.reduce((sum, { refused }) => sum + refused, 0),
  });
  const shown = ({ evaluation, delivery, refused }: Round): string =>
    `evaluation p99 ${evaluation.toFixed(1)} ms, delivery p99 ${delivery.toFixed(0)} ms, ${refused} requests refused`;

  /** Alone, and while `disturb` goes on. In turn, so that what else the machine does concerns both. */
  const compare = async (
    t: TestContext,
    hooks: readonly string[],
    disturb: () => Promise<void>,
  ): Promise<void> => {
    const turn = (active: boolean) =>
      Promise.all(hooks.map((id) => busy("PATCH", `/webhooks/${id}`, { active })));
    t.after(() => Promise.all(hooks.map((id) => busy("DELETE", `/webhooks/${id}`))));
    await runRound();
    await disturb();
    const [alone, beside]: [Round[], Round[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      await turn(false);
      alone.push(await runRound());
      await turn(true);
      beside.push(await runRound());
    }
    const [a, b] = [medians(alone), medians(beside)];
    t.diagnostic(`alone: ${shown(a)}`);
    t.diagnostic(`beside it: ${shown(b)}`);
    if (!hasLimits) return;
    assert.ok(b.refused <= a.refused + 5, `${b.refused} requests were refused`);
    for (const what of ["evaluation", "delivery"] as const) {
      // What takes a few milliseconds alone is not told from the noise of the machine by its double.
      const allowed = 2 * Math.max(a[what], 10);
      assert.ok(b[what] <= allowed, `${what} took ${b[what]} ms, alone ${a[what]} ms`);
    }
  };

  test("many long replays of another environment", async (t) => {
    const patient = await startPatient(1);
    t.after(() => patient.close());
    const flags = await Promise.all(Array.from({ length: 20 }, () => createFlag(busy)));
    for (let change = flags.length; change < replayed; change += flags.length) {
      await Promise.all(flags.map((flag) => patchFlag(busy, flag, { description: `${change}` })));
    }
    const hooks: string[] = [];
    for (let index = 0; index < replays; index += 1) {
      hooks.push((await register(busy, patient.url)).id);
    }
    await compare(t, hooks, async () => {
      const asked = hooks.map((id) => busy("POST", `/webhooks/${id}/replay`, { afterSequence: 0 }));
      for (const { status, text } of await Promise.all(asked)) assert.equal(status, 202, text);
    });
  });

  test("receivers of another environment that answer after 14 seconds", async (t) => {
    const patient = await startPatient(14_000);
    t.after(() => patient.close());
    const hooks: string[] = [];
    for (let index = 0; index < slowReceivers; index += 1) {
      hooks.push((await register(busy, patient.url)).id);
    }
    await compare(t, hooks, async () => {
      // Enough to go on for longer than the rounds.
      for (let index = 0; index < busyFlags; index += 1) await createFlag(busy);
    });
  });
};
