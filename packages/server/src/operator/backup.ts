// The composition root of backup and restore of the embedded store.
import { join } from "node:path";
import {
  type BackupRequest,
  type BackupTaken,
  takeBackup,
} from "../platform/database/maintenance/backup-folder.ts";
import {
  type Restored,
  type RestoreRequest,
  restoreBackup,
} from "../platform/database/maintenance/restore.ts";
import {
  type VerifiedBackup,
  verifyBackup,
} from "../platform/database/maintenance/verify-backup.ts";
import { readSecretKey, secretKeyFile } from "../platform/database/secrets/secret-key-file.ts";
import { hasDatabase } from "../platform/database/sqlite/data-folder.ts";
import { fail, type Result } from "../platform/errors.ts";
import type { Config } from "../process/settings/config.ts";
import { version } from "../version.ts";
import { systemClock } from "./operator.ts";

export type { Manifest } from "../platform/database/maintenance/backup-manifest.ts";
export type { Restored } from "../platform/database/maintenance/restore.ts";
export type { Origin } from "../platform/database/maintenance/verify-backup.ts";

type BackupChoice = Pick<BackupRequest, "folder" | "withSecretKey" | "progress" | "began">;
type RestoreChoice = Pick<RestoreRequest, "folder" | "force" | "pauseWebhooks" | "trust">;

const refuse = (message: string): Result<never> => fail({ code: "VALIDATION_FAILED", message });

export const backUp = async (
  { database, secretKeys }: Config,
  choice: BackupChoice,
): Promise<Result<BackupTaken>> => {
  if (database.kind === "postgres") {
    return refuse(
      `The data is in PostgreSQL (${database.name}), which has its own tools: use pg_dump there, or \`halyard copy --from "$DATABASE_URL" --to FOLDER\` and then \`halyard backup --data FOLDER\`.`,
    );
  }
  if (!hasDatabase(database.folder)) {
    return fail({
      code: "NOT_FOUND",
      message: `There is no Halyard database in ${database.folder}: run this in the folder of the server, or name its data folder with --data or HALYARD_DATA.`,
    });
  }
  return takeBackup({
    ...choice,
    data: database.folder,
    secretKey: secretKeys[0] ?? readSecretKey(join(database.folder, secretKeyFile)),
    halyardVersion: version,
    takenAt: systemClock(),
  });
};

export const restore = async (
  { database, secretKeys }: Config,
  choice: RestoreChoice,
): Promise<Result<Restored>> => {
  if (database.kind === "postgres") {
    return refuse(
      `DATABASE_URL names PostgreSQL (${database.name}), and a backup is of the embedded store: restore it into a folder with --data FOLDER, and then \`halyard copy --from FOLDER --to "$DATABASE_URL"\`. Restore a dump of pg_dump with pg_restore.`,
    );
  }
  return restoreBackup({ ...choice, target: database.folder, secretKeys, now: systemClock() });
};

/** With `trust`, also a backup whose origin or schema cannot be proven. */
export const verify = (
  { database, secretKeys }: Config,
  folder: string,
  trust: boolean,
): Promise<Result<VerifiedBackup>> =>
  verifyBackup({
    folder,
    trust,
    secretKeys,
    data: database.kind === "embedded" ? database.folder : "",
  });
