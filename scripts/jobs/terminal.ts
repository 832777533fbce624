// The command line with settings of its own, for what a person does when the page cannot.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Gives what the command said. */
export type Terminal = (line: string, input?: string) => Promise<string>;

const program = join(import.meta.dirname, "../../packages/cli/bin/halyard.mjs");

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

export const openTerminal = (): { readonly terminal: Terminal; readonly close: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-jobs-"));
  const env = { ...process.env, XDG_CONFIG_HOME: folder, HOME: folder };
  return {
    async terminal(line, input = "") {
      const child = spawn(process.execPath, [program, ...wordsOf(line).slice(1)], { env });
      child.stdin.end(input);
      const ended = new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", resolve);
      });
      const [said, complaint, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        ended,
      ]);
      if (code !== 0) throw new Error(`${line}: ${said}${complaint}`);
      return said;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
};
