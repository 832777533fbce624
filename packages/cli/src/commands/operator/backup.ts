// halyard backup: makes a verified copy of the embedded database while the server runs.
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Manifest, Origin } from "@halyard/server/operator/backup";
import { Command } from "commander";
import {
  databaseConfig,
  databasePlace,
  dataOption,
  jsonOption,
  type OperatorOptions,
} from "../../operator.ts";
import { withExamples } from "../../terminal/examples.ts";
import { print, printAside, printJson, printTable, unwrap } from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";

interface BackupOptions extends OperatorOptions {
  readonly withoutSecretKey?: boolean;
}

interface VerifyOptions extends OperatorOptions {
  readonly trustBackup?: boolean;
}

export const trustOption = [
  "--trust-backup",
  "accept a backup that is not signed, whose key is not available, or whose schema was modified",
] as const;

export const backupCommand = (): Command => {
  const command = new Command("backup")
    .description("copy the embedded database while the server runs, and verify the copy")
    .argument("[folder]", "the folder to create (default: halyard-backup-<time>)")
    .option("--without-secret-key", "leave out secret.key, to store it elsewhere")
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
The copy is a consistent snapshot. It is verified before it gets its name, so a folder with that name is a complete
backup. It contains the key that encrypts webhook secrets: protect it like the data folder. The same key signs the
backup. Only a key that is stored elsewhere can prove that the backup was not modified: see --without-secret-key.

Examples:
  halyard backup /var/backups/halyard/monday
  halyard backup verify /var/backups/halyard/monday
  halyard restore /var/backups/halyard/monday --data ./restored`,
    )
    .action(backUpTo);
  const verifying = command
    .command("verify")
    .description("check that a backup is complete and unchanged, and which key signed it")
    .argument("<folder>", "the backup")
    .option(...trustOption)
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
The signature is checked with HALYARD_SECRET_KEY, else with secret.key of the data folder, else with the key in
the backup itself, which proves less: anyone who can write to the backup can sign with it.`,
    )
    .action(verify);
  withExamples(verifying, "halyard backup verify /var/backups/halyard/monday");
  return command;
};

const defaultName = (): string =>
  `halyard-backup-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;

/** An interrupted backup removes its draft. A killed one leaves a folder named partial. */
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
  const { backUp } = await import("@halyard/server/operator/backup");
  const config = await databaseConfig(data);
  const folder = resolve(given ?? defaultName());
  const progress = createProgress("Copying pages");
  const copied = await backUp(config, {
    folder,
    withSecretKey: withoutSecretKey !== true,
    progress: (done, total) => progress.at(done, total),
    began: removeWhenInterrupted,
  }).finally(() => progress.end());
  const { manifest, differences } = unwrap(copied);
  if (manifest.signature === undefined) {
    printAside(
      "There is no secret.key here and HALYARD_SECRET_KEY is not set, so the backup is not signed. Run this with the server's key.",
    );
  }
  for (const difference of differences) {
    printAside(
      `In the database, ${difference}. A restore will require --trust-backup: see halyard doctor.`,
    );
  }
  const { json: source } = databasePlace(config);
  if (json) return printJson({ folder, ...source, ...manifest });
  printContents(manifest);
  print(`\nBacked up ${source.database} to ${folder}; the copy was verified.`);
  reportKey(manifest);
};

const verify = async (given: string, { data, json, trustBackup }: VerifyOptions): Promise<void> => {
  const { parseConfig } = await import("@halyard/server/settings");
  const { verify: verifyBackup } = await import("@halyard/server/operator/backup");
  const chosen = { DATABASE_URL: undefined, ...(data !== undefined && { HALYARD_DATA: data }) };
  const config = parseConfig({ ...process.env, ...chosen });
  const folder = resolve(given);
  const verified = unwrap(await verifyBackup(config, folder, trustBackup === true));
  const { manifest, origin, differences } = verified;
  reportTrust(origin, differences);
  if (json) return printJson({ folder, origin, ...manifest });
  printContents(manifest);
  print(
    `\n${folder} is complete: taken at ${manifest.takenAt} by Halyard ${manifest.halyardVersion}.`,
  );
  if (origin === "proven") print("It is signed with a secret key that is available here.");
  reportKey(manifest);
};

const originNotices: Readonly<Record<Origin, string | undefined>> = {
  proven: undefined,
  "own key":
    "The backup contains the key that signed it, so its signature detects accidents only: anyone who can write to the backup can sign it. A key stored elsewhere (--without-secret-key, HALYARD_SECRET_KEY) would detect tampering too.",
  "unknown key":
    "The secret key that signed the backup is not available here, so its origin is not verified.",
  unsigned: "The backup is not signed, so its origin is not verified.",
};

/** Prints what the verification couldn't prove. */
export const reportTrust = (origin: Origin, differences: readonly string[]): void => {
  const notice = originNotices[origin];
  if (notice !== undefined) printAside(notice);
  for (const difference of differences) printAside(`Differs from Halyard's schema: ${difference}.`);
};

/** Prints the contents of a backup. */
export const printContents = ({ environments }: Manifest): void =>
  printTable(
    ["environment", "flags", "revision"],
    environments.map(({ name, flags, revision }) => [name, String(flags), String(revision)]),
  );

const keyNotices: Readonly<Record<Manifest["secretKey"], string | undefined>> = {
  included: undefined,
  "left out":
    "secret.key is not included: keep that file elsewhere, because a restore needs it to read webhook secrets.",
  none: "Its webhook secrets can be read only with the value of HALYARD_SECRET_KEY: keep it too.",
};

const reportKey = ({ secretKey }: Manifest): void => {
  const said = keyNotices[secretKey];
  if (said !== undefined) printAside(said);
};
