// What a bench has found: printed as Markdown while it runs, and written to a file when bench/all.ts names one.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";

export const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`;

let text = "";
const file = process.env.BENCH_RESULT;
if (file !== undefined) process.once("exit", () => writeFileSync(file, text));

const print = (line: string): void => {
  text += `${line}\n`;
  console.log(line);
};

export const say = (sentence: string): void => print(`\n${sentence}`);

/** Returns what adds a row. */
export const table = (...columns: string[]): ((...cells: string[]) => void) => {
  const row = (...cells: string[]) => print(`| ${cells.join(" | ")} |`);
  print("");
  row(...columns);
  row(...columns.map(() => "---"));
  return row;
};

export const nth = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
export const median = (values: readonly number[]): number => nth(values, 0.5);
export const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;

/** The median of the ratios of each round, and their spread. */
export const ratioCells = (ours: readonly number[], theirs: readonly number[]): string[] => {
  const ratios = ours.map((rate, round) => rate / (theirs[round] ?? 1));
  const [low, middle, high] = [0, 0.5, 1].map((share) => nth(ratios, share).toFixed(2));
  return [middle ?? "", `${low} to ${high}`];
};
