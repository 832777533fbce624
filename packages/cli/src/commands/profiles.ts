// halyard profiles: servers and their keys, saved by name.
import { isProductionName } from "@halyard/core/environment-name";
import { Command } from "commander";
import { defaultAddress, urlDescription } from "../server-connection/address.ts";
import { connectTo } from "../server-connection/connection.ts";
import { checkKey } from "../server-connection/place.ts";
import {
  type Profile,
  profileNamed,
  profileNamePattern,
  profilesFile,
  readProfiles,
  shownKey,
  writeProfiles,
} from "../server-connection/profiles.ts";
import { askSecret, isAtTerminal } from "../terminal/ask.ts";
import { withExamples } from "../terminal/examples.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import {
  CommandFailed,
  colored,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
} from "../terminal/output.ts";

interface SetOptions {
  readonly url?: string;
  readonly key?: string;
  readonly use?: boolean;
  readonly production?: boolean;
  readonly check: boolean;
  readonly json?: boolean;
}

interface Options {
  readonly json?: boolean;
}

const json = ["--json", "print JSON, for scripts"] as const;

export const profileCommands = (): Command => {
  const group = new Command("profiles").description("save servers and their keys by name");

  const set = group
    .command("set")
    .description("save a server and a key under a name; the first profile becomes active")
    .argument("<name>", "1 to 64 letters, digits and . _ -")
    .option("--url <address>", urlDescription)
    .option("--key <key>", "an API key; - reads it from standard input (prompted for by default)")
    .option("--use", "make this profile active")
    .option("--production", "changes require confirmation; in scripts, pass --yes")
    .option(
      "--no-production",
      "changes require no confirmation, even if the environment's name looks like production",
    )
    .option("--no-check", "do not check the key with the server")
    .option(...json)
    .action(setProfile);
  withExamples(
    set,
    "halyard profiles set development",
    "halyard profiles set production --url https://flags.example.com",
    "halyard profiles set production --url https://flags.example.com --key - < key.txt",
    "halyard profiles set production --production",
  );

  const list = group
    .command("list")
    .description("list the profiles with environment, role and start of each key")
    .option(...json)
    .action(listProfiles);
  withExamples(list, "halyard profiles list");

  const show = group
    .command("show")
    .description("show a profile and its file; the active one by default")
    .argument("[profile]", "its name")
    .option(...json)
    .action(showProfile);
  withExamples(show, "halyard profiles show", "halyard profiles show production");

  const use = group
    .command("use")
    .description("make a profile active")
    .argument("<profile>", "its name")
    .option(...json)
    .action(useProfile);
  withExamples(use, "halyard profiles use production");

  const remove = group
    .command("remove")
    .description("remove a profile; its key stays valid")
    .argument("<profile>", "its name")
    .option(...json)
    .action(removeProfile);
  withExamples(remove, "halyard profiles remove production");

  return group;
};

const keyFrom = async (given: string | undefined, name: string): Promise<string> => {
  if (given !== undefined && given !== "-") return given;
  if (given === undefined && !isAtTerminal()) {
    throw new CommandFailed(
      "A key is needed: pass it with --key, or with --key - on standard input.",
      exitCodes.usage,
    );
  }
  return askSecret(`API key for ${name} (input is hidden): `);
};

/** A profile for display and as JSON. */
const shown = ({ url, key, environment, role, production }: Profile) => ({
  url,
  environment: environment ?? null,
  role: role ?? null,
  production: production ?? (environment !== undefined && isProductionName(environment)),
  key: shownKey(key),
});

const setProfile = async (name: string, options: SetOptions): Promise<void> => {
  if (!profileNamePattern.test(name)) {
    throw new CommandFailed(
      `"${name}" is not a valid profile name: 1 to 64 letters, digits and . _ -, starting with a letter or digit.`,
      exitCodes.usage,
    );
  }
  const { profiles, current } = readProfiles();
  const old = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const { url = old?.url ?? defaultAddress(), production = old?.production } = options;
  // Only the production mark changes, so keep the key.
  const isMarking = options.production !== undefined && options.url === undefined;
  const kept = isMarking && options.key === undefined ? old?.key : undefined;
  const key = kept ?? (await keyFrom(options.key, name));
  const connection = connectTo({ url, key });
  const checked = options.check ? await checkKey(connection) : undefined;
  // Without a check, what is known about an unchanged key is still true.
  const { environment, role } = checked ?? (kept === undefined ? undefined : old) ?? {};
  const expiresAt = checked?.expiresAt ?? null;
  const profile: Profile = {
    url,
    key,
    ...(environment !== undefined && { environment }),
    ...(role !== undefined && { role }),
    ...(production !== undefined && { production }),
  };
  const inUse = options.use === true || current === undefined ? name : current;
  writeProfiles({ current: inUse, profiles: { ...profiles, [name]: profile } });
  if (options.json) {
    const found = checked && { expiresAt };
    return printJson({ name, ...shown(profile), current: inUse === name, ...found });
  }
  const until = expiresAt === null ? "" : `, until ${expiresAt}`;
  const what = checked && `: ${checked.role} of ${checked.environment}${until}`;
  print(inOneLine(`Saved ${name} for ${url}${what ?? ""}.`));
  if (production === true) printAside("Changes require confirmation; in scripts, pass --yes.");
  if (inUse === name) printAside(`${name} is the active profile.`);
  else printAside(`Use it with --profile ${name}, or make it active: halyard profiles use ${name}`);
};

const listProfiles = ({ json: asJson }: Options) => {
  const { profiles, current } = readProfiles();
  const rows = Object.entries(profiles)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, profile]) => ({ name, ...shown(profile), current: name === current }));
  if (asJson) return printJson(rows);
  printTable(
    ["", "name", "environment", "role", "address", "key"],
    rows.map((row) => [
      row.current ? { style: "green", text: "*" } : "",
      row.name,
      row.environment ?? "",
      row.role ?? "",
      row.url,
      row.key,
    ]),
  );
  if (rows.length === 0) {
    printAside("No profiles: save one with halyard profiles set NAME --url ADDRESS.");
  }
};

const showProfile = (named: string | undefined, { json: asJson }: Options) => {
  const { current } = readProfiles();
  const name = named ?? current;
  if (name === undefined) {
    throw new CommandFailed(
      "No profile is active: choose one with halyard profiles use NAME.",
      exitCodes.notFound,
    );
  }
  const { url, environment, role, production, key } = shown(profileNamed(name));
  const isActive = name === current;
  const file = profilesFile();
  if (asJson) {
    return printJson({ name, url, environment, role, production, key, current: isActive, file });
  }
  const unknown = `unknown (to ask the server: halyard whoami -p ${name})`;
  print(colored("bold", name));
  print(inOneLine(`  address      ${url}`));
  print(inOneLine(`  environment  ${environment ?? unknown}`));
  print(inOneLine(`  role         ${role ?? unknown}`));
  print(`  production   ${production ? "yes: changes require confirmation" : "no"}`);
  print(`  key          ${key}`);
  print(`  active       ${isActive ? "yes" : "no"}`);
  print(`  file         ${file}`);
};

const useProfile = (name: string, { json: asJson }: Options) => {
  const { url } = profileNamed(name);
  writeProfiles({ ...readProfiles(), current: name });
  if (asJson) return printJson({ name, url, current: true });
  print(`${name} (${url}) is the active profile.`);
};

const removeProfile = (name: string, { json: asJson }: Options) => {
  profileNamed(name);
  const { current, profiles } = readProfiles();
  const { [name]: _, ...rest } = profiles;
  const wasInUse = current === name;
  writeProfiles({
    profiles: rest,
    ...(current !== undefined && !wasInUse && { current }),
  });
  if (asJson) return printJson({ name, removed: true });
  print(`Removed ${name}. Its key is still valid. To revoke it, use halyard keys revoke.`);
  if (wasInUse) printAside("No profile is active now: choose one with halyard profiles use NAME.");
};
