// The output of commands: tables and sentences for users, JSON for scripts.
import { styleText } from "node:util";
import type { Failure, Result } from "@halyard/server/errors";
import { codeOf, type ExitCode, exitCodes } from "./exit-codes.ts";
import { outputClosed } from "./output-closed.ts";

/** A failed command. The message is a sentence with the next step. */
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

/** The change was submitted for approval and not applied, which counts as success. The message is for users, the rest for scripts. */
export class Proposed extends CommandFailed {
  readonly request: object;
  readonly server: string;
  constructor(message: string, request: object, server: string) {
    super(message, exitCodes.done, { code: "APPROVAL_NEEDED" });
    this.request = request;
    this.server = server;
  }
}

/** The change was previewed and not applied. The result is for users and for scripts. */
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
      // Without a field, the error is not about a value on the command line, but for example a backup that failed verification.
      return details ? exitCodes.usage : exitCodes.failed;
    default:
      return exitCodes.failed;
  }
};

/**
 * Makes foreign text safe to print. Control characters (including those above 0x7f) could control the terminal, line
 * breaks could forge lines, and direction marks could reorder the text.
 */
export const inOneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, " ");

/** The same for text with several lines. */
export const withoutControls = (text: string): string => text.split("\n").map(inOneLine).join("\n");

/** Prints the text unchanged, so foreign text must pass through `inOneLine` first. */
export const print = (text: string): void => {
  if (!outputClosed.aborted) process.stdout.write(`${text}\n`);
};

/** Prints a message on standard error, separate from the result. */
export const printAside = (text: string): void => {
  process.stderr.write(`${withoutControls(text)}\n`);
};

/** Escapes characters that JSON allows but a terminal would interpret. The value stays the same. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    /[\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const printJson = (value: unknown): void => print(jsonText(value, 2));

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Adds color on a terminal only. Respects NO_COLOR and FORCE_COLOR. */
export const colored = (style: Style, text: string): string =>
  styleText(style, inOneLine(text), { stream: process.stdout });

/** Text, or text with a color. Escape codes inside the text are removed. */
export type Cell = string | { readonly style: Style; readonly text: string };

export const shownCell = (cell: Cell): string =>
  typeof cell === "string" ? inOneLine(cell) : colored(cell.style, cell.text);

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
  print(colored("bold", line(columns.map((column) => column.toUpperCase()))));
  for (const row of rows) print(line(row));
};
