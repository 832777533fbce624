// halyard flagd: checks which flags flagd and its providers can evaluate locally.
import { compileFlagd, type FlagdClass, type FlagdFlag } from "@halyard/core/flagd";
import { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { inOneLine, print, printJson } from "../../terminal/output.ts";

interface CheckOptions extends ConnectionOptions {
  readonly strict?: boolean;
  readonly json?: boolean;
}

export const flagdCommands = (): Command => {
  const group = new Command("flagd").description(
    "check which flags flagd and its providers can evaluate locally",
  );
  withExamples(
    serverCommand(group.command("check"), "a server")
      .description("show which flags are in the flagd definition, and why others are not")
      .option("--strict", "exit with 1 if a flag is left out")
      .action(check),
    "halyard flagd check",
    "halyard flagd check --profile production --strict",
  );
  return group;
};

const classes: readonly FlagdClass[] = ["exact", "ascii", "left-out"];

const countsOf = (flags: readonly FlagdFlag[]) =>
  Object.fromEntries(
    classes.map((name) => [name, flags.filter((flag) => flag.class === name).length]),
  );

const linesOf = (flags: readonly FlagdFlag[]): readonly string[] => {
  const width = Math.max(...flags.map(({ class: name }) => name.length), 0);
  return flags.flatMap(({ key, class: name, reasons }) => [
    `${name.padEnd(width)}  ${key}`,
    ...reasons.map((reason) => `${" ".repeat(width + 4)}${inOneLine(reason)}`),
  ]);
};

const check = async (options: CheckOptions): Promise<void> => {
  const connection = connect(options);
  const snapshot = answered(connection, await connection.management.snapshot());
  const { environment, revision } = snapshot;
  const { flags } = compileFlagd(
    {
      flags: snapshot.flags.map(({ flag, level }) =>
        level === undefined ? flag : { ...flag, level },
      ),
      segments: (snapshot.segments ?? []).map(({ segment }) => segment),
    },
    environment,
  );
  const counts = countsOf(flags);
  if (options.json) printJson({ environment, revision, counts, flags });
  else {
    for (const line of linesOf(flags)) print(line);
    const summary = classes.map((name) => `${counts[name]} ${name}`).join(", ");
    print(
      `${flags.length} ${flags.length === 1 ? "flag" : "flags"} of ${environment}: ${summary}.`,
    );
  }
  if (options.strict && (counts["left-out"] ?? 0) > 0) process.exitCode = exitCodes.failed;
};
