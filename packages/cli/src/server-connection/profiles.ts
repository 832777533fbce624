// The saved profiles: servers and keys by name, in a file that only its owner can read.
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { OwnApiKey } from "@halyard/sdk/management";
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed, printAside } from "../terminal/output.ts";

type Role = OwnApiKey["role"];

export interface Profile {
  readonly url: string;
  readonly key: string;
  /** The key's environment and role, as reported by the server when the profile was saved. Both are fixed for a key. */
  readonly environment?: string;
  readonly role?: Role;
  /** Whether changes require confirmation. If undefined, the name of the environment decides. */
  readonly production?: boolean;
}

export interface Profiles {
  /** The active profile. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export const profileNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const profilesFile = (): string =>
  process.env.HALYARD_CONFIG ||
  join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "halyard", "config.json");

let warned = false;
/** Warns about permissions, because the file contains keys. */
const warnOfPermissions = (file: string): void => {
  if (warned || process.platform === "win32" || (statSync(file).mode & 0o077) === 0) return;
  warned = true;
  printAside(`${file} contains API keys and other users can read it: chmod 600 ${file}`);
};

export const readProfiles = (): Profiles => {
  const file = profilesFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
    warnOfPermissions(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { profiles: {} };
    throw new CommandFailed(`The profiles in ${file} cannot be read (${messageOf(error)}).`);
  }
  const kept = parse(text);
  if (kept) return kept;
  throw new CommandFailed(
    `${file} is not a valid profiles file: fix it, or remove it and set the profiles again.`,
  );
};

/** Writes a temporary file and renames it, so that readers never see a partial file. */
export const writeProfiles = (kept: Profiles): void => {
  const file = profilesFile();
  const temporary = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new CommandFailed(`The profiles cannot be saved in ${file} (${messageOf(error)}).`);
  }
};

export const profileNamed = (name: string): Profile => {
  const { profiles } = readProfiles();
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(profiles).sort();
  throw new CommandFailed(
    names.length === 0
      ? `There is no profile "${name}": create it with halyard profiles set ${name} --url ADDRESS --key KEY.`
      : `There is no profile "${name}"; there are ${names.join(", ")}.`,
    exitCodes.notFound,
  );
};

/** The displayable part of a key, which is enough to recognize it. */
export const shownKey = (key: string): string =>
  `${/^hal_[0-9a-f]+_/.exec(key)?.[0] ?? key.slice(0, 4)}…`;

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const parse = (text: string): Profiles | undefined => {
  try {
    const kept = JSON.parse(text) as Partial<Profiles> | null;
    const { current, profiles } = kept ?? {};
    const isWhole =
      typeof profiles === "object" &&
      profiles !== null &&
      Object.values(profiles).every(
        (profile: Partial<Profile> | null) =>
          typeof profile?.url === "string" && typeof profile.key === "string",
      );
    if (!isWhole || !(current === undefined || typeof current === "string")) return undefined;
    return { profiles, ...(current !== undefined && { current }) };
  } catch {
    return undefined;
  }
};
