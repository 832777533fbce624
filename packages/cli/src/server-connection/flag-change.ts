// Changes a flag without overwriting concurrent changes: sends the version that it read, and retries on a newer one.
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

/** Maximum retries if the flag keeps changing. */
const maxAttempts = 5;

export const readFlag = async (connection: Connection, key: string): Promise<VersionedFlag> => {
  const found = await connection.management.flags.get(key);
  const flag = answered(connection, found);
  return { flag, version: (found.ok ? found.version : undefined) ?? 0 };
};

/** Fails unless the flag is at this version. */
const requireVersion = (
  { hint }: Connection,
  { flag, version }: VersionedFlag,
  ifVersion: number | undefined,
): void => {
  if (ifVersion === undefined || version === ifVersion) return;
  throw new CommandFailed(
    `The flag "${flag.key}" is at version ${version}, not ${ifVersion}: it was changed. See the changes with ${hint(`flags history ${flag.key}`)}.`,
    exitCodes.conflict,
    { code: "PRECONDITION_FAILED" },
  );
};

/** The change, or a function that computes it from the current flag. */
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
    const change = typeof patch === "function" ? patch(before) : patch;
    const result = await connection.management.flags.update(key, change, { ifMatch: version });
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
  // The user confirmed the change of the displayed flag.
  const options = { ifMatch: current.version };
  answered(connection, await connection.management.flags.delete(current.flag.key, options));
};
