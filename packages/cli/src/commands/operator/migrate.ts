// halyard migrate: migrates the database schema without starting the server.
import { Command } from "commander";
import {
  databaseConfig,
  dataOption,
  jsonOption,
  requireStore,
  whenAvailable,
} from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { CommandFailed, print, printJson } from "../../terminal/output.ts";

interface MigrateOptions {
  readonly data?: string;
  readonly check?: boolean;
  readonly json?: boolean;
}

export const migrateCommand = (): Command => {
  const command = new Command("migrate")
    .description(
      "migrate the database schema to this version (starting the server does so too, unless HALYARD_MIGRATE=off)",
    )
    .option("--check", "change nothing; fail if a migration is pending")
    .option(...dataOption)
    .option(...jsonOption)
    .action(migrate);
  return withExamples(command, "halyard migrate", "halyard migrate --check");
};

const migrate = async ({ data, check, json }: MigrateOptions): Promise<void> => {
  const config = await databaseConfig(data);
  const { migrateDatabase, nameOf, pendingMigrations } = await import(
    "@halyard/server/operator/copy"
  );
  // An empty PostgreSQL database was created on purpose, but an empty folder is probably a typo.
  if (config.database.kind === "embedded") await requireStore(config);
  const name = nameOf(config);
  if (check) {
    const { before, after } = await whenAvailable(() => pendingMigrations(config));
    if (before !== after) {
      throw new CommandFailed(
        `The schema of ${name} has version ${before} and this Halyard has ${after}: ${before < after ? "run `halyard migrate`" : "use the newer Halyard that wrote it"}.`,
      );
    }
    if (json) printJson({ database: name, before, after });
    else print(`The schema of ${name} is up to date (version ${after}).`);
    return;
  }
  const { before, after } = await whenAvailable(() => migrateDatabase(config));
  if (json) printJson({ database: name, before, after });
  else if (before === after) print(`The schema of ${name} was up to date (version ${after}).`);
  else print(`The schema of ${name} was migrated from version ${before} to ${after}.`);
};
