// Restores a backup into a data folder: at every moment the folder holds the complete old or the complete new database.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { operator } from "../../auth/principal.ts";
import { conflict, fail, ok, type Result } from "../../errors.ts";
import { appendEntry, lockHead } from "../schema/chain.ts";
import { migrations } from "../schema/migrate.ts";
import { encryptedColumns, isRowReadable } from "../secrets/encrypted-rows.ts";
import { createSecretCipher } from "../secrets/secret-cipher.ts";
import { readSecretKey, secretKeyFile } from "../secrets/secret-key-file.ts";
import { databaseFile, distrustSchema, makeFolder } from "../sqlite/data-folder.ts";
import { createWriter } from "../sqlite/driver.ts";
import { sqliteDialect } from "../sqlite/traits.ts";
import { openImmutable } from "./backup.ts";
import { describeFile, explainFileProblem, flush, requireSpace } from "./backup-folder.ts";
import type { Manifest } from "./backup-manifest.ts";
import { takeExclusiveLock } from "./exclusive-lock.ts";
import { type VerifiedBackup, verifyBackup } from "./verify-backup.ts";

export interface RestoreRequest {
  /** The backup. */
  readonly folder: string;
  /** The data folder. */
  readonly target: string;
  /** Accept a backup whose origin or schema cannot be proven. */
  readonly trust: boolean;
  /** Moves an existing database aside. */
  readonly force: boolean;
  readonly pauseWebhooks: boolean;
  /** Secret keys from a setting. */
  readonly secretKeys: readonly Uint8Array[];
  readonly now: Date;
}

export interface Restored extends VerifiedBackup {
  /** The folder with the previous database. */
  readonly aside: string | undefined;
  readonly pausedWebhooks: number;
  /** Deliveries that the server will send after its start. */
  readonly pendingDeliveries: number;
  /** Webhooks and people whose secret was encrypted with a key that is missing. */
  readonly unreadableSecrets: readonly string[];
}

/** With the log and the journal, which SQLite would apply to the new database. */
const databaseFiles = ["", "-wal", "-shm", "-journal"].map((suffix) => databaseFile + suffix);

export const restoreBackup = async (request: RestoreRequest): Promise<Result<Restored>> => {
  const { folder, target, force } = request;
  const verified = await verifyBackup({ ...request, data: target });
  if (!verified.ok) return verified;
  const { manifest } = verified.value;
  if (manifest.schemaVersion > migrations.length) {
    return fail({
      code: "VALIDATION_FAILED",
      message: `The backup has schema version ${manifest.schemaVersion}, but this version of Halyard supports only up to ${migrations.length}: restore it with Halyard ${manifest.halyardVersion} or newer.`,
    });
  }
  const present = databaseFiles.filter((name) => existsSync(join(target, name)));
  if (present.length > 0 && !force) {
    return conflict(
      `${target} already holds a database (${present.join(", ")}): choose another folder with --data, or add --force to move it aside.`,
    );
  }
  const bringsKey = manifest.secretKey === "included";
  const keyDiffers =
    bringsKey &&
    existsSync(join(target, secretKeyFile)) &&
    !readFileSync(join(target, secretKeyFile)).equals(readFileSync(join(folder, secretKeyFile)));
  if (keyDiffers && !force) {
    return conflict(
      `${target} already holds another ${secretKeyFile}: choose another folder with --data, or add --force to move it aside.`,
    );
  }
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const space = requireSpace(target, bytes);
  if (!space.ok) return space;

  const stage = join(target, `.restoring-${randomBytes(4).toString("hex")}`);
  try {
    makeFolder(target);
    mkdirSync(stage, { mode: 0o700 });
    const changed = await stageFiles(request, manifest, stage);
    if (!changed.ok) return changed;
    // With its key, so that a server could be started on the folder.
    const old = present.length > 0 || keyDiffers ? [...present, secretKeyFile] : [];
    const aside = putInPlace(request, manifest, stage, old);
    if (!aside.ok) return aside;
    return ok({ ...verified.value, aside: aside.value, ...changed.value });
  } catch (error) {
    throw explainFileProblem(error, target);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
};

type Changed = Pick<Restored, "pausedWebhooks" | "pendingDeliveries" | "unreadableSecrets">;

const stageFiles = async (
  { folder, target, pauseWebhooks, secretKeys, now }: RestoreRequest,
  { files, secretKey }: Manifest,
  stage: string,
): Promise<Result<Changed>> => {
  for (const file of files) {
    copyFileSync(join(folder, file.name), join(stage, file.name));
    chmodSync(join(stage, file.name), 0o600);
    if (!isDeepStrictEqual(await describeFile(stage, file.name), file)) {
      return fail({
        code: "UNAVAILABLE",
        message: `The copy of ${file.name} in ${target} differs from the backup, so nothing was restored: check the disk.`,
      });
    }
  }
  const path = join(stage, databaseFile);
  const pausedWebhooks = pauseWebhooks ? await deactivateWebhooks(path, now) : 0;
  const keyOfFile = readSecretKey(join(secretKey === "included" ? stage : target, secretKeyFile));
  const keys = [...secretKeys, ...(keyOfFile ? [keyOfFile] : [])];
  const database = openImmutable(path);
  try {
    const pending = database
      .prepare("select count(*) as count from deliveries where state = 'pending'")
      .get();
    return ok({
      pausedWebhooks,
      pendingDeliveries: Number(pending?.count),
      unreadableSecrets: unreadable(database, keys),
    });
  } finally {
    database.close();
    for (const { name } of files) flush(join(stage, name));
    flush(stage);
  }
};

const unreadable = (
  database: DatabaseSync,
  [newest, ...older]: readonly Uint8Array[],
): readonly string[] => {
  const secrets = newest && createSecretCipher([newest, ...older]);
  // A backup of an earlier version has fewer tables.
  const present = database.prepare("select name from sqlite_master where type = 'table'").all();
  const names = new Set(present.map(({ name }) => name));
  return (
    Object.entries(encryptedColumns)
      // The key of the address hashes is no secret of a webhook or person.
      .filter(([table]) => names.has(table) && table !== "installation")
      .flatMap(([table, columns]) => {
        const rows = database.prepare(`select id, ${columns.join(", ")} from ${table} order by id`);
        return rows.all().filter((row) => !isRowReadable(row, columns, secrets));
      })
      .map(({ id }) => String(id))
  );
};

/** Deactivates all webhooks, with an entry in the history for each. */
const deactivateWebhooks = async (path: string, now: Date): Promise<number> => {
  const connection = distrustSchema(new DatabaseSync(path));
  try {
    return await createWriter(connection).transact(async (database) => {
      const paused = await database
        .updateTable("webhooks")
        .set({ active: 0, failing_since: null })
        .where("active", "=", 1)
        .returning(["id", "environment_id", "url", "events"])
        .execute();
      for (const { id, environment_id, url, events } of paused) {
        const head = await lockHead(database, sqliteDialect, environment_id);
        if (!head) continue;
        const shown = { id, url, events: JSON.parse(events) as unknown };
        await appendEntry(database, environment_id, head, {
          ...{ subject: "webhook", subjectId: id, version: null, at: now },
          ...{ actor: operator, actions: ["webhook.updated"] },
          before: { ...shown, active: true },
          after: { ...shown, active: false },
        });
      }
      return paused.length;
    });
  } finally {
    connection.close();
  }
};

/** Returns the folder with the previous files. */
const putInPlace = (
  { target, now }: RestoreRequest,
  { files }: Manifest,
  stage: string,
  old: readonly string[],
): Result<string | undefined> => {
  const lock = takeExclusiveLock(join(target, databaseFile));
  if (lock.kind === "busy") {
    return conflict(
      `${target} is in use by a server or another command: stop it first. Nothing was changed.`,
    );
  }
  try {
    const aside =
      old.length > 0
        ? join(target, `replaced-${now.toISOString().replaceAll(/[-:.]/g, "")}`)
        : undefined;
    if (aside !== undefined) {
      mkdirSync(aside, { mode: 0o700 });
      for (const name of old) setAside(target, name, aside);
      flush(aside);
    }
    // The database last: a server looks for it.
    for (const { name } of files.toReversed()) renameSync(join(stage, name), join(target, name));
    flush(target);
    return ok(aside);
  } finally {
    lock.release();
  }
};

const setAside = (target: string, name: string, aside: string): void => {
  const [from, to] = [join(target, name), join(aside, name)];
  // SQLite removed it with the last connection.
  if (!existsSync(from)) return;
  if (name !== databaseFile && name !== secretKeyFile) {
    renameSync(from, to);
    return;
  }
  // It also keeps its old name until the new file replaces it, so that it is never missing.
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
    flush(to);
  }
};
