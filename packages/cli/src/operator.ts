// Opens the database for one command, and closes it afterwards.
import type { Operator } from "@halyard/server/operator";
import type { Config } from "@halyard/server/settings";
import type { Command } from "commander";
import { requireNoAddress } from "./server-connection/address.ts";
import { exitCodes } from "./terminal/exit-codes.ts";
import { CommandFailed, inOneLine } from "./terminal/output.ts";

export const dataOption = [
  "--data <place>",
  "the database: a data folder, or postgres://user:password@host/database",
] as const;
export const jsonOption = ["--json", "print JSON, for scripts"] as const;

export interface OperatorOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** The variables that specify this database, from a folder or a postgres:// address. */
const variablesFor = (data: string) =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(data)
    ? { DATABASE_URL: data }
    : { HALYARD_DATA: data, DATABASE_URL: undefined };

/** The environment variables of the process, with the database from --data. */
export const variablesWith = (data: string | undefined): NodeJS.ProcessEnv => ({
  ...process.env,
  ...(data !== undefined && variablesFor(data)),
});

/** The settings; options override environment variables. */
export const configFor = async (data: string | undefined): Promise<Config> => {
  // Loaded on demand, so that help appears without delay.
  const { parseConfig } = await import("@halyard/server/settings");
  return parseConfig(variablesWith(data));
};

/** The settings for a command on the database: from --data, or from the environment variables if no address is set. */
export const databaseConfig = async (data: string | undefined): Promise<Config> => {
  if (data === undefined) requireNoAddress();
  return configFor(data);
};

/** Only the server creates a database, so that a mistyped folder does not become an empty one. */
export const requireStore = async (config: Config): Promise<void> => {
  const { hasStore } = await import("@halyard/server/operator");
  if (await hasStore(config)) return;
  throw new CommandFailed(
    config.database.kind === "embedded"
      ? `There is no Halyard database in ${config.database.folder}: run this in the server's folder, or pass its data folder with --data.`
      : `The database ${config.database.name} has no Halyard tables: check DATABASE_URL, or start the server on it first.`,
    exitCodes.notFound,
  );
};

/** Fails with the exit code for "unavailable" if another process holds the database. */
export const whenAvailable = async <T>(work: () => Promise<T>): Promise<T> => {
  const { StoreUnavailable } = await import("@halyard/server/errors");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new CommandFailed(error.message, exitCodes.unavailable);
  }
};

/** The database of a command, in words. */
export interface DatabasePlace {
  /** Such as ` in the database /var/lib/halyard`. */
  readonly text: string;
  /** The same place as JSON. */
  readonly json: { readonly database: string };
}

export const databasePlace = ({ database }: Config): DatabasePlace => {
  const name = database.kind === "embedded" ? database.folder : database.name;
  return { text: inOneLine(` in the database ${name}`), json: { database: name } };
};

/** The address of a server with these settings, seen from this machine. */
export const localAddress = ({ host, port }: Pick<Config, "host" | "port">): string => {
  const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const name = everywhere[host] ?? host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

export const withOperator = async (
  { data }: OperatorOptions,
  work: (operator: Operator, place: DatabasePlace) => Promise<void>,
): Promise<void> => {
  const config = await databaseConfig(data);
  const { composeOperator } = await import("@halyard/server/operator");
  await whenAvailable(async () => {
    await requireStore(config);
    const operator = await composeOperator(config);
    try {
      await work(operator, databasePlace(config));
    } finally {
      await operator.close();
    }
  });
};

/** Adds the options that all database commands have. */
export const operatorCommand = (command: Command): Command =>
  command.option(...dataOption).option(...jsonOption);
