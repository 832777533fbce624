// What the flagd definition of an environment costs, and how soon many followers over gRPC have a change.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { compileFlagd, type FlagdContent } from "../packages/core/src/flagd/index.ts";
import { createManagement } from "../packages/sdk/src/index.ts";
import type { FlagdOrder } from "./support/flagd-clients.ts";
import { freePort } from "./support/free-port.ts";
import { openLoad } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { figure, machine, median, milliseconds, nth, say, table } from "./support/report.ts";
import { type ClientReport, sharedNow } from "./support/stream-clients.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 20);
const followers = Number(process.env.BENCH_FOLLOWERS ?? 1_000);
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const children: ChildProcess[] = [];

const next = async (child: ChildProcess): Promise<ClientReport> =>
  ((await once(child, "message")) as [ClientReport])[0];

/** Every third is on for some by a split, every third by a rule. */
const flagOf = (index: number): object => {
  const name = `flag-${String(index).padStart(5, "0")}`;
  if (index % 3 === 0) return { key: name, type: "boolean" };
  if (index % 3 === 1) return { key: name, type: "rollout", percentage: 25 };
  const when = { attribute: "country", op: "in", values: ["CH", "DE", "AT"] };
  return { key: name, type: "boolean", otherwise: "off", rules: [{ when, serve: "on" }] };
};

const spread = table(
  "from an answered PATCH",
  "definition",
  "median",
  "last client, median",
  "last client, longest",
);
const costs: string[][] = [];
const alone: string[][] = [];

/** Milliseconds of the processor, which a busy machine does not lengthen as it does those of the clock. */
const processorTime = (work: () => unknown): number => {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
};

/** The definition alone, in this process: without HTTP and without the server's other work. */
const make = async (url: string, count: number, name: string): Promise<void> => {
  const flags = [];
  for await (const page of createManagement({ url, key }).flags.pages()) {
    if (!page.ok) throw new Error(page.error.message);
    flags.push(...page.value);
  }
  if (flags.length !== count) throw new Error(`The server lists ${flags.length} flags.`);
  const content = { flags, segments: [] } as unknown as FlagdContent;
  const [made, packed]: [number[], number[]] = [[], []];
  let bytes = Buffer.alloc(0);
  for (let round = -2; round < rounds; round += 1) {
    const making = processorTime(() => {
      bytes = Buffer.from(compileFlagd(content, "development").text);
    });
    const packing = processorTime(() => gzipSync(bytes, { level: 5 }));
    if (round < 0) continue;
    made.push(making);
    packed.push(packing);
  }
  figure(`flagd definition made, processor ms: ${name}`, median(made));
  alone.push([name, ...[median(made), nth(made, 1), median(packed)].map(milliseconds)]);
};

const measure = async (flags: number): Promise<void> => {
  const port = await freePort();
  const name = `${flags.toLocaleString("en")} flags`;
  const server = await startHalyard({
    HALYARD_DATA: join(folder, String(flags)),
    HALYARD_FLAGD_PORT: String(port),
    // Making so many flags is not what is measured.
    HALYARD_MAX_LAG: "0",
  });
  const load = await openLoad(server.url, 16);
  const post = (index: number) =>
    ({ method: "POST", path: "/api/v1/flags", key, body: flagOf(index) }) as const;
  await load.run(flags, post);
  // Off, a flag has nothing to decide.
  await load.run(flags, (index) => {
    const path = `/api/v1/flags/flag-${String(index).padStart(5, "0")}`;
    return { method: "PATCH", path, key, body: { enabled: true } };
  });

  await make(server.url, flags, name);

  let enabled = true;
  const change = async (): Promise<void> => {
    enabled = !enabled;
    await load.one({ method: "PATCH", path: "/api/v1/flags/flag-00000", key, body: { enabled } });
  };
  const definition = { method: "GET", path: "/flagd/v1/flags.json", key } as const;
  const first: number[] = [];
  const again: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    await change();
    const [made, kept] = [await load.one(definition), await load.one(definition)];
    if (round < 0) continue;
    first.push(made);
    again.push(kept);
  }
  const sizeOf = async (coding: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, "accept-encoding": coding };
    const response = await fetch(`${server.url}${definition.path}`, { headers });
    if (coding === "identity") return (await response.arrayBuffer()).byteLength;
    const length = Number(response.headers.get("content-length"));
    await response.arrayBuffer();
    return length;
  };
  const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1_000).toLocaleString("en")} kB`;
  const size = kilobytes(await sizeOf("identity"));
  figure(`flagd definition in ms: ${name}`, median(first) - median(again));
  costs.push([
    ...[name, size, kilobytes(await sizeOf("gzip"))],
    ...[first, again].map((all) => milliseconds(median(all))),
  ]);

  const script = fileURLToPath(new URL("./support/flagd-clients.ts", import.meta.url));
  const order: FlagdOrder = { port, key, count: followers };
  const clients = fork(script, { env: { ...process.env, BENCH_ORDER: JSON.stringify(order) } });
  children.push(clients);
  await next(clients);
  const all: number[] = [];
  const lasts: number[] = [];
  // Each of the large ones is some gigabytes for all of them together.
  const turns = flags > 1_000 ? Math.min(rounds, 3) : rounds;
  for (let round = -1; round < turns; round += 1) {
    clients.send("expect");
    await next(clients);
    const told = next(clients);
    await change();
    const answered = sharedNow();
    const report = await told;
    if (round < 0 || report.kind !== "times") continue;
    const times = report.times.map((time) => Math.max(0, time - answered));
    all.push(...times);
    lasts.push(Math.max(...times));
  }
  figure(`change seen by all over gRPC in ms: ${name}`, median(lasts));
  spread(name, size, ...[median(all), median(lasts), nth(lasts, 1)].map(milliseconds));
  load.close();
  clients.kill();
  await once(clients, "exit");
  await server.stop();
};

try {
  say(`${machine}, ${rounds} rounds, ${followers.toLocaleString("en")} followers`);
  for (const flags of [100, 10_000]) await measure(flags);
  const cost = table("the definition", "size", "gzip", "first request after a change", "the next");
  for (const [name = "", ...cells] of costs) cost(name, ...cells);
  const made = table("processor time", "to make it, median", "longest", "to gzip it, median");
  for (const [name = "", ...cells] of alone) made(name, ...cells);
} finally {
  for (const child of children) child.kill();
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
