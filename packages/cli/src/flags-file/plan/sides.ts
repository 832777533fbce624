// The two sides that diff and promote compare: flags and segments of an environment, now or in the past, or of a file.
import { existsSync } from "node:fs";
import { connectBy } from "../../server-connection/connection.ts";
import { pastIn } from "../../server-connection/past-options.ts";
import { readProfiles } from "../../server-connection/profiles.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed } from "../../terminal/output.ts";
import { readDocument } from "../document.ts";
import { type FileLists, fetchLists, fetchPastLists } from "../file-kinds.ts";
import { readFlagsFile } from "../read-flags-file.ts";

const looksLikeFile = (name: string): boolean => /[/\\]|\.(json|ya?ml)$/i.test(name);

export const listsOf = async (name: string): Promise<FileLists> => {
  if (looksLikeFile(name)) {
    if (existsSync(name)) return readFlagsFile(await readDocument(name));
    if (!Object.hasOwn(readProfiles().profiles, name)) {
      throw new CommandFailed(`There is no file and no profile "${name}".`, exitCodes.notFound);
    }
  }
  // A profile with exactly this name takes precedence.
  const [, profile = "", when] = /^(.+)@([^@]+)$/.exec(name) ?? [];
  if (when === undefined || Object.hasOwn(readProfiles().profiles, name)) {
    return fetchLists(connectBy(name));
  }
  return fetchPastLists(connectBy(profile), pastIn(when));
};
