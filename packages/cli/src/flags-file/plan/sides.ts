// The flags of a profile's environment, or of a file: what diff and promote compare.
import { existsSync } from "node:fs";
import type { Flag } from "@halyard/core/flags/registry";
import { type Connection, connectBy } from "../../server-connection/connection.ts";
import { readProfiles } from "../../server-connection/profiles.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";
import { readDocument } from "../document.ts";
import { fetchLists } from "../file-kinds.ts";
import { readFlagsFile } from "../read-flags-file.ts";

export const flagsAt = async (connection: Connection): Promise<readonly Flag[]> =>
  (await fetchLists(connection)).flags;

const looksLikeFile = (name: string): boolean => /[/\\]|\.(json|ya?ml)$/i.test(name);

export const flagsOf = async (name: string): Promise<readonly Flag[]> => {
  if (looksLikeFile(name)) {
    if (existsSync(name)) return (await readFlagsFile(await readDocument(name))).flags;
    if (!Object.hasOwn(readProfiles().profiles, name)) {
      throw new CommandFailed(
        `There is neither a file nor a profile "${name}".`,
        exitCodes.notFound,
      );
    }
  }
  return flagsAt(connectBy(name));
};
