// What does the sample of contexts cost an evaluation?
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startedPairs } from "./support/in-turns.ts";
import { openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

const starts = 3;
// Many short rounds: what is looked for is less than what a shared machine does to a round of seconds.
const rounds = Math.ceil(Number(process.env.BENCH_ROUNDS ?? 300) / starts) * starts;
const count = Number(process.env.BENCH_COUNT ?? 1_000);
const connections = 16;
const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));

const evaluate =
  (people: number) =>
  (index: number): Request => ({
    method: "POST",
    path: "/ofrep/v1/evaluate/flags/flag",
    key,
    body: {
      context: {
        targetingKey: `user-${String((index * 7) % people).padStart(7, "0")}`,
        email: "somebody@example.com",
        plan: "premium",
        country: "CA",
      },
    },
  });

const start = async (name: string, sampled: number, people: number) => {
  const halyard = await startHalyard({
    HALYARD_DATA: join(folder, name),
    HALYARD_CONTEXT_SAMPLE: String(sampled),
  });
  const load = await openLoad(halyard.url, connections);
  const manage = (method: string, path: string, body: object) =>
    load.run(1, () => ({ method, path: `/api/v1/flags${path}`, key, body }));
  await manage("POST", "", { key: "flag", type: "rollout", percentage: 50 });
  await manage("PATCH", "/flag", { enabled: true });
  // As after a while: who belongs into the sample is there.
  await load.run(people, (index) => evaluate(people)(index));
  return {
    measure: () => load.run(count, evaluate(people)),
    async stop() {
      load.close();
      await halyard.stop();
      rmSync(join(folder, name), { recursive: true });
    },
  };
};

const engine = async (sampled: number, people: number) => {
  const file = fileURLToPath(new URL("support/sampling-engine.ts", import.meta.url));
  const child = fork(file, [String(sampled), String(people)]);
  await once(child, "message");
  return {
    async measure() {
      child.send("round");
      const [rate] = await once(child, "message");
      return rate as number;
    },
    async stop() {
      child.disconnect();
    },
  };
};

try {
  say(`${machine}, ${connections} connections, ${rounds} rounds, ${starts} starts of each`);
  const compare = startedPairs(rounds, starts, "with a sample", "without");
  const beside = (what: string, open: (sampled: number) => ReturnType<typeof engine>) =>
    compare(what, `sampling: ${what}`, async () => {
      const [ours, theirs] = [await open(10_000), await open(0)];
      return {
        ours: () => ours.measure(),
        theirs: () => theirs.measure(),
        stop: async () => void (await Promise.all([ours.stop(), theirs.stop()])),
      };
    });
  for (const [who, people] of [
    ["5,000 people, all sampled", 5_000],
    ["100,000 people, a tenth sampled", 100_000],
  ] as const) {
    await beside(`OFREP over HTTP, ${who}`, (sampled) => start(`${sampled}`, sampled, people));
    await beside(`the answer alone, ${who}`, (sampled) => engine(sampled, people));
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
