// Makes the tarball of a folder that holds a package.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

interface Packed {
  readonly filename: string;
}

/** Returns the path of the tarball. */
export const packFolder = (folder: string, destination: string): string => {
  const written = execFileSync(
    "npm",
    ["pack", "--json", "--loglevel=error", "--pack-destination", destination],
    { cwd: folder, encoding: "utf8" },
  );
  // An array from npm 10, an object by name from npm 11.
  const [packed] = Object.values(JSON.parse(written) as Record<string, Packed>);
  if (packed === undefined) throw new Error(`npm packed nothing of ${folder}`);
  return join(destination, packed.filename);
};
