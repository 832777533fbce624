// How a command finds its server and key: by options, then by environment variables, then by the active profile.
import { createManagement, type Management, type ManagementError, type Result } from "@halyard/sdk";
import { type Command, Option } from "commander";
import { exitCodeOf, exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed } from "../terminal/output.ts";
import { type Profile, profileNamed, readProfiles } from "./profiles.ts";

export interface ConnectionOptions {
  readonly url?: string;
  readonly key?: string;
  readonly profile?: string;
}

export interface Connection extends Profile {
  readonly management: Management;
}

const defaultUrl = "http://127.0.0.1:4400";

/** In the help of `--url`. */
export const urlDescription = `the server's address (HALYARD_URL; ${defaultUrl} by default)`;

/** The server's address without --url. */
export const defaultAddress = (): string => process.env.HALYARD_URL || defaultUrl;

/** Adds the options of every command that calls a server. */
export const serverCommand = (
  command: Command,
  role: "an admin" | "a server" | "any" = "an admin",
): Command =>
  command
    .addOption(server("--url <address>", urlDescription))
    .addOption(
      server("--key <key>", `${role} API key; it decides the environment (HALYARD_API_KEY)`),
    )
    .addOption(server("-p, --profile <name>", "the name of a profile (HALYARD_PROFILE)"))
    .option("--json", "print JSON, for scripts");

const server = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup("Which server:");

interface Place {
  readonly url: string;
  readonly key: string | undefined;
}

/** Addresses appear in messages and in process lists, so they must not contain a password. */
const requirePlainAddress = (url: string): void => {
  if (!url.includes("@")) return;
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (isHttp && parsed.username === "" && parsed.password === "") return;
  throw new CommandFailed(
    "The server's address must not contain a user or a password: remove them. Halyard authenticates by --key.",
    exitCodes.usage,
  );
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

/** A profile's key goes to another address only if the command line names both. */
const placeOf = ({ url, key, profile }: ConnectionOptions): Place => {
  if (profile !== undefined) {
    const kept = profileNamed(profile);
    return { url: url ?? kept.url, key: key ?? kept.key };
  }
  const address = url ?? defaultAddress();
  requirePlainAddress(address);
  const givenKey = key ?? (process.env.HALYARD_API_KEY || undefined);
  if (givenKey !== undefined) return { url: address, key: givenKey };
  const name = process.env.HALYARD_PROFILE || readProfiles().current;
  if (name === undefined) return { url: address, key: undefined };
  const kept = profileNamed(name);
  const isAsked = url !== undefined || Boolean(process.env.HALYARD_URL);
  if (!isAsked || withoutSlash(address) === withoutSlash(kept.url)) return kept;
  throw new CommandFailed(
    `An API key for ${address} is needed: the profile "${name}" is for ${kept.url}. Pass --key, or --profile ${name} to use its key there.`,
    exitCodes.refused,
  );
};

export const connect = (options: ConnectionOptions): Connection => {
  const { url, key } = placeOf(options);
  if (key === undefined || key === "") {
    throw new CommandFailed(
      "An API key is needed: pass it with --key or HALYARD_API_KEY, or save it with halyard profiles set.",
      exitCodes.refused,
    );
  }
  return connectTo({ url, key });
};

export const connectTo = ({ url, key }: Profile): Connection => {
  requirePlainAddress(url);
  try {
    return { url, key, management: createManagement({ url, key }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The SDK begins with the name of its option.
    const sentence = message.replace(/^url /, "The address ").replace(/^key /, "The key ");
    throw new CommandFailed(`${sentence}.`, exitCodes.usage);
  }
};

/** By the beginning of the server's message. */
const whereToLook = {
  "The flag": " halyard flags list shows the flags that exist.",
  "The webhook": " halyard webhooks list shows the webhooks that exist.",
  "The API key": " halyard keys list shows the keys that exist.",
};

const nextStep = ({ code, details, message }: ManagementError, url: string): string => {
  switch (code) {
    case "UNREACHABLE":
      return ` Start a server at ${url}, or pass another address with --url or --profile.`;
    case "UNEXPECTED_ANSWER":
      return ` Is ${url} the address of a Halyard server?`;
    case "UNAUTHORIZED":
      return " Check --key, HALYARD_API_KEY or the profile.";
    case "FORBIDDEN":
      return " Use another key: halyard keys create creates one.";
    case "NOT_FOUND":
      return Object.entries(whereToLook).find(([what]) => message.startsWith(what))?.[1] ?? "";
    case "VALIDATION_FAILED":
      // The message contains the first.
      return (details ?? [])
        .slice(1)
        .map((detail) => `\n  ${detail.field} ${detail.message}`)
        .join("");
    default:
      return "";
  }
};

/** The server's message and the next step. */
export const sentenceOf = ({ url }: Profile, error: ManagementError): string => {
  const sentence = error.message.replace(/[.]?$/, ".");
  // The message begins with the name of the field, whose case must stay.
  const first =
    error.code === "VALIDATION_FAILED" ? sentence.charAt(0) : sentence.charAt(0).toUpperCase();
  return first + sentence.slice(1) + nextStep(error, url);
};

export const failureOf = (profile: Profile, error: ManagementError): CommandFailed => {
  const { code, details } = error;
  return new CommandFailed(sentenceOf(profile, error), exitCodeOf(code), { code, details });
};

/** The value; fails with the error otherwise. */
export const answered = <T>(profile: Profile, result: Result<T>): T => {
  if (result.ok) return result.value;
  throw failureOf(profile, result.error);
};
