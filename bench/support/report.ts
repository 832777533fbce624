// What a bench has found: printed as Markdown while it runs, and kept as data when bench/all.ts asks for it.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";

export interface Table {
  readonly columns: readonly string[];
  readonly rows: (readonly string[])[];
}

export interface Found {
  /** In the order in which they were found: tables and sentences. */
  readonly parts: (Table | string)[];
  /** The figures that matter, by name. */
  readonly figures: Record<string, number>;
}

export const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;

export const markdown = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const found: Found = { parts: [], figures: {} };
const file = process.env.BENCH_RESULT;
if (file !== undefined) {
  process.once("exit", () => writeFileSync(file, JSON.stringify(found)));
}

export const say = (text: string): void => {
  found.parts.push(text);
  console.log(`\n${text}`);
};

export const figure = (name: string, value: number): void => {
  found.figures[name] = Number(value.toPrecision(4));
};

/** Gives what adds a row. */
export const table = (...columns: string[]): ((...cells: string[]) => void) => {
  const rows: (readonly string[])[] = [];
  found.parts.push({ columns, rows });
  console.log(`\n${markdown(columns)}\n${markdown(columns.map(() => "---"))}`);
  return (...cells) => {
    rows.push(cells);
    console.log(markdown(cells));
  };
};

export const nth = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
export const median = (values: readonly number[]): number => nth(values, 0.5);
export const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;
