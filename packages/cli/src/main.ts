// The one command `halyard`.
import { StartupProblem, version } from "@halyard/server";
import { Command, CommanderError } from "commander";
import { environmentCommands } from "./commands/environments.ts";
import { keyCommands } from "./commands/keys.ts";
import { serveCommand } from "./commands/serve.ts";
import { CommandFailed } from "./output.ts";

const usageError = 2;

const program = new Command("halyard")
  .description("Halyard: self-hosted feature flags with signed webhooks on every change.")
  .version(version)
  .configureHelp({ sortSubcommands: false })
  .showHelpAfterError("(add --help for what is possible)")
  .addHelpText(
    "after",
    `
The commands work on the data folder (HALYARD_DATA, ./data unless set), beside a running server too.

Examples:
  halyard serve
  halyard environments create staging
  halyard keys create --environment staging --role server --name web

Exit codes: 0 done, 1 failed (the message says why), 2 not a valid command.`,
  )
  .exitOverride();

program.addCommand(serveCommand());
program.addCommand(environmentCommands());
program.addCommand(keyCommands());
for (const command of allCommands(program)) {
  command.exitOverride().showHelpAfterError("(add --help for what is possible)");
}

function* allCommands(command: Command): Generator<Command> {
  for (const child of command.commands) {
    yield child;
    yield* allCommands(child);
  }
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : usageError;
  } else if (error instanceof StartupProblem || error instanceof CommandFailed) {
    console.error(`halyard: ${error.message}`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
