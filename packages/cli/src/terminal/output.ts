// The output of commands: tables for people, JSON for scripts, one sentence when something fails.
import { styleText } from "node:util";
import type { Failure, Result } from "@halyard/server/errors";
import { codeOf, type ExitCode, exitCodes } from "./exit-codes.ts";
import { outputClosed } from "./output-closed.ts";

/** The command failed; its message is one sentence for people, with the next step. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: ExitCode;
  /** For scripts: the server's error code, if it sent one. */
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

/** Nothing was changed, but the change is proposed: the command is done. Its message is for people, the rest for scripts. */
export class Proposed extends CommandFailed {
  readonly request: object;
  readonly server: string;
  constructor(message: string, request: object, server: string) {
    super(message, exitCodes.done, { code: "APPROVAL_NEEDED" });
    this.request = request;
    this.server = server;
  }
}

/** Nothing was changed: whom the change would hit, for people and for scripts. */
export class Previewed extends CommandFailed {
  readonly preview: object;
  constructor(message: string, preview: object) {
    super(message, exitCodes.done);
    this.preview = preview;
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
      // Without a field it is not about a value on the command line: a backup failed its verification.
      return details ? exitCodes.usage : exitCodes.failed;
    default:
      return exitCodes.failed;
  }
};

/**
 * Makes text from others safe to print: control characters (also those above 0x7f) could control the terminal, line breaks
 * could forge lines, and marks of the writing direction could show text in another order than it has.
 */
export const inOneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, " ");

/** The same for text with several lines. */
export const withoutControls = (text: string): string => text.split("\n").map(inOneLine).join("\n");

/** Prints the text unchanged: text from others must pass `inOneLine` first. */
export const print = (text: string): void => {
  if (!outputClosed.aborted) process.stdout.write(`${text}\n`);
};

/** A message for people on standard error, apart from the result. */
export const printAside = (text: string): void => {
  process.stderr.write(`${withoutControls(text)}\n`);
};

/** Escapes what JSON leaves as it is, though a terminal would obey it. The value stays the same. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    /[\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const printJson = (value: unknown): void => print(jsonText(value, 2));

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Coloured on a terminal only; respects NO_COLOR and FORCE_COLOR. */
export const coloured = (style: Style, text: string): string =>
  styleText(style, inOneLine(text), { stream: process.stdout });

/** Text, or text with a colour. Escape codes inside the text are removed. */
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
