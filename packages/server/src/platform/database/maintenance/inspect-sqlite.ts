// Inspects an embedded database and its files without changing them.
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../schema/migrate.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { databaseFile, distrustSchema } from "../sqlite/data-folder.ts";
import { sqliteOn } from "../sqlite/driver.ts";
import { openImmutable } from "./backup.ts";
import { type Inspected, inspectRows } from "./inspect.ts";
import { type SchemaDifference, schemaDifferences } from "./schema-differences.ts";

export interface InspectedFile {
  readonly kind: "embedded";
  readonly folder: string;
  readonly path: string;
  /** Permission bits. */
  readonly folderMode: number;
  readonly fileMode: number;
  readonly writable: boolean;
  readonly bytes: number;
  readonly logBytes: number;
  readonly freeBytes: number;
  /** Folders left behind by an interrupted restore. */
  readonly leftovers: readonly string[];
  /** What in the schema is not Halyard's. */
  readonly differences: readonly SchemaDifference[];
  /** What is damaged; undefined when nothing is. */
  readonly damage: string | undefined;
  readonly schemaVersion: number;
  readonly newestSchemaVersion: number;
  /** Undefined when the database is damaged or has another schema version. */
  readonly rows: Inspected | undefined;
}

const mayWrite = (...paths: readonly string[]): boolean => {
  try {
    for (const path of paths) accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

interface Content {
  readonly differences: readonly SchemaDifference[];
  readonly damage: string | undefined;
  readonly schemaVersion: number;
  readonly rows: Inspected | undefined;
}

const damagedContent = (damage: string): Content => ({
  damage,
  differences: [],
  schemaVersion: 0,
  rows: undefined,
});

const read = async (
  connection: DatabaseSync,
  secrets: SecretCipher | undefined,
): Promise<Content> => {
  const [found] = connection.prepare("pragma quick_check(1)").all();
  const said = String(found?.quick_check);
  if (said !== "ok") return damagedContent(said);
  const table = connection.prepare("select 1 from sqlite_schema where name = 'schema_version'");
  const schemaVersion = table.get()
    ? Number(connection.prepare("select version from schema_version").get()?.version ?? 0)
    : 0;
  const database = sqliteOn(connection);
  const isKnown = schemaVersion === migrations.length;
  return {
    damage: undefined,
    // Without any table of ours it is another database, or an empty one.
    differences:
      schemaVersion > 0 ? ((await schemaDifferences(connection, schemaVersion)) ?? []) : [],
    schemaVersion,
    rows: isKnown ? await inspectRows(database, secrets) : undefined,
  };
};

const readContent = async (path: string, secrets: SecretCipher | undefined): Promise<Content> => {
  const isInUse = () => existsSync(`${path}-wal`);
  // While nothing uses the database, it is opened without creating files beside it.
  const isUnused = !isInUse();
  let connection: DatabaseSync | undefined;
  let content: Content;
  try {
    connection = isUnused
      ? openImmutable(path)
      : distrustSchema(new DatabaseSync(path, { readOnly: true, timeout: 5_000 }));
    content = await read(connection, secrets);
  } catch (error) {
    content = damagedContent(error instanceof Error ? error.message : String(error));
  } finally {
    connection?.close();
  }
  // A server started meanwhile and may have written during the read.
  return isUnused && isInUse() ? readContent(path, secrets) : content;
};

export const inspectSqlite = async (
  folder: string,
  secrets: SecretCipher | undefined,
): Promise<InspectedFile> => {
  const path = join(folder, databaseFile);
  const { bavail, bsize } = statfsSync(folder);
  const modeOf = (name: string) => statSync(name).mode & 0o777;
  return {
    kind: "embedded",
    folder,
    path,
    folderMode: modeOf(folder),
    fileMode: modeOf(path),
    writable: mayWrite(folder, path),
    bytes: statSync(path).size,
    logBytes: existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0,
    freeBytes: bavail * bsize,
    leftovers: readdirSync(folder).filter((name) => name.startsWith(".restoring-")),
    newestSchemaVersion: migrations.length,
    ...(await readContent(path, secrets)),
  };
};
