// Evaluation over HTTP beside GO Feature Flag's relay proxy and Unleash Edge: the same flags and users, one core each, in turns.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { comparison } from "./support/compare.ts";
import {
  type EvaluationServer,
  evaluationServers,
  ofrep,
  type Protocol,
  startEvaluationServer,
} from "./support/evaluation-servers.ts";
import { type Load, openLoad, type Request } from "./support/load.ts";
import { authorization, startHalyard, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const count = Number(process.env.BENCH_COUNT ?? 10_000);
const connections = 16;
const flags = 100;
const keys = Array.from({ length: flags }, (_, index) => `flag-${String(index).padStart(3, "0")}`);

const flagOf = (index: number): string => keys[(index * 7) % flags] ?? "";
const userOf = (index: number): string => `user-${index}`;
const half = { least: 0.35, most: 0.65 };

/** Every flag must be on for about half of the users, one at a time and all at once. */
const check = async (name: string, url: string, { one, all, valuesIn }: Protocol) => {
  const send = async (request: Request): Promise<readonly boolean[]> => {
    const response = await fetch(url + request.path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(request.authorization && { authorization: request.authorization }),
      },
      body: JSON.stringify(request.body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${text}`);
    return valuesIn(JSON.parse(text));
  };
  const single = [];
  for (let index = 0; index < 400; index += 1) {
    single.push(...(await send(one(flagOf(index), userOf(index)))));
  }
  const bulk = [];
  for (let index = 0; index < 20; index += 1) bulk.push(...(await send(all(userOf(index)))));
  for (const [values, expected] of [
    [single, 400],
    [bulk, 20 * flags],
  ] as const) {
    const share = values.filter(Boolean).length / values.length;
    if (values.length !== expected || share < half.least || share > half.most) {
      throw new Error(`${name} gave ${values.length} values, of which ${share} were true.`);
    }
  }
};

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
try {
  const halyard = await startHalyard({ HALYARD_DATA: join(folder, "data") });
  const ours = await openLoad(halyard.url, connections);
  await ours.run(flags, (index) => ({
    method: "POST",
    path: "/api/v1/flags",
    authorization,
    body: { key: keys[index], type: "rollout", percentage: 50 },
  }));
  await ours.run(flags, (index) => ({
    method: "PATCH",
    path: `/api/v1/flags/${keys[index]}`,
    authorization,
    body: { enabled: true },
  }));
  const own = ofrep(authorization);
  await check("Halyard", halyard.url, own);

  say(
    `${machine}, one core each, ${flags} flags at 50%, ${connections} connections, ${rounds} rounds of ${count} requests for one flag and ${count / 10} for all`,
  );
  const isNamed = ({ variable }: EvaluationServer) => Boolean(process.env[variable]);
  const missing = evaluationServers.filter((server) => !isNamed(server));
  const compare = comparison(rounds, "Halyard", "the other");
  for (const server of evaluationServers.filter(isNamed)) {
    const program = process.env[server.variable] ?? "";
    const started = await startEvaluationServer(server, program, keys, folder);
    const { protocol } = server;
    await check(server.name, started.url, protocol);
    const theirs = await openLoad(started.url, connections);
    const runOne = (load: Load, { one }: Protocol) =>
      load.run(count, (index) => one(flagOf(index), userOf(index)));
    const runAll = (load: Load, { all }: Protocol) =>
      load.run(count / 10, (index) => all(userOf(index)));
    await compare(
      `one flag, beside ${server.name}`,
      () => runOne(ours, own),
      () => runOne(theirs, protocol),
    );
    await compare(
      `${flags} flags at once, beside ${server.name}`,
      () => runAll(ours, own),
      () => runAll(theirs, protocol),
    );
    theirs.close();
    await started.stop();
  }
  for (const { name, variable } of missing) say(`Not measured: ${name}. Set ${variable}.`);
  ours.close();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
