// halyard restore: puts a backup into a data folder.
import { resolve } from "node:path";
import type { Restored } from "@halyard/server/compose/backup";
import { Command } from "commander";
import { jsonOption, type OperatorOptions } from "../../operator.ts";
import { print, printAside, printJson, unwrap } from "../../terminal/output.ts";
import { printContents } from "./backup.ts";

interface RestoreOptions extends OperatorOptions {
  readonly force?: boolean;
  readonly pauseWebhooks?: boolean;
}

export const restoreCommand = (): Command =>
  new Command("restore")
    .description("put a backup into a data folder, after checking every byte of it")
    .argument("<folder>", "the backup")
    .option("--data <folder>", "where to (instead of HALYARD_DATA); made when it is missing")
    .option("--force", "move a database that is there aside; it is never deleted")
    .option(
      "--pause-webhooks",
      "set every webhook inactive, so that a copy for a test calls nobody",
    )
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
Stop the server of that folder first. Deliveries that were pending when the backup was taken are sent again by the next
server, also those that have arrived since: receivers drop them by the event's id. --pause-webhooks keeps them back.

Examples:
  halyard restore /var/backups/halyard/monday --data ./data
  halyard restore /var/backups/halyard/monday --data ./trial --pause-webhooks`,
    )
    .action(restoreFrom);

const restoreFrom = async (
  given: string,
  { data, json, force, pauseWebhooks }: RestoreOptions,
): Promise<void> => {
  const { parseConfig } = await import("@halyard/server/config");
  const { restore } = await import("@halyard/server/compose/backup");
  const chosen = data === undefined ? {} : { HALYARD_DATA: data, DATABASE_URL: undefined };
  const config = parseConfig({ ...process.env, ...chosen });
  const restored = unwrap(
    await restore(config, {
      folder: resolve(given),
      force: force === true,
      pauseWebhooks: pauseWebhooks === true,
    }),
  );
  const target = config.database.kind === "embedded" ? config.database.folder : "";
  const { manifest, aside = null, ...numbers } = restored;
  if (json) return printJson({ target, aside, ...numbers, manifest });
  printContents(manifest);
  print(`\nRestored to ${target} as it was at ${manifest.takenAt}.`);
  if (aside !== null) print(`What was there before is now in ${aside}.`);
  sayOfWebhooks(restored);
};

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

const sayOfWebhooks = (restored: Restored): void => {
  const { pausedWebhooks, pendingDeliveries, unreadableSecrets } = restored;
  if (pausedWebhooks > 0) {
    print(`Set ${counted(pausedWebhooks, "webhook")} inactive; set them active again one by one.`);
  }
  if (pendingDeliveries > 0) {
    print(
      `${counted(pendingDeliveries, "delivery").replace("deliverys", "deliveries")} pending: the next server sends what belongs to active webhooks.`,
    );
  }
  if (unreadableSecrets.length > 0) {
    printAside(
      `The secrets of ${counted(unreadableSecrets.length, "webhook")} need a key that is not here (${unreadableSecrets.join(", ")}): put the secret.key of that time into the folder, or give it in HALYARD_SECRET_KEY.`,
    );
  }
};
