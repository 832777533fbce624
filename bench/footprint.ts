// How soon a server is ready on a store that exists, how much memory it takes at rest, and how large it is: from the package that
// `npm run pack` makes, and from the repository.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openLoad } from "./support/load.ts";
import {
  authorization,
  type Started,
  startHalyard,
  startInstalled,
  stopAll,
  untilReady,
} from "./support/processes.ts";
import { machine, median, nth, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
/** Milliseconds, long enough for what a start leaves to be cleared away. */
const rest = 5_000;
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const root = join(import.meta.dirname, "..");
const installation = join(folder, "installation");

const install = (): void => {
  mkdirSync(installation);
  writeFileSync(join(installation, "package.json"), '{"private":true}');
  const quietly = { cwd: installation, stdio: "ignore" } as const;
  execFileSync(process.execPath, [join(root, "scripts/pack.ts"), folder], quietly);
  const [tarball = ""] = globSync(join(folder, "halyard-server-*.tgz"));
  execFileSync("npm", ["install", "--offline", "--no-audit", tarball], quietly);
};

const megabytes = (kibibytes: string): number => (Number.parseInt(kibibytes, 10) * 1_024) / 1e6;
const output = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: "utf8" });

/** The sides take turns. The first round does not count: it fills the caches of the machine. */
const measure = async (
  starts: Readonly<Record<string, () => Promise<Started>>>,
  row: (...cells: string[]) => void,
): Promise<void> => {
  const found = Object.entries(starts).map(([what, start]) => ({
    ...{ what, start },
    ready: [] as number[],
    memory: [] as number[],
  }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { start, ready, memory } of found) {
      const began = performance.now();
      const server = await start();
      await untilReady(`${server.url}/readyz`);
      const took = performance.now() - began;
      await pause(rest);
      if (round > 0) {
        ready.push(took);
        memory.push(megabytes(output("ps", "-o", "rss=", "-p", String(server.pid))));
      }
      await server.stop();
    }
  }
  for (const { what, ready, memory } of found) {
    const [least, middle, most] = [0, 0.5, 1].map((share) => Math.round(nth(ready, share)));
    row(what, `${middle} ms (${least} to ${most})`, `${Math.round(median(memory))} MB`);
  }
};

try {
  install();
  say(`${machine}, ${rounds} starts of each, in turns; medians (least to most)`);
  const size = megabytes(output("du", "-sk", join(installation, "node_modules")));
  say(`The installed package is ${Math.round(size)} MB.`);
  const row = table("on an existing store", "start to ready", "memory at rest");
  for (const flags of [10, 1_000, 10_000]) {
    const settings = { HALYARD_DATA: join(folder, String(flags)) };
    // However slow the machine is, nothing that fills the store is refused.
    const first = await startHalyard({ ...settings, HALYARD_MAX_LAG: "0" });
    const load = await openLoad(first.url, 16);
    await load.run(flags, (index) => ({
      method: "POST",
      path: "/api/v1/flags",
      authorization,
      body: { key: `flag-${index}`, type: "rollout" },
    }));
    load.close();
    await first.stop();
    const what = `${flags.toLocaleString("en")} flags`;
    await measure(
      {
        [`${what}, package`]: () => startInstalled(installation, settings),
        [`${what}, repository`]: () => startHalyard(settings),
      },
      row,
    );
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
