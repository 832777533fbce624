import { after } from "node:test";
import { type RunningServer, serveHalyard } from "../../../server/test/support/halyard-process.ts";
import { until } from "../../../server/test/support/until.ts";
import { folderOf } from "./folders.ts";
import { beginRequest, type UnfinishedRequest } from "./unfinished-request.ts";

const started: RunningServer[] = [];
const workersStarted: number[] = [];
after(() => {
  // Left by a failed test. The others have exited.
  for (const server of started) server.kill("SIGKILL");
  for (const pid of workersStarted) if (isAlive(pid)) process.kill(pid, "SIGKILL");
});

export const serve = async (folder = folderOf(), workers = "2"): Promise<RunningServer> => {
  const server = await serveHalyard(folder, { HALYARD_WORKERS: workers });
  started.push(server);
  return server;
};

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The process id of the worker with this number, from the log. Numbers are not reused. */
export const pidOf = async (server: RunningServer, worker: number): Promise<number> => {
  const [, pid] = await server.printed(
    new RegExp(`"worker":${worker},"pid":(\\d+),"msg":"a worker is up"`),
  );
  workersStarted.push(Number(pid));
  return Number(pid);
};

/** Each on a separate connection, so that any process may accept it. */
export const ask = async (server: RunningServer, path: string, flag?: string) => {
  const response = await fetch(`${server.url}${path}`, {
    method: flag === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${server.keys.development}`,
      connection: "close",
      ...(flag !== undefined && { "content-type": "application/json" }),
    },
    body: flag === undefined ? null : JSON.stringify({ key: flag, type: "boolean" }),
    signal: AbortSignal.timeout(600_000),
  });
  // Every process has its own prefix of request ids.
  const answeredBy = response.headers.get("x-request-id")?.split("-")[1] ?? "";
  return { status: response.status, body: await response.json(), answeredBy };
};

/** The prefixes of this number of processes that respond. */
export const answering = async (server: RunningServer, count: number): Promise<Set<string>> => {
  const seen = new Set<string>();
  return until(`${count} processes answer`, async () => {
    seen.add((await ask(server, "/healthz")).answeredBy);
    return seen.size >= count && seen;
  });
};

/** A running request in each of the two workers. The system distributes connections freely. */
export const requestsUnderWay = async (server: RunningServer): Promise<UnfinishedRequest[]> => {
  const key = server.keys.development ?? "";
  const requests = new Map<string, UnfinishedRequest>();
  while (requests.size < 2) {
    const request = await beginRequest(server.url, key, `late-${requests.size}`);
    if (requests.has(request.answeredBy)) request.socket.destroy();
    else requests.set(request.answeredBy, request);
  }
  return [...requests.values()];
};
