// All commands of `halyard`, grouped as in the help. A command loads only its own code.
import { version } from "@halyard/server/version";
import { type Argument, Command } from "commander";

type Commands = Readonly<Record<string, () => Promise<Command>>>;

const groups: Readonly<Record<string, Commands>> = {
  "Flags:": {
    flags: async () => (await import("./commands/flags/flags.ts")).flagCommands(),
    evaluate: async () => (await import("./commands/flags/evaluate.ts")).evaluateCommand(),
    explain: async () => (await import("./commands/flags/explain.ts")).explainCommand(),
    segments: async () => (await import("./commands/segments/segments.ts")).segmentCommands(),
    requests: async () => (await import("./commands/requests/requests.ts")).requestCommands(),
    flagd: async () => (await import("./commands/flagd/flagd.ts")).flagdCommands(),
    rollout: async () => (await import("./commands/flags/rollout.ts")).rolloutCommand(),
    clients: async () => (await import("./commands/clients.ts")).clientsCommand(),
    history: async () => (await import("./commands/history.ts")).historyCommand(),
    mcp: async () => (await import("./commands/mcp.ts")).mcpCommand(),
    events: async () => (await import("./commands/flags/events.ts")).eventCommands(),
  },
  "Webhooks, keys and users:": {
    webhooks: async () => (await import("./commands/webhooks/webhooks.ts")).webhookCommands(),
    keys: async () => (await import("./commands/operator/keys.ts")).keyCommands(),
    users: async () => (await import("./commands/users/users.ts")).userCommands(),
  },
  "Moving flags:": {
    export: async () => (await import("./commands/files/export.ts")).exportCommand(),
    import: async () => (await import("./commands/files/import.ts")).importCommand(),
    diff: async () => (await import("./commands/files/diff.ts")).diffCommand(),
    promote: async () => (await import("./commands/files/promote.ts")).promoteCommand(),
    types: async () => (await import("./commands/files/types.ts")).typesCommand(),
  },
  "The server and its database:": {
    serve: async () => (await import("./commands/operator/serve.ts")).serveCommand(),
    environments: async () =>
      (await import("./commands/operator/environments.ts")).environmentCommands(),
    secrets: async () => (await import("./commands/operator/secrets.ts")).secretCommands(),
    migrate: async () => (await import("./commands/operator/migrate.ts")).migrateCommand(),
    copy: async () => (await import("./commands/operator/copy.ts")).copyCommand(),
    backup: async () => (await import("./commands/operator/backup.ts")).backupCommand(),
    restore: async () => (await import("./commands/operator/restore.ts")).restoreCommand(),
    open: async () => (await import("./commands/operator/open.ts")).openCommand(),
    doctor: async () => (await import("./commands/operator/doctor.ts")).doctorCommand(),
  },
  "Command-line setup:": {
    profiles: async () => (await import("./commands/profiles.ts")).profileCommands(),
    whoami: async () => (await import("./commands/whoami.ts")).whoamiCommand(),
    completion: async () => (await import("./commands/completion.ts")).completionCommand(),
    suggest: async () => (await import("./commands/suggest.ts")).suggestCommand(),
  },
};

const afterHelp = `
Commands that call a server find it by --profile, by --url and --key, by HALYARD_URL and HALYARD_API_KEY, or by the
active profile. Commands that use the database find it by DATABASE_URL (PostgreSQL), or else in the data folder
(HALYARD_DATA, ./data by default); a server may be running at the same time.

Examples:
  halyard serve
  halyard profiles set production --url https://flags.example.com
  halyard flags rollout new-checkout 25
  halyard events tail

Exit codes: 0 done, 1 failed (see the message), 2 invalid command, 3 not found, 4 key missing or not allowed,
5 conflict, 6 unavailable: retry later, 7 different (diff and --dry-run with --exit-code, types --check), 8 applied, but
some clients are out of date (--wait).`;

const hint = "(see --help)";

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

/** An option before the name of a subcommand would have no effect, so it is an error. */
const refuseEarlyOptions = (command: Command, below: Command): void => {
  const early = command.options.find(
    (option) => command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (early === undefined) return;
  command.error(
    `error: put ${early.long ?? early.flags} after "${below.name()}"; it has no effect before it`,
  );
};

/** The help and the completion script cover all commands. */
const needsAll = (name: string | undefined): boolean =>
  name === undefined ||
  name === "completion" ||
  !Object.values(groups).some((commands) => Object.hasOwn(commands, name));

/** The program with one command, or with all. If `silent`, the caller reports usage errors itself. */
export const createProgram = async (name?: string, silent = false): Promise<Command> => {
  const all = needsAll(name);
  const program = new Command("halyard")
    .description("Halyard: self-hosted feature flags with signed webhooks on every change.")
    .version(version)
    .addHelpText("after", afterHelp);
  for (const [title, commands] of Object.entries(groups)) {
    program.commandsGroup(title);
    for (const [command, load] of Object.entries(commands)) {
      if (all || command === name) {
        program.addCommand(await load(), { hidden: command === "suggest" });
      }
    }
  }
  program.helpCommand("help [command]", "show help for a command");

  for (const command of allCommands(program)) {
    command.exitOverride().showHelpAfterError(silent ? false : hint);
    // Options after the name of a command belong to that command, even if a parent has the same options.
    command.enablePositionalOptions().hook("preSubcommand", refuseEarlyOptions);
    command.configureHelp({ subcommandTerm: termOf });
    command.configureOutput({
      outputError: (text, write) => {
        if (!silent) write(text.replace(/^error: /, "halyard: "));
      },
    });
  }
  return program;
};
