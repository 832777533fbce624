// Deliveries a second next to a bare undici loop in the same run, and the time from a change to its receipt when idle.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const receivers = 16;
const perReceiver = 4;
const changes = Number(process.env.BENCH_CHANGES ?? "1250");
const rounds = Number(process.env.BENCH_ROUNDS ?? "5");
const latencySamples = 300;
const key = "bench-key-0123456789abcdef";

const children: ChildProcess[] = [];
const run = (file: string, args: string[], settings: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...settings },
  });
  children.push(child);
  return child;
};
const firstLine = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("the process ended without a word");
};
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};
/** Seconds of processor time that a process has used so far. */
const processorTime = (id: number | undefined): number => {
  const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};
const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const port = 4_700 + Math.floor(Math.random() * 200);
const base = `http://127.0.0.1:${port}/api/v1`;
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
  const ports = JSON.parse(
    await firstLine(run("bench/support/receiver.ts", [String(receivers)])),
  ) as number[];
  const halyard = run("packages/cli/src/main.ts", ["serve"], {
    PORT: String(port),
    HALYARD_DATA: folder,
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
    HALYARD_LOG_LEVEL: "warn",
  });
  await until(() =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
  const received = async () =>
    (await (await fetch(`http://127.0.0.1:${ports[0]}`)).json()) as number;

  const flags = Array.from({ length: 200 }, (_, index) => `flag-${index}`);
  for (const flag of flags) await call("POST", "/flags", { key: flag, type: "rollout" });
  for (let index = 0; index < changes - flags.length; index++) {
    await call("PATCH", `/flags/${flags[index % flags.length]}`, { percentage: (index % 99) + 1 });
  }
  const hooks: string[] = [];
  for (const each of ports) {
    const made = (await call("POST", "/webhooks", {
      url: `http://127.0.0.1:${each}/hook`,
      events: ["*"],
    })) as { id: string };
    hooks.push(made.id);
  }

  const total = changes * receivers;
  const ratios: number[] = [];
  // The first round warms both sides up and does not count.
  for (let round = 0; round <= rounds; round++) {
    const bare = JSON.parse(
      await firstLine(
        run("bench/support/bare-sender.ts", [
          JSON.stringify(ports),
          String(total),
          String(perReceiver),
        ]),
      ),
    ) as number;
    const before = await received();
    const started = performance.now();
    await Promise.all(
      hooks.map((id) => call("POST", `/webhooks/${id}/replay`, { afterSequence: 0 })),
    );
    const queued = performance.now();
    const used = processorTime(halyard.pid);
    const already = (await received()) - before;
    await until(async () => (await received()) - before >= total);
    const seconds = (performance.now() - queued) / 1_000;
    const rate = (total - already) / seconds;
    if (round > 0) ratios.push(rate / bare);
    const each = ((processorTime(halyard.pid) - used) / (total - already)) * 1e6;
    console.log(
      `${round === 0 ? "warm-up" : `round ${round}`}: halyard ${Math.round(rate)} deliveries/s, bare undici ${Math.round(bare)}/s, ratio ${(rate / bare).toFixed(2)} (queued in ${Math.round(queued - started)} ms; ${Math.round(each)} µs of processor time each)`,
    );
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  console.log(
    `deliveries: ${median(ratios).toFixed(2)} of the bare undici loop (${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)} over ${rounds} rounds, ${total} deliveries each, ${receivers} receivers, ${receivers * perReceiver} at once)`,
  );

  for (const id of hooks) await call("DELETE", `/webhooks/${id}`);
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
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  console.log(
    `from the PATCH's start to the receipt, idle: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${at(0.9999)} ms`,
  );
  local.close();
  local.closeAllConnections();
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
