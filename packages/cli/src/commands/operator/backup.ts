// halyard backup: a verified copy of the embedded store, taken while the server runs.
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
    .description("copy the embedded database while the server runs, and verify the copy")
    .argument("[folder]", "the folder to create (default: halyard-backup-<time>)")
    .option("--without-secret-key", "leave secret.key out, to store it elsewhere")
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
The copy is a consistent snapshot. It is verified before it gets its name, so a folder with that name is a complete
backup. It contains the key that encrypts webhook secrets: protect it like the data folder.

Examples:
  halyard backup /var/backups/halyard/monday
  halyard backup verify /var/backups/halyard/monday
  halyard restore /var/backups/halyard/monday --data ./restored`,
    )
    .action(backUpTo);
  const verifying = command
    .command("verify")
    .description("check that a backup is complete and every byte is as it was written")
    .argument("<folder>", "the backup")
    .option(...jsonOption)
    // The parent command takes the options that both have, wherever they stand.
    .action((folder: string, _options, self: Command) => verify(folder, self.optsWithGlobals()));
  withExamples(verifying, "halyard backup verify /var/backups/halyard/monday");
  return command;
};

const defaultName = (): string =>
  `halyard-backup-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;

/** An interrupted backup removes its draft; a killed one leaves a folder named partial. */
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
  const folder = resolve(given ?? defaultName());
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
  print(`\nBacked up to ${folder}; the copy was verified.`);
  reportKey(manifest);
};

const verify = async (given: string, { json }: OperatorOptions): Promise<void> => {
  const { verify: verifyBackup } = await import("@halyard/server/compose/backup");
  const folder = resolve(given);
  const manifest = unwrap(await verifyBackup(folder));
  if (json) return printJson({ folder, ...manifest });
  printContents(manifest);
  print(
    `\n${folder} is complete: taken at ${manifest.takenAt} by Halyard ${manifest.halyardVersion}.`,
  );
  reportKey(manifest);
};

/** The contents of a backup, for people. */
export const printContents = ({ environments }: Manifest): void =>
  printTable(
    ["environment", "flags", "revision"],
    environments.map(({ name, flags, revision }) => [name, String(flags), String(revision)]),
  );

const keyNotices: Readonly<Record<Manifest["secretKey"], string | undefined>> = {
  included: undefined,
  "left out":
    "secret.key is not included: keep that file elsewhere, or webhook secrets cannot be read after a restore.",
  none: "Its webhook secrets can be read only with the value of HALYARD_SECRET_KEY: keep that as well.",
};

const reportKey = ({ secretKey }: Manifest): void => {
  const said = keyNotices[secretKey];
  if (said !== undefined) printAside(said);
};
