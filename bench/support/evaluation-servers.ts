// Other evaluation servers that speak OFREP, from programs that the user names: each with the same flags, on one core.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "./footprint.ts";
import { freePort } from "./free-port.ts";
import type { Started } from "./processes.ts";

interface Ports {
  readonly evaluation: number;
  readonly others: readonly [number, number, number];
}

interface EvaluationServer {
  readonly name: string;
  /** The environment variable that names its program. */
  readonly variable: string;
  /** The files that it reads, by name. Each flag is on for half of the users. */
  files(keys: readonly string[], folder: string, ports: Ports): Readonly<Record<string, unknown>>;
  args(folder: string, ports: Ports): readonly string[];
  settings?(folder: string, ports: Ports): Readonly<Record<string, string>>;
  readyUrl(ports: Ports): string;
}

const at = (port: number, path: string): string => `http://127.0.0.1:${port}${path}`;
const byKey = (keys: readonly string[], flag: unknown) =>
  Object.fromEntries(keys.map((key) => [key, flag]));

/** JSON is YAML too. */
export const evaluationServers: readonly EvaluationServer[] = [
  {
    name: "flagd",
    variable: "FLAGD_BIN",
    files: (keys) => ({
      "flags.json": {
        flags: byKey(keys, {
          state: "ENABLED",
          variants: { on: true, off: false },
          defaultVariant: "off",
          targeting: {
            fractional: [
              ["on", 50],
              ["off", 50],
            ],
          },
        }),
      },
    }),
    args: (folder, { evaluation, others: [service, management, sync] }) => [
      ...["start", "--uri", `file:${join(folder, "flags.json")}`],
      ...["--ofrep-port", String(evaluation), "--port", String(service)],
      ...["--management-port", String(management), "--sync-port", String(sync)],
    ],
    readyUrl: ({ others: [, management] }) => at(management, "/readyz"),
  },
  {
    name: "GO Feature Flag",
    variable: "GOFF_BIN",
    files: (keys, folder, { evaluation }) => ({
      "flags.json": byKey(keys, {
        variations: { on: true, off: false },
        defaultRule: { percentage: { on: 50, off: 50 } },
      }),
      "relay.yaml": {
        server: { mode: "http", port: evaluation },
        // The name of the port before version 1.46.
        listen: evaluation,
        fileFormat: "json",
        retrievers: [{ kind: "file", path: join(folder, "flags.json") }],
      },
    }),
    args: (folder) => [`--config=${join(folder, "relay.yaml")}`],
    readyUrl: ({ evaluation }) => at(evaluation, "/health"),
  },
  {
    name: "Flipt",
    variable: "FLIPT_BIN",
    files: (keys) => ({
      "features.yaml": {
        version: "1.2",
        namespace: "default",
        flags: keys.map((key) => ({
          key,
          name: key,
          type: "BOOLEAN_FLAG_TYPE",
          enabled: false,
          rollouts: [{ threshold: { percentage: 50, value: true } }],
        })),
      },
    }),
    args: () => [],
    settings: (folder, { evaluation, others: [grpc] }) => ({
      FLIPT_STORAGE_TYPE: "local",
      FLIPT_STORAGE_LOCAL_PATH: folder,
      FLIPT_DB_URL: `file:${join(folder, "flipt.db")}`,
      FLIPT_SERVER_HOST: "127.0.0.1",
      FLIPT_SERVER_HTTP_PORT: String(evaluation),
      FLIPT_SERVER_GRPC_PORT: String(grpc),
      FLIPT_META_TELEMETRY_ENABLED: "false",
      FLIPT_META_CHECK_FOR_UPDATES: "false",
    }),
    readyUrl: ({ evaluation }) => at(evaluation, "/health"),
  },
];

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill();
});

export const startEvaluationServer = async (
  server: EvaluationServer,
  program: string,
  keys: readonly string[],
  parent: string,
): Promise<Started> => {
  const folder = join(parent, server.variable);
  mkdirSync(folder, { recursive: true });
  const [evaluation, ...others] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const ports: Ports = { evaluation, others: others as [number, number, number] };
  for (const [name, content] of Object.entries(server.files(keys, folder, ports))) {
    writeFileSync(join(folder, name), JSON.stringify(content));
  }
  const child = spawn(program, server.args(folder, ports), {
    cwd: folder,
    stdio: "ignore",
    // One core, as Halyard has without workers.
    env: { ...process.env, GOMAXPROCS: "1", ...server.settings?.(folder, ports) },
  });
  running.add(child);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${server.name} ended with ${code} before it was ready.`);
  });
  await Promise.race([untilReady(server.readyUrl(ports)), ended]);
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${evaluation}`,
    async stop() {
      running.delete(child);
      const exit = once(child, "exit");
      child.kill();
      await exit;
    },
  };
};
