// How commands speak: tables for people, JSON for scripts, one sentence when something fails.
import { stripVTControlCharacters, styleText } from "node:util";
import type { Result } from "@halyard/server/errors";
import { codeOf, type ExitCode, exitCodes } from "./exit-codes.ts";

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
  const { code, message } = result.failure;
  throw new CommandFailed(
    message,
    code === "NOT_FOUND"
      ? exitCodes.notFound
      : code === "CONFLICT"
        ? exitCodes.conflict
        : exitCodes.failed,
    { code },
  );
};

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Beside the result, for a person: it does not end up in a pipe. */
export const printAside = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** Coloured on a terminal only; NO_COLOR and FORCE_COLOR are heeded. */
export const coloured = (style: Style, text: string): string =>
  styleText(style, text, { stream: process.stdout });

const widthOf = (text: string): number => stripVTControlCharacters(text).length;

export const printTable = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void => {
  const widths = columns.map((column, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), column.length),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell + " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell))))
      .join("  ")
      .trimEnd();
  print(coloured("bold", line(columns.map((column) => column.toUpperCase()))));
  for (const row of rows) print(line(row));
};
