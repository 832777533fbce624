// Flags with rules beside plain flags over HTTP, one evaluation for each request.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startedPairs } from "../support/in-turns.ts";
import { openLoad, type Request } from "../support/load.ts";
import { benchKey as key, startHalyard } from "../support/processes.ts";
import { rulesOf } from "./flags.ts";
import { type Group, people } from "./rule-set.ts";

const most = 200;
const connections = 16;
const nameOf = (kind: string, index: number) => `${kind}-${index}`;

/** Of the server alone, in hundredths: what else the machine does does not count. */
const processorSeconds = (pid: number): number => {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  return (user + system) / 100;
};

export const compareHttp = async (
  rounds: number,
  starts: number,
  requests: number,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
  const start = () => startHalyard({ HALYARD_DATA: join(folder, "data") });
  const managed = (method: string, path: string, body: unknown): Request => ({
    method,
    path: `/api/v1/flags${path}`,
    key,
    body,
  });
  const fill = async (): Promise<void> => {
    const halyard = await start();
    const load = await openLoad(halyard.url, connections);
    for (const [kind, rest] of [
      ["plain", { type: "rollout", percentage: 50 }],
      ["rules", { type: "boolean", rules: rulesOf(5), otherwise: "off" }],
    ] as const) {
      await load.run(most, (index) => managed("POST", "", { key: nameOf(kind, index), ...rest }));
      await load.run(most, (index) =>
        managed("PATCH", `/${nameOf(kind, index)}`, { enabled: true }),
      );
    }
    load.close();
    await halyard.stop();
  };
  const evaluation =
    (kind: string, flags: number, group: Group) =>
    (index: number): Request => ({
      method: "POST",
      path: `/ofrep/v1/evaluate/flags/${nameOf(kind, (index * 7_919) % flags)}`,
      key,
      body: { context: people[group][index % people[group].length] },
    });
  try {
    await fill();
    const compare = startedPairs(rounds, starts, "5 rules of 3 conditions", "plain rollout flag");
    for (const [flags, group, what] of [
      [1, "last", "one flag, the last rule matches"],
      [1, "none", "one flag, no rule matches"],
      [most, "none", `${most} flags in turn, no rule matches`],
    ] as const) {
      await compare(`OFREP: ${what}`, `OFREP with rules, ${what}`, async () => {
        const halyard = await start();
        const load = await openLoad(halyard.url, connections);
        const rate = async (kind: string): Promise<number> => {
          const before = processorSeconds(halyard.pid);
          await load.run(requests, evaluation(kind, flags, group));
          return requests / (processorSeconds(halyard.pid) - before);
        };
        await rate("rules");
        return {
          ours: () => rate("rules"),
          theirs: () => rate("plain"),
          async stop() {
            load.close();
            await halyard.stop();
          },
        };
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
