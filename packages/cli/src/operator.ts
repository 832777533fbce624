// Opens the store for one operator's command, and closes it after.
import type { Operator } from "@halyard/server/compose-operator";
import type { Command } from "commander";
import { CommandFailed } from "./output.ts";

export const dataOption = ["--data <folder>", "the data folder (instead of HALYARD_DATA)"] as const;
export const jsonOption = ["--json", "print JSON, for scripts"] as const;

export interface OperatorOptions {
  readonly data?: string;
  readonly json?: boolean;
}

export const withOperator = async (
  { data }: OperatorOptions,
  work: (operator: Operator) => Promise<void>,
): Promise<void> => {
  // Loaded when there is something to do, so that help is there at once.
  const { parseConfig } = await import("@halyard/server/config");
  const { composeOperator, hasStore } = await import("@halyard/server/compose-operator");
  // What is said on the command line comes before what is set.
  const chosen = data === undefined ? {} : { HALYARD_DATA: data, DATABASE_URL: undefined };
  const config = parseConfig({ ...process.env, ...chosen });
  // Only the server makes a store: a mistyped folder would otherwise become an empty one.
  if (!(await hasStore(config))) {
    throw new CommandFailed(
      config.database.kind === "embedded"
        ? `There is no Halyard database in ${config.database.folder}: run this in the folder of the server, or name its data folder with --data or HALYARD_DATA.`
        : `There are no tables of Halyard in the database ${config.database.name}: check DATABASE_URL, or start the server there first.`,
    );
  }
  const operator = await composeOperator(config);
  try {
    await work(operator);
  } finally {
    await operator.close();
  }
};

/** A command that takes the options that every operator's command takes. */
export const operatorCommand = (command: Command): Command =>
  command.option(...dataOption).option(...jsonOption);
