// Stores for the tests of backups: with a server's first contents, and with as many bytes as a copy should take time for.
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
/** A path of its own; nothing is there yet. */
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

/** As a first start leaves it, with one webhook in `production` that has a delivery pending. */
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

/** Makes the database so many megabytes larger, in events that stand in nobody's way. */
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
