// Takes a PostgreSQL server away, by a crash or by silence, until it is given back.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { query } from "../../support/postgres.ts";
import type { PostgresServer } from "../../support/postgres-server.ts";
import { until } from "./until.ts";

/** Takes it away; what is given back brings it again. */
export type TakeAway = (server: PostgresServer) => Promise<() => Promise<void>>;

const postmasterOf = async ({ url }: PostgresServer): Promise<number> => {
  const [row] = await query<{ data_directory: string }>(url, "show data_directory");
  return Number(
    readFileSync(join(row?.data_directory ?? "", "postmaster.pid"), "utf8").split("\n")[0],
  );
};

const isAlive = (id: number): boolean => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

const childrenOf = (id: number): number[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (child !== undefined && parent === id ? [child] : []));

/** As `pg_ctl stop -m immediate` does: connections end at once, and the next start recovers. */
export const crash: TakeAway = async (server) => {
  const postmaster = await postmasterOf(server);
  process.kill(postmaster, "SIGQUIT");
  await until("PostgreSQL is down", () => !isAlive(postmaster));
  return () => server.start();
};

/** Connections stay and new ones are taken, but nothing is ever answered: as with a network that swallows everything. */
export const freeze: TakeAway = async (server) => {
  const postmaster = await postmasterOf(server);
  process.kill(postmaster, "SIGSTOP");
  const stopped = [postmaster, ...childrenOf(postmaster)];
  for (const id of stopped.slice(1)) process.kill(id, "SIGSTOP");
  const thaw = () => {
    for (const id of stopped.reverse()) if (isAlive(id)) process.kill(id, "SIGCONT");
  };
  return async () => thaw();
};
