// How fast changes are made on both stores, how soon another instance evaluates them, and what a second worker brings.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startPostgresServer } from "../packages/server/test/support/postgres-server.ts";
import { comparison } from "./support/compare.ts";
import { openLoad, type Request } from "./support/load.ts";
import { authorization, startHalyard, stopAll } from "./support/processes.ts";
import { machine, median, milliseconds, nth, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const count = Number(process.env.BENCH_COUNT ?? 4_000);
const samples = Number(process.env.BENCH_SAMPLES ?? 200);
const flags = 100;
/** So many changes it takes until the engine has compiled all that a change runs. */
const changesBefore = 6_000;

type Settings = Readonly<Record<string, string>>;
type Row = (...cells: string[]) => void;

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const nameOf = (index: number) => `flag-${String((index * 7_919) % flags).padStart(5, "0")}`;
const managed = (method: string, path: string, body: unknown): Request => ({
  method,
  path: `/api/v1/flags${path}`,
  authorization,
  body,
});
const evaluation = (index: number): Request => ({
  method: "POST",
  path: `/ofrep/v1/evaluate/flags/${nameOf(index)}`,
  authorization,
  body: { context: { targetingKey: `user-${index}` } },
});

const fill = async (url: string): Promise<void> => {
  const load = await openLoad(url, 4);
  await load.run(flags, (index) =>
    managed("POST", "", { key: nameOf(index), type: "rollout", percentage: 50 }),
  );
  await load.run(flags, (index) => managed("PATCH", `/${nameOf(index)}`, { enabled: true }));
  load.close();
};

const compareWorkers = async (): Promise<void> => {
  const loads = [];
  for (const workers of ["2", "1"]) {
    const settings = { HALYARD_DATA: join(folder, `workers-${workers}`) };
    const { url } = await startHalyard(settings, "--workers", workers);
    await fill(url);
    loads.push(await openLoad(url, 32));
  }
  const [two, one] = loads;
  if (!two || !one) return;
  await comparison(rounds, "2 workers", "1 worker")(
    "evaluation of one flag",
    () => two.run(count, evaluation),
    () => one.run(count, evaluation),
  );
  for (const load of loads) load.close();
  await stopAll();
};

let changes = 0;
const patch = (): Request => {
  changes += 1;
  return managed("PATCH", `/${nameOf(changes)}`, { description: `changed ${changes}` });
};

const measureChanges = async (row: Row, store: string, settings: Settings): Promise<void> => {
  const { url } = await startHalyard(settings);
  await fill(url);
  const before = await openLoad(url, 16);
  await before.run(changesBefore, patch);
  before.close();
  for (const connections of [1, 16]) {
    const load = await openLoad(url, connections);
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) rates.push(await load.run(count / 4, patch));
    load.close();
    const rate = median(rates);
    row(
      `${store}, ${connections} connection${connections === 1 ? "" : "s"}`,
      `${Math.round(rate)} /s (${Math.round(nth(rates, 0))} to ${Math.round(nth(rates, 1))})`,
      milliseconds((connections * 1_000) / rate),
    );
  }
  await stopAll();
};

/** From the response to a PATCH on one instance until the other evaluates the new value. */
const measureSpread = async (row: Row, what: string, settings: Settings): Promise<void> => {
  const one = await startHalyard(settings);
  const two = await startHalyard(settings);
  const ask = async (url: string, { method, path, body }: Request) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok && response.status !== 404) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text) as { value?: boolean };
  };
  await ask(one.url, managed("POST", "", { key: nameOf(0), type: "boolean" }));
  const times: number[] = [];
  for (let sample = -5; sample < samples; sample += 1) {
    await pause(30 + Math.random() * 60);
    const enabled = sample % 2 === 0;
    await ask(one.url, managed("PATCH", `/${nameOf(0)}`, { enabled }));
    const answered = performance.now();
    while ((await ask(two.url, evaluation(0))).value !== enabled);
    if (sample >= 0) times.push(performance.now() - answered);
  }
  row(what, ...[0.5, 0.99, 1].map((share) => milliseconds(nth(times, share))));
  await stopAll();
};

const postgres = await startPostgresServer({ fsync: "on" });
const onPostgres = async (name: string): Promise<Settings> => {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  const HALYARD_SECRET_KEY = createHash("sha256").update("bench").digest("base64");
  return { DATABASE_URL: url.href, HALYARD_SECRET_KEY };
};
try {
  say(`${machine}, ${rounds} rounds of ${count / 4} changes or ${count} evaluations`);
  const row = table("PATCH of one flag", "changes (least to most)", "each");
  await measureChanges(row, "SQLite", { HALYARD_DATA: join(folder, "changes") });
  await measureChanges(row, "PostgreSQL", await onPostgres("changes"));

  const spread = table(
    "from the response to a PATCH to evaluation on another instance",
    "median",
    "p99",
    "longest",
  );
  await measureSpread(spread, "SQLite", { HALYARD_DATA: join(folder, "spread") });
  await measureSpread(spread, "PostgreSQL", await onPostgres("spread"));

  await compareWorkers();
} finally {
  await stopAll();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
