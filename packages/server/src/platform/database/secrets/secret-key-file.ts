// The key file beside the embedded database, for secrets when no setting gives a key.

import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartupProblem } from "../../errors.ts";

export const secretKeyFile = "secret.key";

/** The given keys, then the one of the file, so that what it encrypted stays readable. The file is created when there is no other key. */
export const secretKeysIn = (
  folder: string,
  given: readonly Uint8Array[],
): readonly [Uint8Array, ...Uint8Array[]] => {
  const path = join(folder, secretKeyFile);
  try {
    const [newest, ...older] = given;
    const kept = readSecretKey(path);
    return newest ? [newest, ...older, ...(kept ? [kept] : [])] : [kept ?? makeSecretKey(path)];
  } catch (error) {
    if (error instanceof StartupProblem) throw error;
    throw new StartupProblem(
      `The file ${path} cannot be read or created (${error instanceof Error ? error.message : String(error)}): give the user that runs Halyard the right to read and write in ${folder}.`,
    );
  }
};

/** Undefined when there is no such file. */
export const readSecretKey = (path: string): Uint8Array | undefined => {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const key = Buffer.from(text, "base64");
  if (key.length !== 32) {
    throw new StartupProblem(
      `The file ${path} does not hold a key of 32 bytes in base64: restore the one that this database was used with.`,
    );
  }
  return key;
};

/** Written under another name and then linked, so that two processes that start at once end up with the same key. */
const makeSecretKey = (path: string): Uint8Array => {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft);
  }
  const key = readSecretKey(path);
  if (!key) throw new StartupProblem(`The file ${path} was removed while Halyard started.`);
  return key;
};
