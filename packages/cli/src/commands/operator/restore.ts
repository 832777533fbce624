// halyard restore: restores a backup into a data folder.
import { resolve } from "node:path";
import type { Restored } from "@halyard/server/operator/backup";
import { Command } from "commander";
import { databaseConfig, jsonOption, type OperatorOptions } from "../../operator.ts";
import { print, printAside, printJson, unwrap } from "../../terminal/output.ts";
import { printContents, reportTrust, trustOption } from "./backup.ts";

interface RestoreOptions extends OperatorOptions {
  readonly force?: boolean;
  readonly pauseWebhooks?: boolean;
  readonly trustBackup?: boolean;
}

export const restoreCommand = (): Command =>
  new Command("restore")
    .description("verify a backup and restore it into a data folder")
    .argument("<folder>", "the backup")
    .option("--data <folder>", "the target folder (instead of HALYARD_DATA); created if missing")
    .option("--force", "move an existing database aside, without deleting it")
    .option(...trustOption)
    .option("--pause-webhooks", "deactivate all webhooks, so that a test copy calls no receivers")
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
Stop the server of that folder first. The next server sends deliveries that were pending when the backup was taken,
even if they have arrived since: receivers must ignore duplicates by event id. --pause-webhooks prevents this.

Examples:
  halyard restore /var/backups/halyard/monday --data ./data
  halyard restore /var/backups/halyard/monday --data ./trial --pause-webhooks`,
    )
    .action(restoreFrom);

const restoreFrom = async (
  given: string,
  { data, json, force, pauseWebhooks, trustBackup }: RestoreOptions,
): Promise<void> => {
  const { restore } = await import("@halyard/server/operator/backup");
  const config = await databaseConfig(data);
  const restored = unwrap(
    await restore(config, {
      folder: resolve(given),
      force: force === true,
      pauseWebhooks: pauseWebhooks === true,
      trust: trustBackup === true,
    }),
  );
  const target = config.database.kind === "embedded" ? config.database.folder : "";
  const { manifest, aside = null, origin, differences, ...numbers } = restored;
  reportTrust(origin, differences);
  if (json) return printJson({ target, aside, origin, ...numbers, manifest });
  printContents(manifest);
  print(`\nRestored the backup of ${manifest.takenAt} to ${target}.`);
  if (aside !== null) print(`The previous contents are now in ${aside}.`);
  reportWebhooks(restored);
};

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

const reportWebhooks = (restored: Restored): void => {
  const { pausedWebhooks, pendingDeliveries, unreadableSecrets } = restored;
  if (pausedWebhooks > 0) {
    print(
      `Deactivated ${counted(pausedWebhooks, "webhook")}; resume them with halyard webhooks resume.`,
    );
  }
  if (pendingDeliveries > 0) {
    print(
      `${counted(pendingDeliveries, "delivery").replace("deliverys", "deliveries")} pending. The next server sends those of active webhooks.`,
    );
  }
  if (unreadableSecrets.length > 0) {
    printAside(
      `${counted(unreadableSecrets.length, "secret")} can't be read because a key is missing (${unreadableSecrets.join(", ")}): put the secret.key of that time into the folder, or set HALYARD_SECRET_KEY to it.`,
    );
  }
};
