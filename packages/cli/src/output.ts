// How commands speak: tables for people, JSON for scripts, one sentence when something fails.
import type { Result } from "@halyard/server/errors";

/** The command could not do what it was asked; its message is one sentence for a person. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

export const unwrap = <T>(result: Result<T>): T => {
  if (result.ok) return result.value;
  throw new CommandFailed(result.failure.message);
};

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

export const printTable = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): void => {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => (row[index] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  print(line(columns.map((column) => column.toUpperCase())));
  for (const row of rows) print(line(row));
};
