// How near are reads and evaluations over HTTP to a bare node:http server that answers with the same bytes?
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairs } from "./support/in-turns.ts";
import { openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, startServer, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 25);
const count = Number(process.env.BENCH_COUNT ?? 4_000);
const connections = 16;
const flags = 1_000;

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const nameOf = (index: number) => `flag-${String((index * 7_919) % flags).padStart(5, "0")}`;
const contextOf = (index: number) => ({
  context: {
    targetingKey: `user-${String(index).padStart(7, "0")}`,
    email: "somebody@example.com",
    plan: "premium",
    country: "CA",
  },
});
type RequestOf = (index: number) => Request;
const readOne: RequestOf = (index) => ({
  method: "GET",
  path: `/api/v1/flags/${nameOf(index)}`,
  key,
});
const readAll: RequestOf = () => ({ method: "GET", path: "/api/v1/flags", key });
const evaluate: RequestOf = (index) => ({
  method: "POST",
  path: `/ofrep/v1/evaluate/flags/${nameOf(index)}`,
  key,
  body: contextOf(index),
});
const evaluateAll: RequestOf = (index) => ({
  ...evaluate(index),
  path: "/ofrep/v1/evaluate/flags",
});
/** A parameter list, even one that means nothing, is unusual enough for the framework's way. */
const through =
  (requestOf: RequestOf): RequestOf =>
  (index) => {
    const request = requestOf(index);
    return { ...request, path: `${request.path}${request.method === "GET" ? "?" : "?x"}` };
  };

const answerTo = async (url: string, { method, path, body }: Request): Promise<string> => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
};

try {
  const { url } = await startHalyard({ HALYARD_DATA: join(folder, "data") });
  const halyard = await openLoad(url, connections);
  const managed = (method: string, path: string, body: unknown): Request => ({
    method,
    path: `/api/v1/flags${path}`,
    key,
    body,
  });
  await halyard.run(flags, (index) =>
    managed("POST", "", { key: nameOf(index), type: "rollout", percentage: 50 }),
  );
  await halyard.run(flags, (index) => managed("PATCH", `/${nameOf(index)}`, { enabled: true }));

  say(`${machine}, ${connections} connections, ${rounds} rounds of ${count}`);
  const compare = pairs(rounds, "Halyard", "bare node:http");
  const beside = async (
    what: string,
    name: string,
    requestOf: RequestOf,
    bare: readonly [script: string, ...args: string[]],
    requests = count,
  ): Promise<void> => {
    const answer = await answerTo(url, requestOf(0));
    const file = join(folder, "answer.json");
    writeFileSync(file, answer);
    const [script, ...args] = bare;
    const ceiling = await startServer(script, [file, ...args]);
    const load = await openLoad(ceiling.url, connections);
    await compare(
      `${what} (${answer.length} bytes)`,
      name,
      () => halyard.run(requests, requestOf),
      () => load.run(requests, requestOf),
    );
    load.close();
    await ceiling.stop();
  };
  const server = ["support/bare-server.ts"] as const;
  const asText = ["support/bare-server.ts", "text"] as const;
  const reader = ["support/bare-evaluator.ts"] as const;
  await beside("GET one of 1,000 flags", "GET of one flag", readOne, server);
  await beside("the same beside a body kept as text", "GET beside text", readOne, asText);
  await beside("GET through the framework", "GET through the framework", through(readOne), server);
  await beside("GET all of 1,000 flags", "GET of a list", readAll, server, count / 2);
  await beside("OFREP: one of 1,000 flags", "OFREP single evaluation", evaluate, reader);
  await beside("OFREP through the framework", "OFREP framework", through(evaluate), reader);
  await beside("OFREP: all of 1,000 flags", "OFREP bulk", evaluateAll, reader, count / 20);
  halyard.close();
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
