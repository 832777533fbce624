// Writes a file whole or not at all: beside it first, then in its place.
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { CommandFailed } from "../output.ts";

export const writeWhole = async (file: string, text: string): Promise<void> => {
  const beside = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(beside, "wx");
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw new CommandFailed(`${file} cannot be written (${(error as Error).message}).`);
  }
};
