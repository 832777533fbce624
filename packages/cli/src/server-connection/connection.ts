// Determines a command's server and key: from options, then environment variables, then the active profile.
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
  /** The reason for the change. */
  readonly reason?: string;
  /** Bypass approval in a protected environment, as an owner. */
  readonly bypass?: boolean;
  /** Only preview the impact. */
  readonly preview?: boolean;
  /** Apply the change if it affects at most this percentage, despite the impact limit. */
  readonly confirmFlips?: number;
}

export interface Connection extends Profile {
  readonly management: Management;
  /** Completes a command for the same server, for display: `flags list` becomes `halyard flags list -p staging`. */
  readonly hint: (command: string) => string;
  readonly bypass: boolean;
  /** Changes are previewed, not applied. */
  readonly isPreview: boolean;
  readonly reason: string | undefined;
}

type NeededKey = "an admin" | "an owner" | "a server" | "any";

/** Adds the options that all commands with a server have. */
export const serverCommand = (command: Command, role: NeededKey = "an admin"): Command =>
  command
    .addOption(server("--url <address>", urlDescription))
    .addOption(
      server("--key <key>", `${role} API key, which determines the environment (HALYARD_API_KEY)`),
    )
    .addOption(server("-p, --profile <name>", "the name of a profile (HALYARD_PROFILE)"))
    .option("--json", "print JSON, for scripts");

/** For commands that change something. */
export const changeCommand = (command: Command, role?: NeededKey): Command =>
  serverCommand(command, role).option("-y, --yes", "skip confirmation");

/** For commands that change flags or segments. */
export const reasonedCommand = (command: Command): Command =>
  waitingCommand(
    changeCommand(command)
      .addOption(reasonOption())
      .addOption(bypassOption())
      .addOption(previewOption())
      .addOption(confirmFlipsOption()),
  );

/** With --wait, for commands whose options specify a server. */
export const waitingCommand = (command: Command): Command =>
  waitable(command, (action) => connect(action.opts<ConnectionOptions>()));

export const reasonOption = (): Option =>
  new Option("--reason <text>", "the reason; included in history and events");

export const bypassOption = (): Option =>
  new Option("--bypass", "in a protected environment, with --reason: bypass approval as an owner");

export const previewOption = (): Option =>
  new Option("--preview", "show which users the change would affect, without applying it").implies({
    yes: true,
  });

export const confirmFlipsOption = (): Option =>
  new Option(
    "--confirm-flips <percentage>",
    "despite an impact limit: apply the change if it affects at most this percentage of users",
  ).argParser(percentage);

const server = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup("Which server:");

/** A profile whose key may be missing. */
type Found = Omit<Profile, "key"> & { readonly key: string | undefined };

/** Uses a profile's key for another address only if the command line specifies both. */
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
    `An API key for ${address} is needed: the profile "${name}" is for ${kept.url}. Pass --key, or pass --profile ${name} to use its key for this address.`,
    exitCodes.refused,
  );
};

/** Whether an option, a variable or a profile specifies a key. */
export const hasKey = (options: ConnectionOptions): boolean => Boolean(find(options).key);

/** `otherwise` mentions an alternative that needs no key. */
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

/** The connection for this profile. */
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

/** `named` contains the options of the command line, which hints repeat. A key is hidden. */
export const connectTo = (profile: Profile, named: ConnectionOptions = {}): Connection => {
  const { url, key } = profile;
  requirePlainAddress(url);
  const words = [
    ...(named.profile === undefined ? [] : ["-p", named.profile]),
    ...(named.url === undefined ? [] : ["--url", named.url]),
    // Without --key, the command in the hint would use the environment of another key.
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
    // The SDK's message starts with the name of its option.
    const sentence = message.replace(/^url /, "The address ").replace(/^key /, "The key ");
    throw new CommandFailed(`${sentence}.`, exitCodes.usage);
  }
};

/** Lists, by the start of the server's message. */
const whereToLook: readonly (readonly [what: string, command: string, things: string])[] = [
  ["The flag", "flags list", "flags"],
  ["The segment", "segments list", "segments"],
  ["The webhook", "webhooks list", "webhooks"],
  ["The API key", "keys list", "keys"],
  ["The person", "users list", "people"],
  ["The change request", "requests list", "change requests"],
];

type Named = Pick<Connection, "url" | "hint"> & Partial<Pick<Connection, "bypass">>;

/** Works for every user of the server's machine, regardless of the key in use. */
export const newKeyCommand = (role: string): string =>
  `On the server's machine, halyard keys create --environment NAME --role ${role} --name NAME --data FOLDER creates a key`;

/** A new key helps only if the key's role is the cause. */
const whenForbidden = (message: string, bypass: boolean | undefined): string => {
  const [, role] = /needs a key with the role (\w+)/.exec(message) ?? [];
  if (role !== undefined)
    return ` Pass a key with that role with --key or a profile. ${newKeyCommand(role)}.`;
  return bypass ? " Without --bypass, the same command submits the change for approval." : "";
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
      return " To see the affected users, run the same command with --preview.";
    case "VALIDATION_FAILED":
      // The first error is already part of the message.
      return (details ?? [])
        .slice(1)
        .map((detail) => `\n  ${detail.field} ${detail.message}`)
        .join("");
    default:
      return "";
  }
};

/** The server's message, with API parameters replaced by options of the command line. */
export const messageFor = ({ message }: ManagementError): string =>
  message.replace(/confirmFlips=(\d+)/, "--confirm-flips $1");

/** The server's message and the next step. */
const sentenceOf = (connection: Named, error: ManagementError): string => {
  const sentence = messageFor(error).replace(/[.]?$/, ".");
  // The message starts with a field name, whose case must not change.
  const first =
    error.code === "VALIDATION_FAILED" ? sentence.charAt(0) : sentence.charAt(0).toUpperCase();
  return first + sentence.slice(1) + nextStep(error, connection);
};

/** The message for a change that needs approval. */
export const proposedText = (
  { url, hint }: Named,
  { id, title, approvalsNeeded }: Pick<ChangeRequest, "id" | "title" | "approvalsNeeded">,
): string => {
  const approvals =
    approvalsNeeded > 1 ? "Two other users, or an owner, must" : "Another user must";
  return `Created change request ${id} at ${url}: ${title}. Nothing has changed yet. ${approvals} approve it on the dashboard, or with ${hint(`requests approve ${id}`)}`;
};

export const failureOf = (connection: Named, error: ManagementError): CommandFailed => {
  const { code, details, proposed } = error;
  if (proposed) return new Proposed(proposedText(connection, proposed), proposed, connection.url);
  return new CommandFailed(sentenceOf(connection, error), exitCodeOf(code), { code, details });
};

/** Returns the value, or fails with the error. */
export const answered = <T>(connection: Named, result: Result<T>): T => {
  if (result.ok) return result.value;
  throw failureOf(connection, result.error);
};
