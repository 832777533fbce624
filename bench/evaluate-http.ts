// How near is one evaluation over HTTP to a bare server that reads, parses and answers bodies of the same size?
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openLoad, type Request } from "./support/load.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 25);
const connections = 16;
const count = Number(process.env.BENCH_COUNT ?? 2_000);
const flags = 1_000;
const key = "bench-key-0123456789abcdef";

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const children: ChildProcess[] = [];

/** Starts a script and gives the first address that it prints. */
const start = async (script: string, args: string[], settings: Record<string, string> = {}) => {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...settings },
  });
  children.push(child);
  for await (const line of createInterface(child.stdout)) {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address === undefined) continue;
    child.stdout.resume();
    return address;
  }
  throw new Error(`${script} ended before it was up.`);
};

const nameOf = (index: number) => `flag-${String(index % flags).padStart(5, "0")}`;
const contextOf = (index: number) => ({
  context: {
    targetingKey: `user-${String(index).padStart(7, "0")}`,
    email: "somebody@example.com",
    plan: "premium",
    country: "CA",
  },
});
const evaluation = (index: number): Request => ({
  method: "POST",
  path: `/ofrep/v1/evaluate/flags/${nameOf(index * 7_919)}`,
  key,
  body: contextOf(index),
});
const bulk = (index: number): Request => ({
  method: "POST",
  path: "/ofrep/v1/evaluate/flags",
  key,
  body: contextOf(index),
});

const answerTo = async (url: string, { path, body }: Request): Promise<string> => {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Halyard beside a bare server that gives an answer of the same size, in turns, after a round that does not count. */
const compare = async (
  what: string,
  url: string,
  requests: number,
  requestOf: (index: number) => Request,
): Promise<void> => {
  const answer = await answerTo(url, requestOf(0));
  const file = join(folder, "answer.json");
  writeFileSync(file, answer);
  const loads = [
    await openLoad(url, connections),
    await openLoad(await start("support/bare-evaluator.ts", [file]), connections),
  ];
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const rate = (await loads[side]?.run(requests, requestOf)) ?? 0;
      if (round > 0) rates[side]?.push(rate);
    }
  }
  for (const load of loads) load.close();
  const ratios = rates[0].map((rate, index) => rate / (rates[1][index] ?? 1)).sort((a, b) => a - b);
  const [first = 0, second = 0] = rates.map(median);
  console.log(
    `| ${what} (${answer.length} bytes) | ${Math.round(first)} /s | ${Math.round(second)} /s | ${median(ratios).toFixed(2)} | ${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} |`,
  );
};

try {
  const url = await start("../packages/cli/src/main.ts", ["serve"], {
    PORT: "0",
    HALYARD_DATA: join(folder, "data"),
    HALYARD_LOG_LEVEL: "fatal",
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
  });
  const setUp = await openLoad(url, connections);
  await setUp.run(flags, (index) => ({
    method: "POST",
    path: "/api/v1/flags",
    key,
    body: { key: nameOf(index), type: "rollout", percentage: 50 },
  }));
  await setUp.run(flags, (index) => ({
    method: "PATCH",
    path: `/api/v1/flags/${nameOf(index)}`,
    key,
    body: { enabled: true },
  }));
  setUp.close();
  console.log(
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, ${connections} connections, ${rounds} rounds of ${count}\n`,
  );
  console.log("| | Halyard | bare node:http | median of the ratios | spread of the rounds |");
  console.log("|---|---|---|---|---|");
  await compare("one of 1,000 flags", url, count, evaluation);
  await compare("the same through the framework", url, count, (index) => {
    const request = evaluation(index);
    // A parameter that means nothing is unusual enough.
    return { ...request, path: `${request.path}?x` };
  });
  await compare("all of 1,000 flags", url, Math.ceil(count / 10), bulk);
} finally {
  for (const child of children) child.kill();
  await Promise.all(
    children
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map((child) => new Promise((resolve) => child.once("exit", resolve))),
  );
  rmSync(folder, { recursive: true, force: true });
}
