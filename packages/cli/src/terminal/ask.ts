// Asks for confirmation at a terminal; without one, the command line must confirm.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { exitCodes } from "./exit-codes.ts";
import { CommandFailed, withoutControls } from "./output.ts";

export const isAtTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Returns when confirmed, by `--yes` or at the terminal. */
export const confirm = async (question: string, yes: boolean | undefined): Promise<void> => {
  if (yes === true) return;
  if (!isAtTerminal()) {
    throw new CommandFailed(
      `${question} There is no terminal to ask at: add --yes.`,
      exitCodes.usage,
    );
  }
  // On standard error: standard output is for the result.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const { promise: given, resolve: give } = Promise.withResolvers<string>();
    terminal.once("close", () => give(""));
    void terminal.question(`${withoutControls(question)} [y/N] `).then(give, () => give(""));
    if (/^y(es)?$/i.test((await given).trim())) return;
  } finally {
    terminal.close();
  }
  throw new CommandFailed("Nothing was changed.");
};

/** A line that is not echoed; without a terminal, all of standard input. */
export const askSecret = async (question: string): Promise<string> => {
  if (!isAtTerminal()) return (await text(process.stdin)).trim();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(question);
  try {
    const { promise: given, resolve: give } = Promise.withResolvers<string>();
    terminal.once("close", () => give(""));
    void terminal.question("").then(give, () => give(""));
    return (await given).trim();
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
};
