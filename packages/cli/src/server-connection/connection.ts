// How a command reaches a running server: what the command line says, then the variables, then the chosen profile.
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

const standardUrl = "http://127.0.0.1:4400";

/** In the help of `--url`. */
export const whereServerIs = `where the server is (HALYARD_URL; else ${standardUrl})`;

/** Where the server is when the command line does not say. */
export const standardAddress = (): string => process.env.HALYARD_URL || standardUrl;

/** A command that takes the options of every command that talks to a server. */
export const serverCommand = (
  command: Command,
  role: "an admin" | "a server" | "any" = "an admin",
): Command =>
  command
    .addOption(server("--url <address>", whereServerIs))
    .addOption(
      server("--key <key>", `${role} API key; it decides the environment (HALYARD_API_KEY)`),
    )
    .addOption(server("-p, --profile <name>", "one that halyard profiles keeps (HALYARD_PROFILE)"))
    .option("--json", "print JSON, for scripts");

const server = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup("Which server:");

interface Place {
  readonly url: string;
  readonly key: string | undefined;
}

/** What stands in an address is shown, in sentences and in lists of processes: no place for a password. */
const demandPlainAddress = (url: string): void => {
  if (!url.includes("@")) return;
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (isHttp && parsed.username === "" && parsed.password === "") return;
  throw new CommandFailed(
    "The address of a server is taken without a user and a password: leave them out. Halyard knows its callers by --key.",
    exitCodes.usage,
  );
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

/** The key of a profile goes to another address than its own only when the command line names both. */
const placeOf = ({ url, key, profile }: ConnectionOptions): Place => {
  if (profile !== undefined) {
    const kept = profileNamed(profile);
    return { url: url ?? kept.url, key: key ?? kept.key };
  }
  const address = url ?? standardAddress();
  demandPlainAddress(address);
  const givenKey = key ?? (process.env.HALYARD_API_KEY || undefined);
  if (givenKey !== undefined) return { url: address, key: givenKey };
  const name = process.env.HALYARD_PROFILE || readProfiles().current;
  if (name === undefined) return { url: address, key: undefined };
  const kept = profileNamed(name);
  const isAsked = url !== undefined || Boolean(process.env.HALYARD_URL);
  if (!isAsked || withoutSlash(address) === withoutSlash(kept.url)) return kept;
  throw new CommandFailed(
    `An API key for ${address} is needed: the profile "${name}" is for ${kept.url}. Give --key, or --profile ${name} to use its key there.`,
    exitCodes.refused,
  );
};

export const connect = (options: ConnectionOptions): Connection => {
  const { url, key } = placeOf(options);
  if (key === undefined || key === "") {
    throw new CommandFailed(
      "An API key is needed: give it with --key or HALYARD_API_KEY, or keep it with halyard profiles set.",
      exitCodes.refused,
    );
  }
  return connectTo({ url, key });
};

export const connectTo = ({ url, key }: Profile): Connection => {
  demandPlainAddress(url);
  try {
    return { url, key, management: createManagement({ url, key }) };
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(
      `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
      exitCodes.usage,
    );
  }
};

/** By what the server's sentence begins with. */
const whereToLook = {
  "The flag": " halyard flags list shows which there are.",
  "The webhook": " halyard webhooks list shows which there are.",
  "The API key": " halyard keys list shows which there are.",
};

const nextStep = ({ code, details, message }: ManagementError, url: string): string => {
  switch (code) {
    case "UNREACHABLE":
      return ` Start a server at ${url}, or name another with --url or --profile.`;
    case "UNEXPECTED_ANSWER":
      return ` Is ${url} the address of a Halyard server?`;
    case "UNAUTHORIZED":
      return " Check --key, HALYARD_API_KEY or the profile.";
    case "FORBIDDEN":
      return " Use another key: halyard keys create makes one.";
    case "NOT_FOUND":
      return Object.entries(whereToLook).find(([what]) => message.startsWith(what))?.[1] ?? "";
    case "VALIDATION_FAILED":
      // The message tells of the first.
      return (details ?? [])
        .slice(1)
        .map((detail) => `\n  ${detail.field} ${detail.message}`)
        .join("");
    default:
      return "";
  }
};

/** What the server said and what to do. */
export const sentenceOf = ({ url }: Profile, error: ManagementError): string => {
  const sentence = error.message.replace(/[.]?$/, ".");
  // A mistake begins with the name of the field, which is written as it is.
  const first =
    error.code === "VALIDATION_FAILED" ? sentence.charAt(0) : sentence.charAt(0).toUpperCase();
  return first + sentence.slice(1) + nextStep(error, url);
};

export const failureOf = (profile: Profile, error: ManagementError): CommandFailed => {
  const { code, details } = error;
  return new CommandFailed(sentenceOf(profile, error), exitCodeOf(code), { code, details });
};

/** The value, or the end of the command. */
export const answered = <T>(profile: Profile, result: Result<T>): T => {
  if (result.ok) return result.value;
  throw failureOf(profile, result.error);
};
