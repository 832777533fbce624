// Runs commands against one server, and checks their output and exit code.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Ended } from "../../../server/test/support/halyard-process.ts";
import type { TestServer } from "../../../server/test/support/server.ts";
import { runInThread } from "./command-thread.ts";

export interface CommandRunner {
  /** Standard output of a command that must succeed. Ignores standard error. */
  succeed(...args: readonly string[]): Promise<string>;
  /** The same with --json, parsed. */
  read<T = unknown>(...args: readonly string[]): Promise<T>;
  /** The command must exit with this code, print only this message, and no stack trace. */
  refuse(args: readonly string[], code: number, message: RegExp): Promise<void>;
  run(...args: readonly string[]): Promise<Ended>;
  /** A runner for the same server and profiles, with different settings. */
  with(settings: Readonly<Record<string, string>>): CommandRunner;
}

/** The environment variables of commands, and the path of a profiles file that does not exist yet. */
export const settingsFor = (
  { url, folder }: Pick<TestServer, "url" | "folder">,
  key: string,
): Record<string, string> => ({
  HALYARD_URL: url,
  HALYARD_API_KEY: key,
  HALYARD_CONFIG: join(folder, "config.json"),
});

/** Runs in a thread, or in a process with `start`: runHalyard. */
export const createRunner = (
  settings: Readonly<Record<string, string>>,
  start = runInThread,
): CommandRunner => {
  const run = (...args: readonly string[]) => start(args, settings);
  const succeed = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, `halyard ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  return {
    run,
    succeed,
    read: async <T>(...args: readonly string[]) =>
      JSON.parse(await succeed(...args, "--json")) as T,
    async refuse(args, code, message) {
      const ended = await run(...args);
      assert.deepEqual(
        { code: ended.code, stdout: ended.stdout },
        { code, stdout: "" },
        ended.stderr,
      );
      assert.match(ended.stderr, message);
      assert.doesNotMatch(ended.stderr, /^\s+at |node:internal|file:\/\//m);
    },
    with: (others) => createRunner({ ...settings, ...others }, start),
  };
};
