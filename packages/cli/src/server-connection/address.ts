// Finds the server's address and its source. A specified address takes precedence over a local database.
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed, inOneLine } from "../terminal/output.ts";
import { profileNamed, readProfiles } from "./profiles.ts";

export interface AddressOptions {
  readonly url?: string;
  readonly profile?: string;
}

const defaultUrl = "http://127.0.0.1:4400";

/** In the help of `--url`. */
export const urlDescription = `the server's address (HALYARD_URL; ${defaultUrl} by default)`;

export const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

/** The server's address without --url. */
export const defaultAddress = (): string => process.env.HALYARD_URL || defaultUrl;

export const activeName = (): string | undefined =>
  process.env.HALYARD_PROFILE || readProfiles().current;

/** Addresses appear in messages and process lists, so they must not contain a password. */
export const requirePlainAddress = (url: string): void => {
  if (!url.includes("@")) return;
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (isHttp && parsed.username === "" && parsed.password === "") return;
  throw new CommandFailed(
    "The server's address must not contain a user or a password. Use --key to authenticate.",
    exitCodes.usage,
  );
};

interface Given {
  readonly url: string;
  /** The source of the address, such as HALYARD_URL. */
  readonly by: string;
}

/** The address from an option, a variable or a profile. */
export const givenAddress = ({ url, profile }: AddressOptions): Given | undefined => {
  if (url !== undefined) return { url, by: "--url" };
  if (profile !== undefined) return { url: profileNamed(profile).url, by: `--profile ${profile}` };
  const { HALYARD_URL, HALYARD_PROFILE } = process.env;
  if (HALYARD_URL) return { url: HALYARD_URL, by: "HALYARD_URL" };
  if (HALYARD_PROFILE) {
    return { url: profileNamed(HALYARD_PROFILE).url, by: `HALYARD_PROFILE=${HALYARD_PROFILE}` };
  }
  const { current } = readProfiles();
  if (current === undefined) return undefined;
  return { url: profileNamed(current).url, by: `the active profile "${current}"` };
};

/** The server's address, which needs no key: the specified one, or the default. */
export const addressOf = (options: AddressOptions): string => {
  const address = givenAddress(options)?.url ?? defaultUrl;
  requirePlainAddress(address);
  return address;
};

/** The option that specifies the database of the settings. */
export const dataHint = (): string =>
  process.env.DATABASE_URL
    ? '--data "$DATABASE_URL"'
    : `--data ${inOneLine(process.env.HALYARD_DATA || "./data")}`;

/** Prevents a command from working on a local database by accident if an address is set and --data is not. */
export const requireNoAddress = (options: AddressOptions = {}): void => {
  const given = givenAddress(options);
  if (given === undefined) return;
  requirePlainAddress(given.url);
  throw new CommandFailed(
    `This command works on a database, but ${given.by} points to ${inOneLine(given.url)}. To use the database, pass ${dataHint()}`,
    exitCodes.usage,
  );
};
