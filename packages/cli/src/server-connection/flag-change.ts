// Changes a flag without overwriting a concurrent change: based on the version that was read, and retried on a newer one.
import type { Flag, FlagPatch } from "@halyard/sdk/management";
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed } from "../terminal/output.ts";
import { answered, type Connection, failureOf } from "./connection.ts";

export interface VersionedFlag {
  readonly flag: Flag;
  readonly version: number;
}

export interface ChangedFlag extends VersionedFlag {
  readonly before: Flag;
  readonly changed: boolean;
}

/** If the flag keeps changing, the command says so instead. */
const maxAttempts = 5;

export const readFlag = async (connection: Connection, key: string): Promise<VersionedFlag> => {
  const found = await connection.management.flags.get(key);
  const flag = answered(connection, found);
  return { flag, version: (found.ok ? found.version : undefined) ?? 0 };
};

/** Fails unless the flag is at the given version. */
const requireVersion = (
  { hint }: Connection,
  { flag, version }: VersionedFlag,
  ifVersion: number | undefined,
): void => {
  if (ifVersion === undefined || version === ifVersion) return;
  throw new CommandFailed(
    `The flag "${flag.key}" is at version ${version}, not ${ifVersion}: somebody changed it. See the changes with ${hint(`flags history ${flag.key}`)}.`,
    exitCodes.conflict,
    { code: "PRECONDITION_FAILED" },
  );
};

/** What to change, or how to find that out from the flag as it is. */
export type Patch = FlagPatch | ((flag: Flag) => FlagPatch);

export const changeFlag = async (
  connection: Connection,
  key: string,
  patch: Patch,
  ifVersion: number | undefined,
): Promise<ChangedFlag> => {
  let current = await readFlag(connection, key);
  for (let attempt = 1; ; attempt += 1) {
    requireVersion(connection, current, ifVersion);
    const { flag: before, version } = current;
    const asked = typeof patch === "function" ? patch(before) : patch;
    const result = await connection.management.flags.update(key, asked, { ifMatch: version });
    if (result.ok) {
      const now = result.version ?? version;
      return { flag: result.value, version: now, before, changed: now !== version };
    }
    const { code, current: flag, currentVersion } = result.error;
    const movedOn = code === "PRECONDITION_FAILED" && flag && currentVersion !== undefined;
    if (!movedOn || attempt === maxAttempts) throw failureOf(connection, result.error);
    current = { flag, version: currentVersion };
  }
};

export const deleteFlag = async (
  connection: Connection,
  current: VersionedFlag,
  ifVersion: number | undefined,
): Promise<void> => {
  requireVersion(connection, current, ifVersion);
  // The confirmation was for the flag as it was shown.
  const options = { ifMatch: current.version };
  answered(connection, await connection.management.flags.delete(current.flag.key, options));
};
