// How soon many clients have a change, what an idle stream costs, and whether others notice when thousands are written to.
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openLoad } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { figure, machine, milliseconds, nth, say, table } from "./support/report.ts";
import type { ClientOrder, ClientReport, Expectation } from "./support/stream-clients.ts";
import { sharedNow } from "./support/stream-clients.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 100);
const flag = "bench-flag";
const followers = 1_000;
const crowd = 10_000;

/** Files that one process may have open, sockets included. */
const openFiles =
  Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })) || Number.POSITIVE_INFINITY;
const idle = Math.min(crowd, openFiles - 500);

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const children: ChildProcess[] = [];
const local = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const server = await startHalyard({ HALYARD_DATA: folder });

/** Mebibytes that the server has in memory. */
const memory = (): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(server.pid)], { encoding: "utf8" })) /
  1_024;

try {
  const { url } = server;
  const writer = await openLoad(url, 1);
  const api = (method: string, path: string, body: unknown) =>
    writer.one({ method, path: `/api/v1${path}`, key, body });
  await api("POST", "/flags", { key: flag, type: "boolean" });
  let revision = 1;

  const next = async (child: ChildProcess): Promise<ClientReport> =>
    ((await once(child, "message")) as [ClientReport])[0];

  const startClients = async (count: number, kind: ClientOrder["kind"]): Promise<ChildProcess> => {
    const order: ClientOrder = { url, key, count, kind, flag };
    const child = fork(local("./support/stream-clients.ts"), [JSON.stringify(order)]);
    children.push(child);
    await next(child);
    return child;
  };
  const stop = async (child: ChildProcess): Promise<void> => {
    child.kill();
    await once(child, "exit");
  };

  /** Changes the flag; gives how long after the answer each client had it. */
  const change = async (clients: ChildProcess): Promise<number[]> => {
    revision += 1;
    const enabled = revision % 2 === 0;
    clients.send({ revision, enabled } satisfies Expectation);
    await next(clients);
    const told = next(clients);
    await api("PATCH", `/flags/${flag}`, { enabled });
    const answered = sharedNow();
    const report = await told;
    return report.kind === "times" ? report.times.map((time) => Math.max(0, time - answered)) : [];
  };

  /** Some of the clients are measured, the others only listen. */
  const measureSpread = async (
    kind: ClientOrder["kind"],
    measured: number,
    name: string,
    row: (...cells: string[]) => void,
  ): Promise<void> => {
    const others = measured < followers ? [await startClients(followers - measured, "socket")] : [];
    const clients = await startClients(measured, kind);
    const all: number[] = [];
    const lasts: number[] = [];
    for (let round = -3; round < rounds; round += 1) {
      const times = await change(clients);
      await pause(20);
      if (round < 0) continue;
      all.push(...times);
      lasts.push(Math.max(...times));
    }
    const figures = [nth(all, 0.5), nth(all, 0.99), nth(lasts, 0.5), nth(lasts, 0.99)];
    figure(`change seen, p99 in ms: ${name}`, nth(all, 0.99));
    row(name, ...figures.map(milliseconds));
    for (const child of [...others, clients]) await stop(child);
  };

  say(`${machine}, ${openFiles} open files a process, ${rounds} rounds`);
  const row = table(
    "from an answered PATCH",
    "median",
    "p99",
    "last client, median",
    "last client, p99",
  );
  const connected = followers.toLocaleString("en");
  await measureSpread("socket", followers, `${connected} bare sockets in one process`, row);
  const some = `the new value in 50 SDK clients, of ${connected} connected`;
  await measureSpread("sdk", 50, some, row);
  const all = `the new value in ${connected} SDK clients in one process`;
  await measureSpread("sdk", followers, all, row);

  await pause(3_000);
  const before = memory();
  const crowdOf = await startClients(idle, "socket");
  await pause(5_000);
  const after = memory();
  figure("KiB an idle stream", ((after - before) * 1_024) / idle);
  say(
    `${idle.toLocaleString("en")} idle streams: ${before.toFixed(0)} MiB before, ${after.toFixed(0)} MiB with them, ${(((after - before) * 1_024) / idle).toFixed(1)} KiB a stream`,
  );

  const reader = await openLoad(url, 1);
  const evaluate = () =>
    reader.one({
      method: "POST",
      path: `/ofrep/v1/evaluate/flags/${flag}`,
      key,
      body: { context: { targetingKey: "user-1" } },
    });
  /** Evaluates one at a time until told to stop. */
  const evaluating = async (until: Promise<unknown>): Promise<number[]> => {
    let done = false;
    const times: number[] = [];
    const evaluateOn = async () => {
      while (!done) times.push(await evaluate());
    };
    const running = evaluateOn();
    await until;
    done = true;
    await running;
    return times;
  };
  await evaluating(pause(1_000));
  const quiet = await evaluating(pause(3_000));
  const spreads: number[] = [];
  const busy = await evaluating(
    (async () => {
      for (let round = 0; round < 10; round += 1)
        spreads.push(Math.max(...(await change(crowdOf))));
    })(),
  );
  const evaluations = table("one evaluation at a time", "median", "p99", "longest");
  for (const [name, times] of [
    [`beside ${idle.toLocaleString("en")} idle streams`, quiet],
    ["while changes go out to all of them", busy],
  ] as const) {
    evaluations(name, ...[nth(times, 0.5), nth(times, 0.99), Math.max(...times)].map(milliseconds));
  }
  say(`The last of them had a change after ${milliseconds(nth(spreads, 0.5))} (median).`);
} finally {
  for (const child of children) child.kill();
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
