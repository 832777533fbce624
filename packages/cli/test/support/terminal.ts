// Runs the command at a real terminal, with typed input.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { commandFile, compileCache } from "../../../server/test/support/halyard-process.ts";

const script = "/usr/bin/script";

/** Why no terminal is available; false if there is one. */
export const noTerminal: string | false =
  process.platform === "linux" && existsSync(script) ? false : "script of util-linux is not here";

export interface TerminalRun {
  readonly code: number | null;
  /** The content of the screen, including colors. */
  readonly screen: string;
}

const longestLife = 600_000;

/** Types each answer when its question appears on the screen. */
export const runAtTerminal = (
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  answers: readonly (readonly [when: RegExp, typed: string])[] = [],
): Promise<TerminalRun> => {
  const quoted = [process.execPath, commandFile, ...args].map((text) => `'${text}'`).join(" ");
  const child = spawn(script, ["-qec", quoted, "/dev/null"], {
    env: {
      PATH: process.env.PATH,
      TERM: "xterm",
      SHELL: "/bin/sh",
      NODE_COMPILE_CACHE: compileCache,
      ...settings,
    },
    stdio: ["pipe", "pipe", "ignore"],
    timeout: longestLife,
    killSignal: "SIGKILL",
  });
  let screen = "";
  const left = [...answers];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    const [next] = left;
    if (!next?.[0].test(screen)) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, screen }));
  });
};
