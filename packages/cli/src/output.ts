// How commands speak: tables for people, JSON for scripts, one sentence when something fails.
import { styleText } from "node:util";
import type { Result } from "@halyard/server/errors";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** The command could not do what it was asked; its message is one sentence for a person, with the next step. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal's colours are made of.
const widthOf = (text: string): number => text.replace(/\x1b\[[0-9;]*m/g, "").length;

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
