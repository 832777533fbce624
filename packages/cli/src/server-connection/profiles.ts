// The servers that a person works with, by name: address and key in one file that only its owner may read.
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
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed, printAside } from "../terminal/output.ts";

export interface Profile {
  readonly url: string;
  readonly key: string;
}

export interface Profiles {
  /** The one that is used when nothing else is said. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export const profileNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const profilesFile = (): string =>
  process.env.HALYARD_CONFIG ||
  join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "halyard", "config.json");

let warned = false;
/** Keys stand in it. */
const warnOfReaders = (file: string): void => {
  if (warned || process.platform === "win32" || (statSync(file).mode & 0o077) === 0) return;
  warned = true;
  printAside(`${file} holds API keys and others may read it: chmod 600 ${file}`);
};

export const readProfiles = (): Profiles => {
  const file = profilesFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
    warnOfReaders(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { profiles: {} };
    throw new CommandFailed(`The profiles in ${file} cannot be read (${messageOf(error)}).`);
  }
  const kept = parse(text);
  if (kept) return kept;
  throw new CommandFailed(
    `${file} does not hold profiles as halyard writes them: mend it, or remove it and set the profiles anew.`,
  );
};

/** Written beside and then put in its place: a reader never sees half of it. */
export const writeProfiles = (kept: Profiles): void => {
  const file = profilesFile();
  const beside = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(beside, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    chmodSync(beside, 0o600);
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new CommandFailed(`The profiles cannot be kept in ${file} (${messageOf(error)}).`);
  }
};

export const profileNamed = (name: string): Profile => {
  const { profiles } = readProfiles();
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(profiles).sort();
  throw new CommandFailed(
    names.length === 0
      ? `There is no profile "${name}": make it with halyard profiles set ${name} --url ADDRESS --key KEY.`
      : `There is no profile "${name}"; there are ${names.join(", ")}.`,
    exitCodes.notFound,
  );
};

/** What may be seen of a key: enough to tell which it is. */
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
