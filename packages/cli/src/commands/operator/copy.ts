// halyard copy: moves everything from one database into another that is empty.
import { Command } from "commander";
import { whenAvailable } from "../../operator.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printJson, printTable, unwrap } from "../../terminal/output.ts";

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

export const copyCommand = (): Command =>
  new Command("copy")
    .description(
      "copy everything into an empty database, and compare the two row by row at the end",
    )
    .requiredOption("--from <place>", "a data folder, or postgres://user:password@host/database")
    .requiredOption("--to <place>", "the same; it must be empty")
    .option("--json", "print JSON, for scripts")
    .addHelpText(
      "after",
      `
Stop the servers of the source first: what they change while the copy runs is not in it. Nothing is kept in the target
unless every row came out the same. Secrets of webhooks are encrypted with a key of their own: HALYARD_SECRET_KEY is
needed for PostgreSQL, and a data folder's secret.key is used for what stands in that folder.

Examples:
  halyard copy --from ./data --to postgres://halyard@db.internal/halyard?sslmode=verify-full
  halyard copy --from "$DATABASE_URL" --to ./data`,
    )
    .action(copy);

const copy = async ({ from, to, json }: CopyOptions): Promise<void> => {
  const { parseConfig } = await import("@halyard/server/config");
  const { copyDatabase, nameOf } = await import("@halyard/server/compose/copy");
  const placeOf = (place: string) => {
    const isFolder = !/^[a-z][a-z0-9+.-]*:\/\//i.test(place);
    return parseConfig({
      ...process.env,
      DATABASE_URL: isFolder ? undefined : place,
      ...(isFolder && { HALYARD_DATA: place }),
    });
  };
  const source = placeOf(from);
  const target = placeOf(to);
  if (nameOf(source) === nameOf(target)) {
    throw new CommandFailed("--from and --to are the same place.", exitCodes.usage);
  }
  const isTerminal = process.stderr.isTTY === true;
  const say = (verb: string) => (table: string, rows: number) => {
    if (isTerminal) process.stderr.write(`\r\x1b[K${verb} ${table}: ${rows} rows`);
  };
  try {
    const watch = { copied: say("copying"), compared: say("comparing") };
    const rows = unwrap(await whenAvailable(() => copyDatabase(source, target, watch)));
    if (isTerminal) process.stderr.write("\r\x1b[K");
    if (json) {
      printJson(rows);
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
