// New stores that are migrated already: to migrate each takes as long as all else that a start does. Other tests begin with nothing.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "@halyard/server";
import { openEngine } from "../../src/operator/operator.ts";
import { newDatabase, unhurriedStatements } from "./postgres.ts";

const file = "halyard.db";
let bytes: Promise<Buffer> | undefined;
let template: Promise<string> | undefined;

const migrate = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  const engine = await openEngine(parseConfig(settings));
  await engine.close();
};

const makeBytes = async (): Promise<Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-test-"));
  await migrate({ HALYARD_DATA: folder });
  const made = readFileSync(join(folder, file));
  rmSync(folder, { recursive: true, force: true });
  return made;
};

/** For the embedded store in this new folder. */
export const writeMigratedFile = async (folder: string): Promise<void> => {
  bytes ??= makeBytes();
  writeFileSync(join(folder, file), await bytes, { mode: 0o600, flag: "wx" });
};

const makeTemplate = async (): Promise<string> => {
  const url = await newDatabase();
  await migrate({
    DATABASE_URL: url,
    HALYARD_SECRET_KEY: randomBytes(32).toString("base64"),
    HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
  });
  return new URL(url).pathname.slice(1);
};

/** The name of a database of PostgreSQL to make others from. */
export const migratedTemplate = (): Promise<string> => {
  template ??= makeTemplate();
  return template;
};
