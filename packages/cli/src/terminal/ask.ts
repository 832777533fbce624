// Asks for confirmation and input at a terminal. Without a terminal, the command line must confirm.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { exitCodes } from "./exit-codes.ts";
import { CommandFailed, withoutControls } from "./output.ts";

export const isAtTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Returns once confirmed, by `--yes` or at the terminal. */
export const confirm = async (question: string, yes: boolean | undefined): Promise<void> => {
  if (yes === true) return;
  if (!isAtTerminal()) {
    throw new CommandFailed(`${question} Without a terminal, confirm with --yes.`, exitCodes.usage);
  }
  if (/^y(es)?$/i.test(await ask(`${question} [y/N] `))) return;
  throw new CommandFailed("Nothing was changed.", exitCodes.usage);
};

/** Reads a line at the terminal. Ctrl-C, Ctrl-D and a closed terminal cancel the command, unlike an empty line. */
export const ask = async (question: string): Promise<string> => {
  // Uses standard error, because standard output is for the result.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const { promise: given, resolve: give } = Promise.withResolvers<string | undefined>();
    terminal.once("close", () => give(undefined));
    void terminal.question(withoutControls(question)).then(give, () => give(undefined));
    const answer = await given;
    if (answer === undefined) throw new CommandFailed("\nNothing was changed.", exitCodes.usage);
    return answer.trim();
  } finally {
    terminal.close();
  }
};

/** Reads a line without echo; without a terminal, all of standard input. */
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
