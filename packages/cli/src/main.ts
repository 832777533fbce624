// The one command `halyard`.
import { debuglog } from "node:util";
import { version } from "@halyard/server/version";
import { Command, CommanderError } from "commander";
import { copyCommand } from "./commands/copy.ts";
import { environmentCommands } from "./commands/environments.ts";
import { evaluateCommand } from "./commands/evaluate.ts";
import { keyCommands } from "./commands/keys.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { rolloutCommand } from "./commands/rollout.ts";
import { secretCommands } from "./commands/secrets.ts";
import { serveCommand } from "./commands/serve.ts";
import { webhookCommands } from "./commands/webhooks.ts";
import { exitCodes } from "./exit-codes.ts";
import { CommandFailed } from "./output.ts";

const program = new Command("halyard")
  .description("Halyard: self-hosted feature flags with signed webhooks on every change.")
  .version(version)
  .configureHelp({ sortSubcommands: false })
  .showHelpAfterError("(add --help for what is possible)")
  .addHelpText(
    "after",
    `
serve, environments, keys, secrets and migrate work on the database (DATABASE_URL for PostgreSQL; otherwise the data
folder, HALYARD_DATA, ./data unless set), beside a running server too. evaluate, rollout and webhooks talk to a running server (HALYARD_URL, HALYARD_API_KEY).

Examples:
  halyard serve
  halyard environments create staging
  halyard keys create --environment staging --role server --name web
  halyard evaluate new-checkout --targeting-key user-42 --key "$KEY"
  halyard webhooks listen --key "$KEY"

Exit codes: 0 done, 1 failed (the message says why), 2 not a valid command, 3 not there, 4 key missing or refused,
5 conflict, 6 no server or not just now, 7 different (diff and --dry-run with --exit-code).`,
  )
  .exitOverride();

program.addCommand(serveCommand());
program.addCommand(environmentCommands());
program.addCommand(keyCommands());
program.addCommand(secretCommands());
program.addCommand(migrateCommand());
program.addCommand(copyCommand());
program.addCommand(evaluateCommand());
program.addCommand(rolloutCommand());
program.addCommand(webhookCommands());
for (const command of allCommands(program)) {
  command.exitOverride().showHelpAfterError("(add --help for what is possible)");
}

function* allCommands(command: Command): Generator<Command> {
  for (const child of command.commands) {
    yield child;
    yield* allCommands(child);
  }
}

/** For a person; the trace of what nobody foresaw is shown when it is asked for. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ["StartupProblem", "CommandFailed", "StoreUnavailable"].includes(error.name)
    ? error.message
    : `${error.message}. This was not foreseen; NODE_DEBUG=halyard shows where it happened.`;
}

// The reader of a pipe may have enough: `halyard keys list | head` is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

// Started by an older Node that stands between us and the caller: when it is gone, nobody can stop us but ourselves.
if (process.connected) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  } else {
    console.error(`halyard: ${sentenceOf(error)}`);
    debuglog("halyard")("%o", error);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : exitCodes.failed;
  }
}
