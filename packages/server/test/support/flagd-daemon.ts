// A flagd daemon (Go) that FLAGD_BIN names, asked over OFREP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../../sdk/test/support/guide.ts";
import { until } from "./until.ts";

const program = process.env.FLAGD_BIN;
/** False when there is a daemon, otherwise why the test is skipped. */
export const noDaemon: false | string =
  program === undefined && "FLAGD_BIN names no flagd binary: npm run test:languages";

export interface FlagdAnswer {
  readonly value?: unknown;
  readonly variant?: string;
  readonly errorCode?: string;
}

export interface FlagdDaemon {
  ask(key: string, context?: object): Promise<FlagdAnswer>;
  /** What it has logged so far. */
  log(): string;
  /** How it ended by itself; undefined while it runs. */
  exitCode(): number | undefined;
  stop(): Promise<void>;
}

/** Gives a daemon that listens, or one that has ended. `what` says where its flags come from. */
export const startFlagd = async (...what: readonly string[]): Promise<FlagdDaemon> => {
  const [port, management, sync, ofrep] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const ports = { port, "management-port": management, "sync-port": sync, "ofrep-port": ofrep };
  const options = Object.entries(ports).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(program ?? "flagd", ["start", ...what, ...options]);
  const ended = once(child, "close");
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  }
  const isUp = async (): Promise<boolean> => {
    const health = await fetch(`http://127.0.0.1:${management}/healthz`).catch(() => undefined);
    return health?.ok === true && /ofrep service listening/.test(log);
  };
  await until("flagd listens or ends", async () => child.exitCode !== null || (await isUp()));
  return {
    async ask(key, context = {}) {
      const response = await fetch(`http://127.0.0.1:${ofrep}/ofrep/v1/evaluate/flags/${key}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ context }),
      });
      return (await response.json()) as FlagdAnswer;
    },
    log: () => log,
    exitCode: () => child.exitCode ?? undefined,
    async stop() {
      child.kill();
      await ended;
    },
  };
};
