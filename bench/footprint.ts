// How soon is it ready on a store that exists, how much memory does it take at rest, and how large is it: from the package that
// `npm run pack` makes, and from the repository.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureFootprints, untilReady } from "./support/footprint.ts";
import { openLoad } from "./support/load.ts";
import {
  benchKey as key,
  type Started,
  startHalyard,
  startInstalled,
  startServer,
  stopAll,
} from "./support/processes.ts";
import { machine, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
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

/** Megabytes on the disk. */
const sizeOf = (path: string): string => {
  const kibibytes = execFileSync("du", ["-sk", path], { encoding: "utf8" });
  const size = (Number.parseInt(kibibytes, 10) * 1_024) / 1e6;
  return `${size.toFixed(size < 10 ? 1 : 0)} MB`;
};

const startBare = () => startServer("support/idle-server.mjs", []);
const whenReady = (start: () => Promise<Started>) => async (): Promise<Started> => {
  const halyard = await start();
  await untilReady(`${halyard.url}/readyz`);
  return halyard;
};

try {
  install();
  say(`${machine}, ${rounds} starts of each, in turns; medians (least to most)`);
  say(
    `The installed package is ${sizeOf(join(installation, "node_modules"))}; the \`node_modules\` of the repository, with all development tools, are ${sizeOf(join(root, "node_modules"))}.`,
  );
  const row = table("on an existing store", "start to ready", "memory at rest");
  for (const flags of [10, 1_000, 10_000]) {
    const settings = { HALYARD_DATA: join(folder, String(flags)) };
    // However slow the machine is, nothing that fills the store is refused.
    const first = await startHalyard({ ...settings, HALYARD_MAX_LAG: "0" });
    const load = await openLoad(first.url, 16);
    await load.run(flags, (index) => ({
      method: "POST",
      path: "/api/v1/flags",
      key,
      body: { key: `flag-${index}`, type: "rollout" },
    }));
    load.close();
    await first.stop();
    const what = `${flags.toLocaleString("en")} flags`;
    await measureFootprints(
      rounds,
      {
        ...(flags === 10 && { "bare `node:http` server, no store": startBare }),
        [`${what}, package`]: whenReady(() => startInstalled(installation, settings)),
        [`${what}, repository`]: whenReady(() => startHalyard(settings)),
      },
      row,
    );
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
