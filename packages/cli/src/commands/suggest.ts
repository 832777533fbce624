// halyard suggest: prints names for completion scripts. It is fast, and silent on errors.
import { Argument, Command } from "commander";
import {
  type Connection,
  type ConnectionOptions,
  connect,
} from "../server-connection/connection.ts";
import { readProfiles } from "../server-connection/profiles.ts";
import { print } from "../terminal/output.ts";

const kinds = ["flag", "segment", "profile", "webhook", "request"] as const;
type Kind = (typeof kinds)[number];

/** In milliseconds. Completion must not make the user wait. */
const timeout = 1_500;
const maxNames = 500;

export const suggestCommand = (): Command =>
  new Command("suggest")
    .description("for completion scripts: names with this prefix")
    .addArgument(new Argument("<kind>", "the kind of names").choices(kinds))
    .argument("<beginning>", "the prefix")
    .argument("[words...]", "the line so far, without the command")
    .action(suggest);

const suggest = async (kind: Kind, beginning: string, words: readonly string[]): Promise<void> => {
  try {
    const names = await namesOf(kind, beginning, words);
    const matches = names.filter((name) => name.startsWith(beginning)).slice(0, maxNames);
    if (matches.length > 0) print(matches.join("\n"));
  } catch {
    // An error message would disrupt the command line that is being typed.
  }
};

const namesOf = async (
  kind: Kind,
  beginning: string,
  words: readonly string[],
): Promise<readonly string[]> => {
  if (kind === "profile") return Object.keys(readProfiles().profiles).sort();
  return namesAt(connect(connectionIn(words)), kind, beginning);
};

const namesAt = async (
  { management }: Connection,
  kind: Exclude<Kind, "profile">,
  beginning: string,
): Promise<readonly string[]> => {
  const options = { signal: AbortSignal.timeout(timeout) };
  if (kind === "webhook") {
    const webhooks = await management.webhooks.list(options);
    return webhooks.ok ? webhooks.value.map(({ id }) => id) : [];
  }
  if (kind === "request") {
    const requests = await management.changeRequests.list({ state: "open" }, options);
    return requests.ok ? requests.value.requests.map(({ id }) => id) : [];
  }
  if (kind === "segment") {
    const segments = await management.segments.list(options);
    return segments.ok ? segments.value.map(({ key }) => key) : [];
  }
  const query = beginning === "" ? {} : { q: beginning };
  const flags = await management.flags.list(query, options);
  return flags.ok ? flags.value.map(({ key }) => key) : [];
};

/** The server that the options of the command line specify. */
const connectionIn = (words: readonly string[]): ConnectionOptions => {
  const whole = joined(words);
  const valueAfter = (...names: readonly string[]): string | undefined => {
    const index = whole.findIndex((word) => names.includes(word.split("=", 1)[0] ?? ""));
    if (index === -1) return undefined;
    const word = whole[index] ?? "";
    return word.includes("=") ? word.slice(word.indexOf("=") + 1) : whole[index + 1];
  };
  const given = {
    url: valueAfter("--url"),
    key: valueAfter("--key"),
    profile: valueAfter("--profile", "-p"),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};

/** Bash splits an address into `http`, `:` and `//host`. */
const joined = (words: readonly string[]): readonly string[] => {
  const whole: string[] = [];
  let goesOn = false;
  for (const word of words) {
    const glues = word === ":" || word === "=";
    if ((glues || goesOn) && whole.length > 0) whole.push(`${whole.pop() ?? ""}${word}`);
    else whole.push(word);
    goesOn = glues;
  }
  return whole;
};
