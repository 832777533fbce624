// Does it stay as fast with 10,000 flags as with 10, and how near is the list to a bare server of the same bytes?
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Load, openLoad, type Request } from "./support/load.ts";

const rounds = 9;
const connections = 16;
const reads = 3_000;
const writes = 1_000;
const lists = 2_000;
const key = "bench-key-0123456789abcdef";

const started = performance.now();
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
    const address = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(line)?.[0];
    if (address === undefined) continue;
    child.stdout.resume();
    return address;
  }
  throw new Error(`${script} ended before it was up.`);
};

const request = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/api/v1${path}`,
  key,
  body,
});
const nameOf = (index: number) => `flag-${String(index).padStart(5, "0")}`;

interface Subject {
  readonly flags: number;
  readonly url: string;
  readonly load: Load;
}

const startWith = async (flags: number): Promise<Subject> => {
  const url = await start("../packages/cli/src/main.ts", ["serve"], {
    PORT: "0",
    HALYARD_DATA: join(folder, String(flags)),
    HALYARD_LOG_LEVEL: "fatal",
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
  });
  const load = await openLoad(url, connections);
  await load.run(flags, (index) =>
    request("POST", "/flags", {
      key: nameOf(index),
      type: "rollout",
      description: `What flag ${index} is for`,
    }),
  );
  return { flags, url, load };
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Measures both in turns, the first one first in every other round, after a round that does not count. */
const compare = async (
  what: string,
  unit: string,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<void> => {
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [0, 0];
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) pair[side] = await (side === 0 ? a : b)();
    if (round === 0) continue;
    rates[0].push(pair[0] ?? 0);
    rates[1].push(pair[1] ?? 0);
  }
  const ratios = rates[0].map((rate, index) => rate / (rates[1][index] ?? 1)).sort((x, y) => x - y);
  const show = (value: number) => (value < 100 ? value.toFixed(2) : Math.round(value).toString());
  const [first, second] = rates.map(median);
  console.log(
    `| ${what} | ${show(first ?? 0)} ${unit} | ${show(second ?? 0)} ${unit} | ${((first ?? 0) / (second ?? 1)).toFixed(2)} | ${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)} |`,
  );
};

let changes = 0;
/** A change of another flag each time, and never one that changes nothing. */
const patch = (flags: number) => (): Request => {
  changes += 1;
  const flag = nameOf((changes * 7_919) % flags);
  return request("PATCH", `/flags/${flag}`, { description: `changed ${changes}` });
};
const read = (flags: number) => (index: number) =>
  request("GET", `/flags/${nameOf((index * 7_919) % flags)}`);

try {
  const small = await startWith(10);
  const middle = await startWith(1_000);
  const large = await startWith(10_000);
  console.log(
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}, ${connections} connections, ${rounds} rounds\n`,
  );
  console.log("| | first | second | ratio of medians | spread of the rounds |");
  console.log("|---|---|---|---|---|");
  const rateOf = (subject: Subject, count: number, requestOf: (index: number) => Request) => () =>
    subject.load.run(count, requestOf);
  await compare(
    "GET one flag: 10,000 flags, 10 flags",
    "/s",
    rateOf(large, reads, read(large.flags)),
    rateOf(small, reads, read(small.flags)),
  );
  await compare(
    "PATCH one flag: 10,000 flags, 10 flags",
    "/s",
    rateOf(large, writes, patch(large.flags)),
    rateOf(small, writes, patch(small.flags)),
  );

  const list = request("GET", "/flags");
  const response = await fetch(`${middle.url.replace(/\/api.*$/, "")}/api/v1/flags`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = Buffer.from(await response.arrayBuffer());
  const file = join(folder, "list.json");
  writeFileSync(file, body);
  const bare = await openLoad(await start("support/bare-server.ts", [file]), connections);
  await compare(
    `GET /flags of 1,000 flags (${Math.round(body.length / 1_024)} KiB): Halyard, bare node:http`,
    "/s",
    rateOf(middle, lists, () => list),
    () => bare.run(lists, () => ({ method: "GET", path: "/" })),
  );
  await compare(
    "GET /flags of 1,000 flags: first after a change, kept",
    "ms",
    async () => {
      await middle.load.one(patch(middle.flags)());
      return middle.load.one(list);
    },
    () => middle.load.one(list),
  );
  for (const { load } of [small, middle, large]) load.close();
  bare.close();
  console.log(`\n${((performance.now() - started) / 1_000).toFixed(0)} s in all`);
} finally {
  for (const child of children) child.kill();
  await Promise.all(
    children
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map((child) => new Promise((resolve) => child.once("exit", resolve))),
  );
  rmSync(folder, { recursive: true, force: true });
}
