// Finds a Node on this machine that is too old to run the command.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export const olderNode = async (path: string): Promise<string | undefined> => {
  const nodes = path
    .split(delimiter)
    .map((folder) => join(folder, "node"))
    .filter(existsSync);
  const versions = await Promise.all(nodes.map(async (node) => (await run(node, ["-v"])).stdout));
  return nodes[versions.findIndex((version) => /^v(1\d|2[0-5])\./.test(version))];
};
