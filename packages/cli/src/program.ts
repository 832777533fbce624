// All commands of `halyard`, in the groups in which the help shows them.
import type { Command } from "commander";
import { completionCommand } from "./commands/completion.ts";
import { diffCommand } from "./commands/files/diff.ts";
import { exportCommand } from "./commands/files/export.ts";
import { importCommand } from "./commands/files/import.ts";
import { promoteCommand } from "./commands/files/promote.ts";
import { evaluateCommand } from "./commands/flags/evaluate.ts";
import { eventCommands } from "./commands/flags/events.ts";
import { flagCommands } from "./commands/flags/flags.ts";
import { rolloutCommand } from "./commands/flags/rollout.ts";
import { backupCommand } from "./commands/operator/backup.ts";
import { copyCommand } from "./commands/operator/copy.ts";
import { doctorCommand } from "./commands/operator/doctor.ts";
import { environmentCommands } from "./commands/operator/environments.ts";
import { keyCommands } from "./commands/operator/keys.ts";
import { migrateCommand } from "./commands/operator/migrate.ts";
import { restoreCommand } from "./commands/operator/restore.ts";
import { secretCommands } from "./commands/operator/secrets.ts";
import { serveCommand } from "./commands/operator/serve.ts";
import { profileCommands } from "./commands/profiles.ts";
import { suggestCommand } from "./commands/suggest.ts";
import { webhookCommands } from "./commands/webhooks/webhooks.ts";
import { finishProgram, newProgram } from "./program-frame.ts";

const afterHelp = `
Commands that call a server find it by --profile, by --url and --key, by HALYARD_URL and HALYARD_API_KEY, or by the
active profile. Commands that use the database find it by DATABASE_URL (PostgreSQL), or else in the data folder
(HALYARD_DATA, ./data by default); a server may be running at the same time.

Examples:
  halyard serve
  halyard profiles set production --url https://flags.example.com
  halyard flags rollout new-checkout 25
  halyard events tail

Exit codes: 0 done, 1 failed (the message says why), 2 invalid command, 3 not found, 4 key missing or not allowed,
5 conflict, 6 unavailable: retry later, 7 different (diff and --dry-run with --exit-code).`;

/** With `silent`, the caller reports usage errors itself. */
export const createProgram = (silent = false): Command => {
  const program = newProgram().addHelpText("after", afterHelp);

  program.commandsGroup("Flags:");
  program.addCommand(flagCommands());
  program.addCommand(evaluateCommand());
  program.addCommand(rolloutCommand());
  program.addCommand(eventCommands());

  program.commandsGroup("Webhooks and keys:");
  program.addCommand(webhookCommands());
  program.addCommand(keyCommands());

  program.commandsGroup("Moving flags:");
  program.addCommand(exportCommand());
  program.addCommand(importCommand());
  program.addCommand(diffCommand());
  program.addCommand(promoteCommand());

  program.commandsGroup("The server and its database:");
  program.addCommand(serveCommand());
  program.addCommand(environmentCommands());
  program.addCommand(secretCommands());
  program.addCommand(migrateCommand());
  program.addCommand(copyCommand());
  program.addCommand(backupCommand());
  program.addCommand(restoreCommand());
  program.addCommand(doctorCommand());

  program.commandsGroup("This command line:");
  program.addCommand(profileCommands());
  program.addCommand(completionCommand());
  program.addCommand(suggestCommand(), { hidden: true });
  program.helpCommand("help [command]", "show help for a command");

  return finishProgram(program, silent);
};
