// A backup as a folder: written under a temporary name, and renamed when complete.
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { conflict, fail, ok, type Result, StartupProblem } from "../../errors.ts";
import { secretKeyFile } from "../secrets/secret-key-file.ts";
import { databaseFile, makeFolder } from "../sqlite/data-folder.ts";
import { copyDatabaseFile, openImmutable, sizeOfDatabase } from "./backup.ts";
import {
  type BackupFile,
  type Manifest,
  manifestFile,
  renderManifest,
  signManifest,
} from "./backup-manifest.ts";
import { describeDifference, schemaDifferences } from "./schema-differences.ts";

export interface BackupRequest {
  /** The data folder. */
  readonly data: string;
  readonly folder: string;
  readonly withSecretKey: boolean;
  /** The newest secret key signs the backup; undefined when there is none here. */
  readonly secretKey: Uint8Array | undefined;
  readonly halyardVersion: string;
  readonly takenAt: Date;
  readonly progress: (done: number, total: number) => void;
  /** Called with the temporary name, so that an interrupted command can remove it. */
  readonly began: (draft: string) => void;
}

export interface BackupTaken {
  readonly manifest: Manifest;
  /** What somebody added to the schema, or changed in it, one sentence each. */
  readonly differences: readonly string[];
}

/** Bytes that a file system needs besides the content. */
const spareBytes = 4_194_304;

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** The nearest folder that exists. */
const nearest = (folder: string): string =>
  existsSync(folder) ? folder : nearest(dirname(folder));

export const requireSpace = (folder: string, bytes: number): Result<void> => {
  const { bavail, bsize } = statfsSync(nearest(resolve(folder)));
  const free = bavail * bsize;
  return free >= bytes + spareBytes
    ? ok(undefined)
    : fail({
        code: "UNAVAILABLE",
        message: `Not enough disk space at ${folder}: ${megabytes(bytes + spareBytes)} needed, ${megabytes(free)} free.`,
      });
};

/** Flushes a file or folder to the disk. */
export const flush = (path: string): void => {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

export const describeFile = async (folder: string, name: string): Promise<BackupFile> => {
  const path = join(folder, name);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), hash);
  return { name, bytes: statSync(path).size, sha256: hash.digest("hex") };
};

const isTaken = (folder: string): boolean =>
  existsSync(folder) && !(statSync(folder).isDirectory() && readdirSync(folder).length === 0);

export const takeBackup = async (request: BackupRequest): Promise<Result<BackupTaken>> => {
  const { data, folder, halyardVersion, progress, secretKey } = request;
  if (isTaken(folder)) {
    return conflict(`${folder} already exists and is not empty: choose another folder.`);
  }
  const draft = join(
    dirname(folder),
    `${basename(folder)}.partial-${randomBytes(4).toString("hex")}`,
  );
  try {
    const room = requireSpace(folder, sizeOfDatabase(data));
    if (!room.ok) return room;
    request.began(draft);
    makeFolder(dirname(folder));
    mkdirSync(draft, { mode: 0o700 });
    const contents = await copyDatabaseFile(data, join(draft, databaseFile), progress);
    const hasKey = existsSync(join(data, secretKeyFile));
    const isIncluded = hasKey && request.withSecretKey;
    if (isIncluded) copyFileSync(join(data, secretKeyFile), join(draft, secretKeyFile));
    const names = [databaseFile, ...(isIncluded ? [secretKeyFile] : [])];
    const files: BackupFile[] = [];
    for (const name of names) {
      files.push(await describeFile(draft, name));
      chmodSync(join(draft, name), 0o600);
      flush(join(draft, name));
    }
    const unsigned: Manifest = {
      halyardVersion,
      schemaVersion: contents.schemaVersion,
      takenAt: request.takenAt.toISOString(),
      secretKey: isIncluded ? "included" : hasKey ? "left out" : "none",
      environments: contents.environments,
      rows: contents.rows,
      files,
    };
    const manifest = secretKey ? signManifest(unsigned, secretKey) : unsigned;
    const differences = await differencesIn(join(draft, databaseFile), contents.schemaVersion);
    // Written last: a folder without it is not a backup.
    writeFileSync(join(draft, manifestFile), renderManifest(manifest), {
      mode: 0o600,
      flush: true,
    });
    flush(draft);
    renameSync(draft, folder);
    flush(dirname(folder));
    return ok({ manifest, differences: differences ?? [] });
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (error instanceof Error && "errcode" in error) {
      throw new StartupProblem(
        `The database in ${data} cannot be copied (${error.message}): run \`halyard doctor\` to find out why.`,
      );
    }
    throw explainFileProblem(error, folder);
  }
};

/** One sentence each; undefined for a schema that is newer than this Halyard. */
export const differencesIn = async (
  path: string,
  schemaVersion: number,
): Promise<readonly string[] | undefined> => {
  const database = openImmutable(path);
  try {
    return (await schemaDifferences(database, schemaVersion))?.map(describeDifference);
  } finally {
    database.close();
  }
};

/** Turns an error of the file system into one for the operator. */
export const explainFileProblem = (error: unknown, folder: string): unknown =>
  error instanceof Error && "syscall" in error
    ? new StartupProblem(
        `${folder} cannot be written (${error.message}): choose another folder, or give this user the right to write there.`,
      )
    : error;
