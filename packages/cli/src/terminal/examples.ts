// Adds examples to the end of a command's help.
import type { Command } from "commander";

export const withExamples = (command: Command, ...examples: readonly string[]): Command =>
  command.addHelpText(
    "after",
    `\n${examples.length === 1 ? "Example" : "Examples"}:\n${examples.map((line) => `  ${line}`).join("\n")}`,
  );
