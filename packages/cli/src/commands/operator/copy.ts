// halyard copy: copies all data from one database to another, empty one.
import { Command } from "commander";
import { configFor, whenAvailable } from "../../operator.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printJson, printTable, unwrap } from "../../terminal/output.ts";

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const copyCommand = (): Command =>
  new Command("copy")
    .description("copy all data to an empty database, then compare both row by row")
    .requiredOption("--from <place>", "a data folder, or postgres://user:password@host/database")
    .requiredOption("--to <place>", "the same format; must be empty")
    .option("--force", "copy even though a server is using the source")
    .option("--json", "print JSON, for scripts")
    .addHelpText(
      "after",
      `
Stop the servers of the source first: changes made while the copy runs are not copied. A source that is in use is
refused; --force copies it as it is now. The target stays empty unless every row matches. Webhook secrets are encrypted
with a separate key: PostgreSQL needs HALYARD_SECRET_KEY, a data folder uses it or its own secret.key.

Examples:
  halyard copy --from ./data --to postgres://halyard@db.internal/halyard?sslmode=verify-full
  halyard copy --from "$DATABASE_URL" --to ./data`,
    )
    .action(copy);

const copy = async ({ from, to, force, json }: CopyOptions): Promise<void> => {
  const { copyDatabase, nameOf } = await import("@halyard/server/operator/copy");
  const source = await configFor(from);
  const target = await configFor(to);
  if (nameOf(source) === nameOf(target)) {
    throw new CommandFailed("--from and --to must be different databases.", exitCodes.usage);
  }
  const isTerminal = process.stderr.isTTY === true;
  const say = (verb: string) => (table: string, rows: number) => {
    if (isTerminal) process.stderr.write(`\r\x1b[K${verb} ${table}: ${rows} rows`);
  };
  try {
    const watch = { copied: say("copying"), compared: say("comparing") };
    const choice = { force: force === true, watch };
    const rows = unwrap(await whenAvailable(() => copyDatabase(source, target, choice)));
    if (isTerminal) process.stderr.write("\r\x1b[K");
    if (json) {
      printJson({ from: nameOf(source), to: nameOf(target), rows });
      return;
    }
    printTable(
      ["table", "rows"],
      Object.entries(rows).map(([table, count]) => [table, String(count)]),
    );
    print(`\nCopied from ${nameOf(source)} to ${nameOf(target)}; every row was compared.`);
  } catch (error) {
    if (isTerminal) process.stderr.write("\n");
    throw error;
  }
};
