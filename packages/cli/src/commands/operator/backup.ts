// halyard backup: a checked copy of the embedded store, taken beside a running server.
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Manifest } from "@halyard/server/compose/backup";
import { Command } from "commander";
import { dataOption, jsonOption, type OperatorOptions } from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print, printAside, printJson, printTable, unwrap } from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";

interface BackupOptions extends OperatorOptions {
  readonly withoutSecretKey?: boolean;
}

export const backupCommand = (): Command => {
  const command = new Command("backup")
    .description("copy the embedded database while the server runs, and check the copy")
    .argument("[folder]", "where to; made here (default: halyard-backup-<time>)")
    .option("--without-secret-key", "leave secret.key out, to keep it in another place")
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
The copy is of one moment. It is checked before it gets its name, so a folder of that name is a whole backup. It holds
the key that webhook secrets are encrypted with: keep it as safe as the data folder.

Examples:
  halyard backup /var/backups/halyard/monday
  halyard backup verify /var/backups/halyard/monday
  halyard restore /var/backups/halyard/monday --data ./restored`,
    )
    .action(backUpTo);
  const verifying = command
    .command("verify")
    .description("look whether a backup is whole and every byte is as it was written")
    .argument("<folder>", "the backup")
    .option(...jsonOption)
    // The command above takes the options that it has too, wherever they stand.
    .action((folder: string, _options, self: Command) => verify(folder, self.optsWithGlobals()));
  withExamples(verifying, "halyard backup verify /var/backups/halyard/monday");
  return command;
};

const standardName = (): string =>
  `halyard-backup-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;

/** One that is interrupted leaves nothing behind; one that is killed leaves a folder named partial. */
const removeWhenInterrupted = (draft: string): void => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.once(signal, () => {
      rmSync(draft, { recursive: true, force: true });
      process.exit(code);
    });
  }
};

const backUpTo = async (
  given: string | undefined,
  { data, json, withoutSecretKey }: BackupOptions,
): Promise<void> => {
  const { parseConfig } = await import("@halyard/server/config");
  const { backUp } = await import("@halyard/server/compose/backup");
  const chosen = data === undefined ? {} : { HALYARD_DATA: data, DATABASE_URL: undefined };
  const config = parseConfig({ ...process.env, ...chosen });
  const folder = resolve(given ?? standardName());
  const progress = createProgress("Copying pages");
  const copied = await backUp(config, {
    folder,
    withSecretKey: withoutSecretKey !== true,
    progress: (done, total) => progress.at(done, total),
    began: removeWhenInterrupted,
  }).finally(() => progress.end());
  const manifest = unwrap(copied);
  if (json) return printJson({ folder, ...manifest });
  printContents(manifest);
  print(`\nBacked up to ${folder}; the copy was checked.`);
  sayOfKey(manifest);
};

const verify = async (given: string, { json }: OperatorOptions): Promise<void> => {
  const { verify: verifyBackup } = await import("@halyard/server/compose/backup");
  const folder = resolve(given);
  const manifest = unwrap(await verifyBackup(folder));
  if (json) return printJson({ folder, ...manifest });
  printContents(manifest);
  print(
    `\n${folder} is whole: taken at ${manifest.takenAt} by Halyard ${manifest.halyardVersion}.`,
  );
  sayOfKey(manifest);
};

/** What a backup holds, for people. */
export const printContents = ({ environments }: Manifest): void =>
  printTable(
    ["environment", "flags", "revision"],
    environments.map(({ name, flags, revision }) => [name, String(flags), String(revision)]),
  );

const saidOfKey: Readonly<Record<Manifest["secretKey"], string | undefined>> = {
  included: undefined,
  "left out":
    "secret.key is not in it: keep that file elsewhere, or webhook secrets cannot be read after a restore.",
  none: "Webhook secrets in it can be read with the value of HALYARD_SECRET_KEY only: keep that as well.",
};

const sayOfKey = ({ secretKey }: Manifest): void => {
  const said = saidOfKey[secretKey];
  if (said !== undefined) printAside(said);
};
