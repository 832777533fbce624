// The package as users get it: built, packed by npm and installed into an empty folder, once for each test file.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../../", import.meta.url));

export interface Published {
  /** A folder in which the package is installed. */
  readonly folder: string;
  /** Where the package is in it. */
  readonly installed: string;
  /** What npm packed. */
  readonly files: readonly string[];
  remove(): void;
}

export const publish = (): Published => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-published-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8" });
  try {
    run(process.execPath, join(root, "scripts/build-sdk.ts"), join(folder, "built"));
    writeFileSync(join(folder, "package.json"), '{"name":"user","private":true,"type":"module"}');
    const packed = JSON.parse(run("npm", "pack", "--json", "./built")) as
      | { filename: string; files: { path: string }[] }[]
      | Record<string, { filename: string; files: { path: string }[] }>;
    const [made] = Object.values(packed);
    if (made === undefined) throw new Error("npm packed nothing");
    run("npm", "install", "--offline", "--no-audit", "--no-fund", `./${made.filename}`);
    return {
      folder,
      installed: join(folder, "node_modules/@halyard/sdk"),
      files: made.files.map(({ path }) => path).toSorted(),
      remove,
    };
  } catch (cause) {
    remove();
    throw cause;
  }
};
