// Deliveries a second next to a bare undici loop in the same run, and the time from a change to its receipt when idle.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstLine, benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { startReceivers } from "./support/receivers.ts";
import { figure, machine, median, milliseconds, nth, say, table } from "./support/report.ts";

const receivers = 16;
const perReceiver = 4;
const changes = Number(process.env.BENCH_CHANGES ?? "1250");
const rounds = Number(process.env.BENCH_ROUNDS ?? "15");
const latencySamples = 300;

/** Seconds of processor time that a process has used so far. */
const processorTime = (id: number | undefined): number => {
  const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const halyard = await startHalyard({ HALYARD_DATA: folder, HALYARD_LOG_LEVEL: "warn" });
const base = `${halyard.url}/api/v1`;
const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
};

try {
  const { urls, ports, received, until } = await startReceivers(receivers);
  const flags = Array.from({ length: 200 }, (_, index) => `flag-${index}`);
  for (const flag of flags) await call("POST", "/flags", { key: flag, type: "rollout" });
  /** Each is one event for every webhook. */
  const change = async (round: number): Promise<void> => {
    for (let begin = 0; begin < changes; begin += flags.length) {
      const description = `${round} ${begin}`;
      const some = flags.slice(0, changes - begin);
      await Promise.all(some.map((flag) => call("PATCH", `/flags/${flag}`, { description })));
    }
  };
  for (const url of urls) await call("POST", "/webhooks", { url, events: ["*"] });

  const total = changes * receivers;
  const rates: [halyard: number, bare: number][] = [];
  // The first round warms both sides up and does not count.
  for (let round = 0; round <= rounds; round++) {
    const bare = (await firstLine(
      "support/bare-sender.ts",
      JSON.stringify(ports),
      String(total),
      String(perReceiver),
    )) as number;
    const before = await received();
    const started = performance.now();
    await change(round);
    const queued = performance.now();
    const used = processorTime(halyard.pid);
    const already = (await received()) - before;
    await until(before + total);
    const seconds = (performance.now() - queued) / 1_000;
    const rate = (total - already) / seconds;
    if (round > 0) rates.push([rate, bare]);
    const each = ((processorTime(halyard.pid) - used) / (total - already)) * 1e6;
    console.log(
      `${round === 0 ? "warm-up" : `round ${round}`}: halyard ${Math.round(rate)} deliveries/s, bare undici ${Math.round(bare)}/s, ratio ${(rate / bare).toFixed(2)} (queued in ${Math.round(queued - started)} ms; ${Math.round(each)} µs of processor time each)`,
    );
  }
  const ratios = rates.map(([rate, bare]) => rate / bare);
  say(
    `${machine}, ${rounds} rounds of ${total} deliveries to ${receivers} receivers, ${receivers * perReceiver} at once`,
  );
  figure("deliveries beside a bare undici loop", median(ratios));
  table(
    "",
    "Halyard",
    "bare undici loop",
    "median of the ratios",
    "spread of the rounds",
  )(
    "deliveries a second, embedded store",
    ...[0, 1].map((side) => `${Math.round(median(rates.map((pair) => pair[side] ?? 0)))} /s`),
    median(ratios).toFixed(2),
    `${nth(ratios, 0).toFixed(2)} to ${nth(ratios, 1).toFixed(2)}`,
  );

  for (const { id } of (await call("GET", "/webhooks")) as { id: string }[]) {
    await call("DELETE", `/webhooks/${id}`);
  }
  let arrived: (at: number) => void = () => undefined;
  const local = createServer((request, response) => {
    arrived(performance.now());
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => local.listen(0, "127.0.0.1", resolve));
  const address = local.address();
  const localPort = typeof address === "object" && address ? address.port : 0;
  await call("POST", "/webhooks", { url: `http://127.0.0.1:${localPort}/hook`, events: ["*"] });
  const times: number[] = [];
  for (let index = 0; index < latencySamples; index++) {
    const receipt = new Promise<number>((resolve) => {
      arrived = resolve;
    });
    const started = performance.now();
    await call("PATCH", "/flags/flag-0", { enabled: index % 2 === 0 });
    times.push((await receipt) - started);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  figure("PATCH to receipt when idle, p99 in ms", nth(times, 0.99));
  const [half, most] = [0.5, 0.99].map((share) => milliseconds(nth(times, share)));
  say(`From the beginning of the PATCH to the receipt, idle: p50 ${half}, p99 ${most}.`);
  local.close();
  local.closeAllConnections();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
