// How near are reads and evaluations over HTTP to a bare node:http server that answers with the same bytes?
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeptAnswer, wayFlags } from "./support/bare-answer.ts";
import { startedPairs } from "./support/in-turns.ts";
import { openLoad, type Request } from "./support/load.ts";
import { benchKey as key, startHalyard, startServer, stopAll } from "./support/processes.ts";
import { machine, say } from "./support/report.ts";

/** Each pair of processes is started so often. */
const starts = 3;
const rounds = Math.ceil(Number(process.env.BENCH_ROUNDS ?? 15) / starts) * starts;
const count = Number(process.env.BENCH_COUNT ?? 20_000);
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
/** A query string, even an empty one, takes an evaluation off the fast path. Reads have none. */
const through =
  (requestOf: RequestOf): RequestOf =>
  (index) => {
    const request = requestOf(index);
    return { ...request, path: `${request.path}${request.method === "GET" ? "?" : "?x"}` };
  };

/** Written by Node itself, here and there. */
const nodesOwn = new Set(["date", "connection", "keep-alive"]);
const answerTo = async (url: string, { method, path, body }: Request): Promise<KeptAnswer> => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const head = [...response.headers].filter(([name]) => !nodesOwn.has(name)).flat();
  return { head, body: await response.text() };
};

const start = () => startHalyard({ HALYARD_DATA: join(folder, "data") });
const makeFlags = async (): Promise<void> => {
  const halyard = await start();
  const load = await openLoad(halyard.url, connections);
  const managed = (method: string, path: string, body: unknown): Request => ({
    method,
    path: `/api/v1/flags${path}`,
    key,
    body,
  });
  await load.run(flags, (index) =>
    managed("POST", "", { key: nameOf(index), type: "rollout", percentage: 50 }),
  );
  await load.run(flags, (index) => managed("PATCH", `/${nameOf(index)}`, { enabled: true }));
  load.close();
  await halyard.stop();
};

try {
  await makeFlags();
  say(
    `${machine}, ${connections} connections, ${rounds} rounds of ${count} requests (${count / 4} of the list, ${count / 40} of the bulk), ${starts} starts of each`,
  );
  const compare = startedPairs(rounds, starts, "Halyard", "bare node:http");
  const beside = (
    what: string,
    name: string,
    requestOf: RequestOf,
    [script, ...ways]: readonly [script: string, ...ways: string[]],
    requests = count,
  ): Promise<void> =>
    compare(what, name, async () => {
      const halyard = await start();
      const file = join(folder, "answer.json");
      writeFileSync(file, JSON.stringify(await answerTo(halyard.url, requestOf(0))));
      const bare = await startServer(script, [file, ...ways]);
      const [ours, theirs] = [
        await openLoad(halyard.url, connections),
        await openLoad(bare.url, connections),
      ];
      return {
        ours: () => ours.run(requests, requestOf),
        theirs: () => theirs.run(requests, requestOf),
        async stop() {
          ours.close();
          theirs.close();
          await Promise.all([halyard.stop(), bare.stop()]);
        },
      };
    });
  const { text } = wayFlags;
  const bytes = ["support/bare-server.ts"] as const;
  const server = [...bytes, text] as const;
  const reader = ["support/bare-evaluator.ts", text] as const;
  await beside("GET one of 1,000 flags", "GET of one flag", readOne, server);
  await beside("- through the framework", "GET through the framework", through(readOne), server);
  await beside("GET all of 1,000 flags", "GET of a list", readAll, bytes, count / 4);
  await beside("OFREP: one of 1,000 flags", "OFREP single evaluation", evaluate, reader);
  await beside("- through the framework", "OFREP framework", through(evaluate), reader);
  await beside("OFREP: all of 1,000 flags", "OFREP bulk", evaluateAll, reader, count / 40);
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
