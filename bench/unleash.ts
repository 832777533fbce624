// Halyard beside an Unleash server on the same PostgreSQL, with the same flags: reads, evaluation, toggles, start and memory.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startPostgresServer } from "../packages/server/test/support/postgres-server.ts";
import { measureFootprints, untilReady } from "./support/footprint.ts";
import { pairs } from "./support/in-turns.ts";
import { installPeers } from "./support/install-peers.ts";
import { type Load, openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { machine, say, table } from "./support/report.ts";
import { startUnleash, tokens } from "./support/unleash-server.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const starts = 3;
const connections = 16;
const flags = 100;
/** The first of them do not count: so many it takes on either side until the engine has compiled what they run. */
const reads = { first: 6_000, each: 3_000 };
const toggles = { first: 2_000, each: 400 };

const version = installPeers("peers/server")["unleash-server"];
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const nameOf = (index: number) => `flag-${String((index * 7_919) % flags).padStart(3, "0")}`;

const features = "/api/admin/projects/default/features";
const asAdmin = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: features + path,
  authorization: tokens.admin,
  ...(body !== undefined && { body }),
});
const inDevelopment = (index: number, what: string) =>
  `/${nameOf(index)}/environments/development/${what}`;
const unleash = {
  create: (index: number) => asAdmin("POST", "", { name: nameOf(index), type: "release" }),
  rollOut: (index: number) =>
    asAdmin("POST", inDevelopment(index, "strategies"), {
      name: "flexibleRollout",
      parameters: { rollout: "50", stickiness: "userId", groupId: nameOf(index) },
    }),
  toggle: (index: number, on: boolean) => asAdmin("POST", inDevelopment(index, on ? "on" : "off")),
  fetch: (): Request => ({
    method: "GET",
    path: "/api/client/features",
    authorization: tokens.client,
  }),
  evaluate: (index: number): Request => ({
    method: "GET",
    path: `/api/frontend?userId=user-${index}`,
    authorization: tokens.frontend,
  }),
};
const managed = (method: string, path: string, body?: unknown): Request => ({
  method,
  path: `/api/v1/flags${path}`,
  key,
  ...(body !== undefined && { body }),
});
const halyard = {
  create: (index: number) =>
    managed("POST", "", { key: nameOf(index), type: "rollout", percentage: 50 }),
  toggle: (index: number, on: boolean) => managed("PATCH", `/${nameOf(index)}`, { enabled: on }),
  fetch: () => managed("GET", ""),
  evaluate: (index: number): Request => ({
    method: "POST",
    path: "/ofrep/v1/evaluate/flags",
    key,
    body: { context: { targetingKey: `user-${index}` } },
  }),
};

/** Every flag on and off in turns, so that each of them is a change. */
const toggling = (load: Load, toggle: (index: number, on: boolean) => Request) => {
  let done = 0;
  return (count: number) =>
    load.run(count, () => {
      const turn = Math.floor(done / flags);
      const request = toggle(done, turn % 2 === 1);
      done += 1;
      return request;
    });
};

const postgres = await startPostgresServer({ fsync: "on" });
try {
  const databaseOf = async (name: string): Promise<string> => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  const places = { unleash: await databaseOf("unleash"), halyard: await databaseOf("halyard") };
  const onPostgres = {
    DATABASE_URL: places.halyard,
    HALYARD_SECRET_KEY: createHash("sha256").update("bench").digest("base64"),
  };
  const embedded = { HALYARD_DATA: join(folder, "data") };

  const theirs = await startUnleash(places.unleash);
  const setUp = await openLoad(theirs.url, 1);
  // One after the other: they share rows of the project.
  for (const make of [
    unleash.create,
    unleash.rollOut,
    (index: number) => unleash.toggle(index, true),
  ]) {
    for (let index = 0; index < flags; index += 1) await setUp.one(make(index));
  }
  setUp.close();
  // Its front-end answers from memory, which it renews every few seconds.
  await pause(12_000);

  say(
    `${machine}, unleash-server ${version}, ${flags} flags at 50 %, ${connections} connections, ${rounds} rounds`,
  );
  const besideUnleash = pairs(rounds, "Halyard", "Unleash server");
  type Run = (count: number) => Promise<number>;
  const compare = async (
    what: string,
    name: string,
    { first, each }: typeof reads,
    ...[ours, others]: readonly [ours: Run, others: Run]
  ): Promise<void> => {
    for (const run of [ours, others]) await run(first);
    await besideUnleash(
      what,
      name,
      () => ours(each),
      () => others(each),
    );
  };
  for (const [store, settings] of [
    ["PostgreSQL", onPostgres],
    ["embedded store", embedded],
  ] as const) {
    const ours = await startHalyard(settings);
    const load = await openLoad(ours.url, connections);
    await load.run(flags, halyard.create);
    await load.run(flags, (index) => halyard.toggle(index, true));
    // Anew each time: it does not keep idle connections for long.
    const theirLoad = await openLoad(theirs.url, connections);
    await compare(
      `fetch all flags, ${store}`,
      `fetch beside Unleash, ${store}`,
      reads,
      (count) => load.run(count, halyard.fetch),
      (count) => theirLoad.run(count, unleash.fetch),
    );
    await compare(
      `evaluate all flags for one user, ${store}`,
      `evaluation beside Unleash, ${store}`,
      reads,
      (count) => load.run(count, halyard.evaluate),
      (count) => theirLoad.run(count, unleash.evaluate),
    );
    await compare(
      `toggles, ${store}`,
      `toggles beside Unleash, ${store}`,
      toggles,
      toggling(load, halyard.toggle),
      toggling(theirLoad, unleash.toggle),
    );
    load.close();
    theirLoad.close();
    await ours.stop();
  }
  await theirs.stop();

  say(`${starts} starts of each, in turns; medians (least to most)`);
  const row = table("on an existing store", "start to ready", "memory at rest");
  const startOurs = (settings: Readonly<Record<string, string>>) => async () => {
    const started = await startHalyard(settings);
    await untilReady(`${started.url}/readyz`);
    return started;
  };
  await measureFootprints(
    starts,
    {
      "Halyard, embedded store": startOurs(embedded),
      "Halyard, PostgreSQL": startOurs(onPostgres),
      [`Unleash server ${version}, PostgreSQL`]: () => startUnleash(places.unleash),
    },
    row,
  );
} finally {
  await stopAll();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
