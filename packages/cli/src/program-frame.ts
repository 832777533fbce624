// What every program of `halyard` has in common, whichever commands it has.
import { version } from "@halyard/server/version";
import { type Argument, Command } from "commander";

const hint = "(add --help to see what is possible)";

function* allCommands(command: Command): Generator<Command> {
  yield command;
  for (const child of command.commands) yield* allCommands(child);
}

/** Every command has options, so `[options]` would add nothing. */
const termOf = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map(humanReadableArgument)].join(" ");

const humanReadableArgument = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

export const newProgram = (): Command =>
  new Command("halyard")
    .description("Halyard: self-hosted feature flags with signed webhooks on every change.")
    .version(version);

/** With `silent`, the caller reports usage errors itself. */
export const finishProgram = (program: Command, silent: boolean): Command => {
  for (const command of allCommands(program)) {
    command.exitOverride().showHelpAfterError(silent ? false : hint);
    command.configureHelp({ subcommandTerm: termOf });
    if (silent) command.configureOutput({ outputError: () => undefined });
  }
  return program;
};
