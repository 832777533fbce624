// How soon is it ready on a store that exists, and how much memory does it take at rest?
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureFootprint, untilReady } from "./support/footprint.ts";
import { openLoad } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { figure, machine, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));

try {
  say(`${machine}, median of ${rounds} starts`);
  const row = table("on an existing store", "start to ready", "memory at rest");
  for (const flags of [10, 1_000, 10_000]) {
    const settings = { HALYARD_DATA: join(folder, String(flags)) };
    const first = await startHalyard(settings);
    const load = await openLoad(first.url, 16);
    await load.run(flags, (index) => ({
      method: "POST",
      path: "/api/v1/flags",
      key,
      body: { key: `flag-${index}`, type: "rollout" },
    }));
    load.close();
    await first.stop();
    const { ready, memory } = await measureFootprint(rounds, async () => {
      const halyard = await startHalyard(settings);
      await untilReady(`${halyard.url}/readyz`);
      return halyard;
    });
    const what = `${flags.toLocaleString("en")} flags`;
    figure(`start to ready in ms, ${what}`, ready);
    figure(`memory at rest in MB, ${what}`, memory);
    row(what, `${Math.round(ready)} ms`, `${Math.round(memory)} MB`);
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
