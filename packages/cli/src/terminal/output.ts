// How commands speak: tables for people, JSON for scripts, one sentence when something fails.
import { styleText } from "node:util";
import type { Failure, Result } from "@halyard/server/errors";
import { codeOf, type ExitCode, exitCodes } from "./exit-codes.ts";
import { readerLeft } from "./reader-left.ts";

/** The command could not do what it was asked; its message is one sentence for a person, with the next step. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: ExitCode;
  /** For scripts: the server's own word, where it gave one. */
  readonly code: string;
  readonly details: unknown;
  constructor(
    message: string,
    exitCode: ExitCode = exitCodes.failed,
    said: { readonly code?: string; readonly details?: unknown } = {},
  ) {
    super(message);
    this.exitCode = exitCode;
    this.code = said.code ?? codeOf(exitCode);
    this.details = said.details;
  }
}

export const unwrap = <T>(result: Result<T>): T => {
  if (result.ok) return result.value;
  const { code, message, details } = result.failure;
  throw new CommandFailed(message, exitCodeFor(result.failure), { code, details });
};

const exitCodeFor = ({ code, details }: Failure): ExitCode => {
  switch (code) {
    case "NOT_FOUND":
      return exitCodes.notFound;
    case "CONFLICT":
      return exitCodes.conflict;
    case "VALIDATION_FAILED":
      // Without a field it was no value on the command line: a backup did not stand its check.
      return details ? exitCodes.usage : exitCodes.failed;
    default:
      return exitCodes.failed;
  }
};

/** What others wrote, for a person: a terminal obeys control characters, and a line break would begin a line of theirs. */
export const inOneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ");

/** The same for a text that has several lines. */
export const withoutControls = (text: string): string => text.split("\n").map(inOneLine).join("\n");

/** As it is: what others wrote goes through `inOneLine` before. */
export const print = (text: string): void => {
  if (!readerLeft.aborted) process.stdout.write(`${text}\n`);
};

/** Beside the result, for a person: it does not end up in a pipe. */
export const printAside = (text: string): void => {
  process.stderr.write(`${withoutControls(text)}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Coloured on a terminal only; NO_COLOR and FORCE_COLOR are heeded. */
export const coloured = (style: Style, text: string): string =>
  styleText(style, inOneLine(text), { stream: process.stdout });

/** A text, or one that is coloured where it is shown: a text that brings its own colours loses them. */
export type Cell = string | { readonly style: Style; readonly text: string };

export const shownCell = (cell: Cell): string =>
  typeof cell === "string" ? inOneLine(cell) : coloured(cell.style, cell.text);

const widthOf = (cell: Cell): number =>
  inOneLine(typeof cell === "string" ? cell : cell.text).length;

export const printTable = (
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): void => {
  const widths = columns.map((column, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), column.length),
  );
  const padded = (cell: Cell, width: number) =>
    shownCell(cell) + " ".repeat(Math.max(0, width - widthOf(cell)));
  const line = (cells: readonly Cell[]) =>
    cells
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  print(coloured("bold", line(columns.map((column) => column.toUpperCase()))));
  for (const row of rows) print(line(row));
};
