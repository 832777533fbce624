// The command line as scripts and people use it, against one server: what it prints and how it ends.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Ended } from "../../../server/test/support/halyard-process.ts";
import type { TestServer } from "../../../server/test/support/server.ts";
import { runInThread } from "./command-thread.ts";

export interface CommandRunner {
  /** What it printed; it must end well. What it says aside is not looked at. */
  succeed(...args: readonly string[]): Promise<string>;
  /** The same with --json, read. */
  read<T = unknown>(...args: readonly string[]): Promise<T>;
  /** It must end with this code, print nothing, and say this and no trace. */
  refuse(args: readonly string[], code: number, message: RegExp): Promise<void>;
  run(...args: readonly string[]): Promise<Ended>;
  /** The same server and file of profiles with other settings beside. */
  with(settings: Readonly<Record<string, string>>): CommandRunner;
}

/** What a command is told of a server, and a file of profiles that is not there yet. */
export const settingsFor = (
  { url, folder }: Pick<TestServer, "url" | "folder">,
  key: string,
): Record<string, string> => ({
  HALYARD_URL: url,
  HALYARD_API_KEY: key,
  HALYARD_CONFIG: join(folder, "config.json"),
});

/** In a thread, or in a process with `start`: runHalyard. */
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
