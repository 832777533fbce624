// Evaluation over HTTP beside flagd, GO Feature Flag and Flipt: the same OFREP requests to each, one core each, in turns.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluationServers, startEvaluationServer } from "./support/evaluation-servers.ts";
import { pairs } from "./support/in-turns.ts";
import { openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const count = Number(process.env.BENCH_COUNT ?? 10_000);
const connections = 16;
const flags = 100;

const keys = Array.from({ length: flags }, (_, index) => `flag-${String(index).padStart(3, "0")}`);
const evaluate = (index: number): Request => ({
  method: "POST",
  path: `/ofrep/v1/evaluate/flags/${keys[(index * 7) % flags]}`,
  key,
  body: { context: { targetingKey: `user-${index}`, plan: "premium", country: "CA" } },
});

/** That it evaluates at all: each flag is on for about half of the users. */
const check = async (name: string, url: string): Promise<void> => {
  let on = 0;
  for (let index = 0; index < 400; index += 1) {
    const { path, body } = evaluate(index);
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { value } = (await response.json()) as { value?: unknown };
    if (typeof value !== "boolean") throw new Error(`${name} answered ${response.status}.`);
    on += Number(value);
  }
  if (on < 140 || on > 260) throw new Error(`${name}: on for ${on} of 400, not for about half.`);
};

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
try {
  const halyard = await startHalyard({ HALYARD_DATA: join(folder, "data") });
  const ours = await openLoad(halyard.url, connections);
  const managed = (method: string, path: string, body: unknown): Request => ({
    method,
    path: `/api/v1/flags${path}`,
    key,
    body,
  });
  await ours.run(flags, (index) =>
    managed("POST", "", { key: keys[index], type: "rollout", percentage: 50 }),
  );
  await ours.run(flags, (index) => managed("PATCH", `/${keys[index]}`, { enabled: true }));
  await check("Halyard", halyard.url);

  say(
    `${machine}, one core each, ${flags} flags at 50 %, ${connections} connections, ${rounds} rounds of ${count} requests`,
  );
  const isNamed = ({ variable }: { readonly variable: string }) => Boolean(process.env[variable]);
  const named = evaluationServers.filter(isNamed);
  const compare = named.length > 0 ? pairs(rounds, "Halyard", "the other") : undefined;
  for (const server of named) {
    const program = process.env[server.variable] ?? "";
    const started = await startEvaluationServer(server, program, keys, folder);
    await check(server.name, started.url);
    const theirs = await openLoad(started.url, connections);
    await compare?.(
      `OFREP: one flag, beside ${server.name}`,
      `OFREP beside ${server.name}`,
      () => ours.run(count, evaluate),
      () => theirs.run(count, evaluate),
    );
    theirs.close();
    await started.stop();
  }
  const missing = evaluationServers
    .filter((server) => !isNamed(server))
    .map(({ name, variable }) => `${name} (${variable})`);
  if (missing.length > 0) say(`Not measured, because no program was named: ${missing.join(", ")}.`);
  ours.close();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
