// A segment of 100,000 members: loaded in parts over the API, evaluated, sent as a snapshot, and read when the server starts.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgresServer } from "../../packages/server/test/support/postgres-server.ts";
import { pairs } from "../support/in-turns.ts";
import { openLoad } from "../support/load.ts";
import { benchKey as key, startHalyard } from "../support/processes.ts";
import { figure, median, milliseconds, nth, say, table } from "../support/report.ts";
import { Child } from "./child.ts";
import { segmentFlag } from "./flags.ts";
import type { SegmentAsk } from "./segment-engine.ts";

const members = 100_000;
/** Of about 16 bytes each, so that a part fits into the largest body. */
const partSize = 10_000;
const memberOf = (index: number): string => `user-${String(index * 7_919).padStart(9, "0")}`;

export const compareSegmentSizes = async (rounds: number, duration: number): Promise<void> => {
  const child = new Child<SegmentAsk>("segments", "segment-engine.ts", []);
  try {
    await child.reply();
    const ask = async (wanted: SegmentAsk["wanted"], people: number) =>
      (await child.ask({ wanted, people, milliseconds: duration })) as number;
    const compare = pairs(rounds, "100,000 members", "10 members");
    for (const [people, what] of [
      [20, "the same 20 people"],
      [2_000, "2,000 people"],
    ] as const) {
      await compare(
        `\`evaluate\` of a flag with a segment, ${what}`,
        `segment of 100,000 beside 10, ${people} people`,
        () => ask("large", people),
        () => ask("small", people),
      );
    }
    const bytes = await ask("more flags", 0);
    figure("99 more flags with the segment, kB", bytes / 1_000);
    say(
      `99 more flags with the segment of 100,000 take ${Math.round(bytes / 1_000)} kB of memory: its members are held once.`,
    );
  } finally {
    child.close();
  }
};

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;

type Settings = Readonly<Record<string, string>>;

const startTime = async (settings: Settings): Promise<number> => {
  const started = performance.now();
  const halyard = await startHalyard(settings);
  const time = performance.now() - started;
  await halyard.stop();
  return time;
};

const measureOn = async (store: string, settings: Settings, starts: number) => {
  const halyard = await startHalyard(settings);
  const empty = await halyard.stop().then(() => startTime(settings));
  const server = await startHalyard(settings);
  const load = await openLoad(server.url, 1);
  /** A busy machine makes the server refuse some: those are sent again, as clients do. */
  const send = async (method: string, path: string, body?: unknown): Promise<number> => {
    for (;;) {
      try {
        return await load.one({ method, path: `/api/v1${path}`, key, body });
      } catch (error) {
        if (!String(error).includes("503 Service Unavailable")) throw error;
        await pause(250);
      }
    }
  };
  await send("POST", "/segments", { key: "large" });
  const parts: number[] = [];
  for (let from = 0; from < members; from += partSize) {
    const add = Array.from({ length: partSize }, (_, index) => memberOf(from + index));
    parts.push(await send("POST", "/segments/large/members", { include: { add } }));
  }
  const addFlag = async (index: number): Promise<void> => {
    const { enabled, ...flag } = segmentFlag(index, "large");
    await send("POST", "/flags", flag);
    await send("PATCH", `/flags/${flag.key}`, { enabled });
  };
  await addFlag(0);
  const before = residentMegabytes(server.pid);
  for (let index = 1; index < 100; index += 1) await addFlag(index);
  const after = residentMegabytes(server.pid);
  const one = { include: { add: ["one-more"] } };
  await send("POST", "/segments/large/members", { include: { remove: [memberOf(0)] } });
  const change = await send("POST", "/segments/large/members", one);
  const first = await send("GET", "/snapshot");
  const kept = await send("GET", "/snapshot");
  const size = (
    await (
      await fetch(`${server.url}/api/v1/snapshot`, { headers: { authorization: `Bearer ${key}` } })
    ).arrayBuffer()
  ).byteLength;
  load.close();
  await server.stop();
  const times: number[] = [];
  for (let nr = 0; nr < starts; nr += 1) times.push(await startTime(settings));
  return { store, parts, before, after, change, first, kept, size, empty, times };
};

export const measureSegments = async (starts: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const postgres = await startPostgresServer();
  try {
    const HALYARD_SECRET_KEY = createHash("sha256").update("bench").digest("base64");
    const found = [
      await measureOn("embedded", { HALYARD_DATA: join(folder, "data") }, starts),
      await measureOn("PostgreSQL", { DATABASE_URL: postgres.url, HALYARD_SECRET_KEY }, starts),
    ];
    const row = table("a segment of 100,000 members", ...found.map(({ store }) => store));
    const line = (what: string, show: (each: (typeof found)[number]) => string) =>
      row(what, ...found.map(show));
    const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
    line("loaded in 10 parts of 10,000", ({ parts }) => milliseconds(sum(parts)));
    line("- the longest part", ({ parts }) => milliseconds(nth(parts, 1)));
    line("one more member", ({ change }) => milliseconds(change));
    line("GET /snapshot, first after a change", ({ first }) => milliseconds(first));
    line("- the same again", ({ kept }) => milliseconds(kept));
    line("size of the snapshot", ({ size }) => `${(size / 1e6).toFixed(1)} MB`);
    line("start of the server", ({ times }) => milliseconds(median(times)));
    line("- without the segment", ({ empty }) => milliseconds(empty));
    line(
      "resident memory before and after 99 more flags",
      ({ before, after }) => `${Math.round(before)} and ${Math.round(after)} MB`,
    );
    for (const { store, parts, times, empty } of found) {
      figure(`segment of 100,000, ${store}, load ms`, sum(parts));
      figure(`segment of 100,000, ${store}, ms more at start`, median(times) - empty);
    }
  } finally {
    await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
};
