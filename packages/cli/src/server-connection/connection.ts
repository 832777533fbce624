// How a command finds its server and key: by options, then by environment variables, then by the active profile.
import {
  type ChangeRequest,
  createManagement,
  type Management,
  type ManagementError,
  type Result,
} from "@halyard/sdk/management";
import { type Command, Option } from "commander";
import { exitCodeOf, exitCodes } from "../terminal/exit-codes.ts";
import { percentage } from "../terminal/option-values.ts";
import { CommandFailed, Proposed } from "../terminal/output.ts";
import {
  activeName,
  addressOf,
  defaultAddress,
  requirePlainAddress,
  urlDescription,
  withoutSlash,
} from "./address.ts";
import { previewing } from "./previewing.ts";
import { type Profile, profileNamed } from "./profiles.ts";
import { waitable } from "./wait.ts";

export interface ConnectionOptions {
  readonly url?: string;
  readonly key?: string;
  readonly profile?: string;
  /** Why, for what the command changes. */
  readonly reason?: string;
  /** An owner goes past the approval that a protected environment asks for. */
  readonly bypass?: boolean;
  /** Whom the change would hit, and nothing else. */
  readonly preview?: boolean;
  /** Up to so many percent may flip, whatever the limit on flips is. */
  readonly confirmFlips?: number;
}

export interface Connection extends Profile {
  readonly management: Management;
  /** A command for the same server, to be shown: `flags list` becomes `halyard flags list -p staging`. */
  readonly hint: (command: string) => string;
  readonly bypass: boolean;
  /** Changes are only previewed. */
  readonly isPreview: boolean;
  readonly reason: string | undefined;
}

type NeededKey = "an admin" | "an owner" | "a server" | "any";

/** Adds the options of every command that calls a server. */
export const serverCommand = (command: Command, role: NeededKey = "an admin"): Command =>
  command
    .addOption(server("--url <address>", urlDescription))
    .addOption(
      server("--key <key>", `${role} API key; it decides the environment (HALYARD_API_KEY)`),
    )
    .addOption(server("-p, --profile <name>", "the name of a profile (HALYARD_PROFILE)"))
    .option("--json", "print JSON, for scripts");

/** The same for a command that changes something. */
export const changeCommand = (command: Command, role?: NeededKey): Command =>
  serverCommand(command, role).option("-y, --yes", "do not ask for confirmation");

/** The same for a command that changes flags or segments. */
export const reasonedCommand = (command: Command): Command =>
  waitingCommand(
    changeCommand(command)
      .addOption(reasonOption())
      .addOption(bypassOption())
      .addOption(previewOption())
      .addOption(confirmFlipsOption()),
  );

/** With --wait, for a command that finds its server by its options. */
export const waitingCommand = (command: Command): Command =>
  waitable(command, (action) => connect(action.opts<ConnectionOptions>()));

export const reasonOption = (): Option =>
  new Option("--reason <text>", "why; kept in the history and sent in events");

export const bypassOption = (): Option =>
  new Option(
    "--bypass",
    "in a protected environment, with --reason: change it as an owner, without an approval",
  );

export const previewOption = (): Option =>
  new Option("--preview", "show whom the change would hit, and change nothing").implies({
    yes: true,
  });

export const confirmFlipsOption = (): Option =>
  new Option(
    "--confirm-flips <percentage>",
    "where there is a limit on flips: change it as long as no more than so many percent flip",
  ).argParser(percentage);

const server = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup("Which server:");

/** A profile, of which the key may be missing. */
type Found = Omit<Profile, "key"> & { readonly key: string | undefined };

/** A profile's key goes to another address only if the command line names both. */
const find = ({ url, key, profile }: ConnectionOptions): Found => {
  if (profile !== undefined) {
    const kept = profileNamed(profile);
    return { ...kept, url: url ?? kept.url, key: key ?? kept.key };
  }
  const address = url ?? defaultAddress();
  requirePlainAddress(address);
  const isAddressGiven = url !== undefined || Boolean(process.env.HALYARD_URL);
  if (key !== undefined) return { url: isAddressGiven ? address : addressOf({}), key };
  const { HALYARD_API_KEY } = process.env;
  if (HALYARD_API_KEY) return { url: address, key: HALYARD_API_KEY };
  const name = activeName();
  if (name === undefined) return { url: address, key: undefined };
  const kept = profileNamed(name);
  if (!isAddressGiven || withoutSlash(address) === withoutSlash(kept.url)) return kept;
  throw new CommandFailed(
    `An API key for ${address} is needed: the profile "${name}" is for ${kept.url}. Pass --key, or --profile ${name} to use its key there.`,
    exitCodes.refused,
  );
};

/** Whether an option, a variable or a profile names a key. */
export const hasKey = (options: ConnectionOptions): boolean => Boolean(find(options).key);

/** `otherwise` names an alternative that needs no key. */
export const connect = (options: ConnectionOptions, otherwise = ""): Connection => {
  const { key, ...found } = find(options);
  if (key === undefined || key === "") {
    throw new CommandFailed(
      `An API key is needed: pass it with --key or HALYARD_API_KEY, or save it with halyard profiles set.${otherwise}`,
      exitCodes.refused,
    );
  }
  return connectTo({ ...found, key }, options);
};

/** The connection to the profile of this name. */
export const connectBy = (
  name: string,
  {
    reason,
    bypass,
    preview,
    confirmFlips,
  }: Omit<ConnectionOptions, "url" | "key" | "profile"> = {},
): Connection =>
  connectTo(profileNamed(name), {
    profile: name,
    ...(reason !== undefined && { reason }),
    ...(bypass !== undefined && { bypass }),
    ...(preview !== undefined && { preview }),
    ...(confirmFlips !== undefined && { confirmFlips }),
  });

/** `named` is how the command line names it, which hints repeat. Of a key only that there was one. */
export const connectTo = (profile: Profile, named: ConnectionOptions = {}): Connection => {
  const { url, key } = profile;
  requirePlainAddress(url);
  const words = [
    ...(named.profile === undefined ? [] : ["-p", named.profile]),
    ...(named.url === undefined ? [] : ["--url", named.url]),
    // Without it the line would act on the environment of another key.
    ...(named.key === undefined ? [] : ["--key …"]),
  ];
  const hint = (command: string) => ["halyard", command, ...words].join(" ");
  try {
    const { reason, bypass = false, preview: isPreview = false, confirmFlips } = named;
    const all = createManagement({
      ...{ url, key, bypass },
      ...(reason !== undefined && { reason }),
      ...(confirmFlips !== undefined && { confirmFlips }),
    });
    const management = isPreview ? previewing(all) : all;
    return { ...profile, hint, bypass, isPreview, reason, management };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The SDK begins with the name of its option.
    const sentence = message.replace(/^url /, "The address ").replace(/^key /, "The key ");
    throw new CommandFailed(`${sentence}.`, exitCodes.usage);
  }
};

/** By the beginning of the server's message. */
const whereToLook: readonly (readonly [what: string, command: string, things: string])[] = [
  ["The flag", "flags list", "flags"],
  ["The segment", "segments list", "segments"],
  ["The webhook", "webhooks list", "webhooks"],
  ["The API key", "keys list", "keys"],
  ["The person", "users list", "people"],
  ["The change request", "requests list", "change requests"],
];

type Named = Pick<Connection, "url" | "hint"> & Partial<Pick<Connection, "bypass">>;

/** Works for everyone who can log in to the server's machine, whatever the key in use may do. */
export const newKeyCommand = (role: string): string =>
  `On the server's machine, halyard keys create --environment NAME --role ${role} --name NAME --data FOLDER creates a key`;

/** A new key helps only if the role of the key is the reason. */
const whenForbidden = (message: string, bypass: boolean | undefined): string => {
  const [, role] = /needs a key with the role (\w+)/.exec(message) ?? [];
  if (role !== undefined) return ` Use such a key with --key or a profile. ${newKeyCommand(role)}.`;
  return bypass ? " Without --bypass, the same command proposes the change for approval." : "";
};

const nextStep = (
  { code, details, message }: ManagementError,
  { url, hint, bypass }: Named,
): string => {
  switch (code) {
    case "UNREACHABLE":
      return ` Start a server at ${url}, or pass another address with --url or --profile.`;
    case "UNEXPECTED_ANSWER":
      return ` Is ${url} the address of a Halyard server?`;
    case "UNAUTHORIZED":
      return ` Check --key, HALYARD_API_KEY or the profile. ${newKeyCommand("admin")} without one.`;
    case "FORBIDDEN":
      return whenForbidden(message, bypass);
    case "NOT_FOUND": {
      const [, command, things] = whereToLook.find(([what]) => message.startsWith(what)) ?? [];
      return command === undefined ? "" : ` ${hint(command)} shows the ${things} that exist.`;
    }
    case "TOO_MANY_FLIPS":
      return " The same command with --preview shows whom it would hit.";
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

/** The server's message, with what it names as the command line has it. */
export const messageFor = ({ message }: ManagementError): string =>
  message.replace(/confirmFlips=(\d+)/, "--confirm-flips $1");

/** The server's message and the next step. */
const sentenceOf = (connection: Named, error: ManagementError): string => {
  const sentence = messageFor(error).replace(/[.]?$/, ".");
  // The message begins with the name of the field, whose case must stay.
  const first =
    error.code === "VALIDATION_FAILED" ? sentence.charAt(0) : sentence.charAt(0).toUpperCase();
  return first + sentence.slice(1) + nextStep(error, connection);
};

/** What becomes of a change that another person has to approve. */
export const proposedText = (
  { url, hint }: Named,
  { id, title, approvalsNeeded }: Pick<ChangeRequest, "id" | "title" | "approvalsNeeded">,
): string => {
  const approvals =
    approvalsNeeded > 1 ? "two people, or an owner, approve it" : "another person approves it";
  return `Proposed as ${id} at ${url}: ${title}. Nothing has changed yet: ${approvals} on the dashboard, or with ${hint(`requests approve ${id}`)}`;
};

export const failureOf = (connection: Named, error: ManagementError): CommandFailed => {
  const { code, details, proposed } = error;
  if (proposed) return new Proposed(proposedText(connection, proposed), proposed, connection.url);
  return new CommandFailed(sentenceOf(connection, error), exitCodeOf(code), { code, details });
};

/** The value; fails with the error otherwise. */
export const answered = <T>(connection: Named, result: Result<T>): T => {
  if (result.ok) return result.value;
  throw failureOf(connection, result.error);
};
