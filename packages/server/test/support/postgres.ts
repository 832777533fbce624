// Databases for tests, on the PostgreSQL server that scripts/test.ts has started or TEST_DATABASE_URL names.
import { randomBytes } from "node:crypto";
import { escapeIdentifier, Pool, type PoolConfig, type QueryResultRow, types } from "pg";

/** HALYARD_POSTGRES_TIMEOUT: on a busy machine PostgreSQL is slow too. The tests about an outage have the usual one. */
export const unhurriedStatements = "600";

const serverUrl = (): string => {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return url;
  throw new Error(
    "There is no PostgreSQL: run the tests with `node scripts/test.ts FILE`, or set TEST_DATABASE_URL.",
  );
};

export const urlOf = (name: string): string => {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
};

const int8 = 20;
const parsers: NonNullable<PoolConfig["types"]> = {
  getTypeParser: (id: number, format?: "text" | "binary") =>
    id === int8 ? Number : types.getTypeParser(id, format),
};

/** One connection for each database; an idle one keeps no test from ending. */
const pools = new Map<string, Pool>();
const poolOf = (url: string): Pool => {
  const known = pools.get(url);
  if (known) return known;
  const pool = new Pool({
    connectionString: url,
    types: parsers,
    max: 1,
    allowExitOnIdle: true,
    application_name: "test",
  });
  // A test may end the server's side of it.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  pools.set(url, pool);
  return pool;
};

export const query = async <R extends QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> => (await poolOf(url).query<R>(text, [...values])).rows;

const made = new Map<string, Promise<string>>();

/** Gives its URL. What is made here is dropped when the process ends. */
export const makeDatabase = (
  name: string,
  templateName: () => Promise<string> = async () => "template1",
): Promise<string> => {
  const known = made.get(name);
  if (known) return known;
  const make = async (): Promise<string> => {
    const from = escapeIdentifier(await templateName());
    // Copied as files: by way of the log, as usual, it takes twice as long.
    const how = `template ${from} strategy file_copy`;
    await query(serverUrl(), `create database ${escapeIdentifier(name)} ${how}`);
    return urlOf(name);
  };
  const making = make();
  made.set(name, making);
  return making;
};

export const newDatabase = (): Promise<string> =>
  makeDatabase(`halyard-test-${randomBytes(8).toString("hex")}`);

export const dropDatabase = async (name: string): Promise<void> => {
  if (!made.delete(name)) return;
  const url = urlOf(name);
  await pools.get(url)?.end();
  pools.delete(url);
  await query(serverUrl(), `drop database if exists ${escapeIdentifier(name)} with (force)`);
};

const dropAll = async (): Promise<void> => {
  try {
    for (const name of [...made.keys()]) await dropDatabase(name);
  } catch (error) {
    // A test that had a server of its own has removed it, with its databases.
    if ((error as { code?: unknown }).code !== "ECONNREFUSED") throw error;
  }
};
process.once("beforeExit", () => void dropAll());
