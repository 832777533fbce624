// How a command reaches a running server: what the command line says, then the variables, then the chosen profile.
import { createManagement, type Management, type ManagementError, type Result } from "@halyard/sdk";
import { type Command, Option } from "commander";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import { CommandFailed } from "./output.ts";
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

/** A command that takes the options of every command that talks to a server. */
export const serverCommand = (
  command: Command,
  role: "an admin" | "a server" | "any" = "an admin",
): Command =>
  command
    .addOption(
      new Option("--url <address>", `where the server is (HALYARD_URL; else ${standardUrl})`),
    )
    .addOption(
      new Option("--key <key>", `${role} API key; it decides the environment (HALYARD_API_KEY)`),
    )
    .addOption(
      new Option("-p, --profile <name>", "a server set with halyard profiles (HALYARD_PROFILE)"),
    )
    .option("--json", "print JSON, for scripts");

const whereToConnect = ({ url, key, profile }: ConnectionOptions): Partial<Profile> => {
  const { HALYARD_URL, HALYARD_API_KEY, HALYARD_PROFILE } = process.env;
  // A profile on the command line stands above the variables; one that is only chosen, below them.
  if (profile !== undefined) return { ...profileNamed(profile), ...given({ url, key }) };
  const variables = given({ url: HALYARD_URL || undefined, key: HALYARD_API_KEY || undefined });
  const name =
    HALYARD_PROFILE || (variables.key === undefined ? readProfiles().current : undefined);
  return {
    ...(name !== undefined && key === undefined && profileNamed(name)),
    ...variables,
    ...given({ url, key }),
  };
};

const given = (place: {
  url?: string | undefined;
  key?: string | undefined;
}): Partial<Profile> => ({
  ...(place.url !== undefined && { url: place.url }),
  ...(place.key !== undefined && { key: place.key }),
});

export const connect = (options: ConnectionOptions): Connection => {
  const { url = standardUrl, key } = whereToConnect(options);
  if (key === undefined || key === "") {
    throw new CommandFailed(
      "An API key is needed: give it with --key or HALYARD_API_KEY, or keep it with halyard profiles set.",
      exitCodes.refused,
    );
  }
  return connectTo({ url, key });
};

export const connectTo = ({ url, key }: Profile): Connection => {
  try {
    return { url, key, management: createManagement({ url, key }) };
  } catch (error) {
    throw new CommandFailed(`${error instanceof Error ? error.message : String(error)}.`);
  }
};

const nextStep = ({ code, details }: ManagementError, url: string): string => {
  switch (code) {
    case "UNREACHABLE":
      return ` Start a server at ${url}, or name another with --url or --profile.`;
    case "UNEXPECTED_ANSWER":
      return ` Is ${url} the address of a Halyard server?`;
    case "UNAUTHORIZED":
      return " Check --key, HALYARD_API_KEY or the profile.";
    case "VALIDATION_FAILED":
      return (details ?? []).map(({ field, message }) => `\n  ${field}: ${message}`).join("");
    default:
      return "";
  }
};

/** The value, or the end of the command with what the server said and what to do. */
export const answered = <T>({ url }: Profile, result: Result<T>): T => {
  if (result.ok) return result.value;
  const { error } = result;
  const sentence = error.message.replace(/[.]?$/, ".");
  throw new CommandFailed(
    sentence.charAt(0).toUpperCase() + sentence.slice(1) + nextStep(error, url),
    exitCodeOf(error.code),
  );
};
