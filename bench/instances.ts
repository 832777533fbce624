// What several instances bring and cost: workers beside one process, writes beside bare commits, and how soon the others know.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startPostgresServer } from "../packages/server/test/support/postgres-server.ts";
import { bareCommits } from "./support/bare-commits.ts";
import { startDeafProxy } from "./support/deaf-proxy.ts";
import { pairs } from "./support/in-turns.ts";
import { openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, startServer, stopAll } from "./support/processes.ts";
import { startReceivers } from "./support/receivers.ts";
import { figure, machine, milliseconds, nth, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const count = Number(process.env.BENCH_COUNT ?? 4_000);
const samples = Number(process.env.BENCH_SAMPLES ?? 200);
const commits = Math.ceil(count / 4);
const flags = 100;
const webhooks = 10;
const HALYARD_SECRET_KEY = createHash("sha256").update("bench").digest("base64");

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const nameOf = (index: number) => `flag-${String(index % flags).padStart(5, "0")}`;
const managed = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/api/v1${path}`,
  key,
  body,
});

const fill = async (url: string): Promise<void> => {
  const load = await openLoad(url, 4);
  await load.run(flags, (index) =>
    managed("POST", "/flags", { key: nameOf(index), type: "rollout", percentage: 50 }),
  );
  await load.run(flags, (index) => managed("PATCH", `/flags/${nameOf(index)}`, { enabled: true }));
  load.close();
};

const compareWorkers = async (): Promise<void> => {
  const connections = 32;
  const loads = [];
  for (const workers of ["2", "1"]) {
    const settings = { HALYARD_DATA: join(folder, `workers-${workers}`) };
    const { url } = await startHalyard(settings, "--workers", workers);
    await fill(url);
    loads.push(await openLoad(url, connections));
  }
  const [two, one] = loads;
  if (!two || !one) return;
  const evaluation = (index: number): Request => ({
    method: "POST",
    path: `/ofrep/v1/evaluate/flags/${nameOf(index * 7_919)}`,
    key,
    body: { context: { targetingKey: `user-${index}` } },
  });
  const read = (index: number) => managed("GET", `/flags/${nameOf(index * 7_919)}`);
  const compare = pairs(rounds, "2 workers", "1 worker");
  await compare(
    "OFREP evaluation of one flag",
    "2 workers beside 1, evaluation",
    () => two.run(count, evaluation),
    () => one.run(count, evaluation),
  );
  await compare(
    "GET one flag",
    "2 workers beside 1, reads",
    () => two.run(count, read),
    () => one.run(count, read),
  );
  for (const load of loads) load.close();
  await stopAll();
};

let changes = 0;
const patch = (): Request => {
  changes += 1;
  return managed("PATCH", `/flags/${nameOf(changes * 7_919)}`, {
    description: `changed ${changes}`,
  });
};

/** Changes before the first round: so many it takes until the engine has compiled all that a change runs. */
const changesBefore = 6_000;

/** Halyard on one store, and the plain driver on another that a Halyard has made before. */
const compareWrites = async (
  compare: ReturnType<typeof pairs>,
  store: string,
  settings: Readonly<Record<string, string>>,
  twin: Readonly<Record<string, string>>,
): Promise<void> => {
  const twinStore = twin.DATABASE_URL ?? twin.HALYARD_DATA ?? "";
  const bare = (connections: number) => bareCommits(twinStore, flags, connections);
  const made = await startHalyard(twin);
  await fill(made.url);
  await made.stop();
  const { url } = await startHalyard(settings);
  await fill(url);
  const before = await openLoad(url, 16);
  await before.run(changesBefore, patch);
  before.close();
  for (const connections of [1, 16]) {
    const load = await openLoad(url, connections);
    const ceiling = await bare(connections);
    const what = `${store}, ${connections === 1 ? "1 connection" : `${connections} connections`}`;
    await compare(
      what,
      `PATCH beside bare commits, ${what}`,
      () => load.run(commits, patch),
      () => ceiling.run(commits),
    );
    await ceiling.close();
    const script = "support/bare-committer.ts";
    const server = await startServer(script, [twinStore, String(flags), String(connections)]);
    const bareLoad = await openLoad(server.url, connections);
    await compare(
      "- beside node:http that commits them",
      `PATCH beside node:http that commits, ${what}`,
      () => load.run(commits, patch),
      () => bareLoad.run(commits, patch),
    );
    for (const each of [load, bareLoad]) each.close();
    await server.stop();
  }
  const receivers = await startReceivers(webhooks);
  const load = await openLoad(url, 16);
  await load.run(webhooks, (index) =>
    managed("POST", "/webhooks", { url: receivers.urls[index], events: ["*"] }),
  );
  const ceiling = await bare(16);
  let sent = 0;
  await compare(
    `${store}, 16 connections, ${webhooks} webhooks`,
    `PATCH beside bare commits, ${store}, ${webhooks} webhooks`,
    async () => {
      const rate = await load.run(commits, patch);
      sent += commits * webhooks;
      await receivers.until(sent);
      return rate;
    },
    () => ceiling.run(commits),
  );
  load.close();
  await ceiling.close();
  await stopAll();
};

/** From the answer to a PATCH on the one until the other evaluates so, in milliseconds. */
const measureSpread = async (
  row: (...cells: string[]) => void,
  what: string,
  ...both: [Readonly<Record<string, string>>, Readonly<Record<string, string>>]
): Promise<void> => {
  const one = await startHalyard(both[0]);
  const two = await startHalyard(both[1]);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const ask = async (method: string, path: string, body: object) => {
    const answer = await fetch(path, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as { value?: boolean };
  };
  const flag = `${one.url}/api/v1/flags`;
  await ask("POST", flag, { key: "seen", type: "boolean" });
  const times: number[] = [];
  for (let sample = -5; sample < samples; sample += 1) {
    await pause(30 + Math.random() * 60);
    const enabled = sample % 2 === 0;
    await ask("PATCH", `${flag}/seen`, { enabled });
    const answered = performance.now();
    for (;;) {
      const path = `${two.url}/ofrep/v1/evaluate/flags/seen`;
      if ((await ask("POST", path, { context: {} })).value === enabled) break;
    }
    if (sample >= 0) times.push(performance.now() - answered);
  }
  figure(`change seen elsewhere, p99 in ms: ${what}`, nth(times, 0.99));
  row(what, ...[0.5, 0.99, 1].map((share) => milliseconds(nth(times, share))));
  await stopAll();
};

const postgres = await startPostgresServer({ fsync: "on" });
try {
  say(`${machine}, ${rounds} rounds of ${count} requests or ${commits} commits`);
  await compareWorkers();

  const onPostgres = async (name: string) => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return { DATABASE_URL: url.href, HALYARD_SECRET_KEY };
  };
  const writes = pairs(rounds, "PATCH of one flag", "bare commits of the same rows");
  await compareWrites(
    writes,
    "SQLite",
    { HALYARD_DATA: join(folder, "writes") },
    { HALYARD_DATA: join(folder, "twin") },
  );
  await compareWrites(writes, "PostgreSQL", await onPostgres("halyard"), await onPostgres("twin"));

  const row = table(
    "from an answered PATCH to evaluation on another instance",
    "median",
    "p99",
    "longest",
  );
  const shared = { HALYARD_DATA: join(folder, "spread") };
  await measureSpread(row, "two processes on SQLite", shared, shared);
  const spread = await onPostgres("spread");
  await measureSpread(row, "two instances on PostgreSQL", spread, spread);
  const deaf = await onPostgres("deaf");
  const proxy = await startDeafProxy(deaf.DATABASE_URL);
  const behind = { ...deaf, DATABASE_URL: proxy.url };
  await measureSpread(row, "the same without notifications: polling alone", deaf, behind);
  proxy.close();
} finally {
  await stopAll();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
