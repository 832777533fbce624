// How soon connected SDK clients have a change.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openLoad } from "./support/load.ts";
import { authorization, startHalyard, stopAll } from "./support/processes.ts";
import { machine, milliseconds, nth, say, table } from "./support/report.ts";
import { type ClientOrder, type ClientReport, sharedNow } from "./support/stream-clients.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 100);
const flag = "bench-flag";
const connected = 1_000;
/** The others only listen: with a thousand clients in one process that process would be the slowest part. */
const measured = 50;

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const children: ChildProcess[] = [];

const next = async (child: ChildProcess): Promise<ClientReport> =>
  ((await once(child, "message")) as [ClientReport])[0];

const startClients = async (order: ClientOrder): Promise<ChildProcess> => {
  const file = join(import.meta.dirname, "support/stream-clients.ts");
  const child = fork(file, [JSON.stringify(order)]);
  children.push(child);
  await next(child);
  return child;
};

try {
  const { url } = await startHalyard({ HALYARD_DATA: folder });
  const writer = await openLoad(url, 1);
  const change = (method: string, path: string, body: unknown) =>
    writer.run(1, () => ({ method, path: `/api/v1/flags${path}`, authorization, body }));
  await change("POST", "", { key: flag, type: "boolean" });

  await startClients({ url, flag, count: connected - measured, kind: "socket" });
  const clients = await startClients({ url, flag, count: measured, kind: "sdk" });
  const all: number[] = [];
  const lasts: number[] = [];
  for (let round = -4; round < rounds; round += 1) {
    const enabled = round % 2 === 0;
    clients.send({ enabled });
    await next(clients);
    const reported = next(clients);
    await change("PATCH", `/${flag}`, { enabled });
    const answered = sharedNow();
    const times = (await reported).map((time) => Math.max(0, time - answered));
    await pause(20);
    if (round < 0) continue;
    all.push(...times);
    lasts.push(Math.max(...times));
  }
  say(`${machine}, ${connected.toLocaleString("en")} connected, ${rounds} rounds`);
  const row = table("from the response to a PATCH to `isEnabled`", "median", "p99");
  for (const [what, times] of [
    [`each of ${measured} SDK clients`, all],
    ["the last of them", lasts],
  ] as const) {
    row(what, ...[0.5, 0.99].map((share) => milliseconds(nth(times, share))));
  }
  writer.close();
} finally {
  for (const child of children) child.kill();
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
