// Files of flags in a separate folder, and commands on them in one environment.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  commandFile,
  compileCache,
  type Ended,
} from "../../../server/test/support/halyard-process.ts";
import type { TestEnvironment, TestServer } from "../../../server/test/support/server.ts";
import { runInThread } from "./command-thread.ts";

export const boolean = (key: string, enabled = false, description: string | null = null) => ({
  key,
  type: "boolean" as const,
  enabled,
  description,
});
export const rollout = (
  key: string,
  enabled: boolean,
  percentage: number,
  description: string | null = null,
) => ({ key, type: "rollout" as const, enabled, percentage, description });

type Flag = ReturnType<typeof boolean> | ReturnType<typeof rollout>;

export interface Bench extends TestEnvironment {
  readonly folder: string;
  /** The place in results. */
  readonly where: string;
  readonly settings: Record<string, string>;
  run(...args: string[]): Promise<Ended>;
  /** Standard output of a command that must succeed and print nothing else. */
  succeed(...args: string[]): Promise<string>;
  /** The command must exit with this code and print this on standard error. */
  fail(code: number, message: RegExp, ...args: string[]): Promise<Ended>;
  /** The name of a new file with this text or these flags. */
  file(name: string, content: string | readonly Flag[]): string;
  put(...flags: Flag[]): Promise<void>;
  flags(): Promise<unknown>;
  revision(): Promise<string | null>;
}

/** A new environment with its settings. */
export const newBench = async (server: TestServer): Promise<Bench> => {
  const environment = await server.environment();
  const { admin, keys } = environment;
  const folder = mkdtempSync(join(server.folder, "files-"));
  const settings = {
    HALYARD_URL: server.url,
    HALYARD_API_KEY: keys.admin,
    HALYARD_CONFIG: join(folder, "config.json"),
  };
  const run = (...args: string[]) => runInThread(args, settings);
  return {
    ...environment,
    folder,
    where: `in ${environment.name} at ${server.url}`,
    settings,
    run,
    async succeed(...args) {
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
      return stdout;
    },
    async fail(code, message, ...args) {
      const ended = await run(...args);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, message);
      assert.doesNotMatch(ended.stderr, /^\s+at /m);
      return ended;
    },
    file(name, content) {
      const path = join(folder, name);
      writeFileSync(
        path,
        typeof content === "string" ? content : JSON.stringify({ halyard: 1, flags: content }),
      );
      return path;
    },
    async put(...flags) {
      for (const { enabled, ...flag } of flags) {
        assert.equal((await admin("POST", "/flags", flag)).status, 201);
        if (enabled) await admin("PATCH", `/flags/${flag.key}`, { enabled });
      }
    },
    flags: async () => (await admin("GET", "/flags")).body,
    revision: async () => (await admin("GET", "/flags")).headers.get("etag"),
  };
};

/** With this text as its standard input. */
export const runWithInput = async (
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  input: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = spawn(process.execPath, [commandFile, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...settings },
    timeout: 600_000,
  });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, stdout, stderr };
};
