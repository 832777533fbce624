// Databases for tests of backups: with the initial contents of a server, and large enough that copying takes time.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";

const root = mkdtempSync(join(tmpdir(), "halyard-test-backup-"));
after(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
/** A new path, without a file. */
export const newPath = (): string => {
  folders += 1;
  return join(root, `folder-${folders}`);
};

export const openDatabase = <T>(folder: string, work: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(join(folder, "halyard.db"), { timeout: 60_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
};

/** Like after a first start, with one webhook in `production` that has a pending delivery. */
export const makeStore = async (
  folder = newPath(),
): Promise<{ folder: string; keys: Readonly<Record<string, string>> }> => {
  const operator = await composeOperator(parseConfig({ HALYARD_DATA: folder }));
  const first = await operator.environments.bootstrap([]);
  await operator.close();
  if (!first.ok) throw new Error(first.failure.message);
  const keys = Object.fromEntries(first.value.map(({ environment, text }) => [environment, text]));
  return { folder, keys };
};

/** Enlarges the database by this number of megabytes, with events that don't matter otherwise. */
export const addBallast = (folder: string, megabytes: number): void =>
  openDatabase(folder, (database) => {
    const body = randomBytes(20_000);
    const insert = database.prepare(
      "insert into events (id, environment_id, sequence, type, ordering_key, created_at, body) values (?, 1, null, 'ballast', null, ?, ?)",
    );
    database.exec("begin");
    for (let index = 0; index < megabytes * 50; index += 1) {
      insert.run(`evt_ballast${index}`, Date.now(), body);
    }
    database.exec("commit");
  });
