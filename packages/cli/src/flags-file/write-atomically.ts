// Writes a file atomically by way of a temporary file. Pipes and devices are written directly.
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CommandFailed } from "../terminal/output.ts";

/** Undefined if the file does not exist. */
const unlessMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
};

export const writeAtomically = async (file: string, text: string): Promise<void> => {
  try {
    const found = await stat(file).catch(unlessMissing);
    if (found && !found.isFile()) await writeDirectly(file, text);
    else await replace(await placeOf(file), text, found);
  } catch (error) {
    throw new CommandFailed(`${file} can't be written (${(error as Error).message}).`);
  }
};

/** Follows symbolic links, even to a missing file, so that the link is kept. */
const placeOf = async (file: string): Promise<string> => {
  const real = await realpath(file).catch(unlessMissing);
  if (real !== undefined) return real;
  const link = await readlink(file).catch(unlessMissing);
  return link === undefined ? file : placeOf(resolve(await realpath(dirname(file)), link));
};

/** Pipes and devices can't be replaced, because their reader would get nothing. */
const writeDirectly = async (file: string, text: string): Promise<void> => {
  const handle = await open(file, constants.O_WRONLY);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
};

const replace = async (file: string, text: string, found: Stats | undefined): Promise<void> => {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const mode = found && found.mode & 0o777;
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      // The umask may have reduced the mode.
      if (mode !== undefined) await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};
