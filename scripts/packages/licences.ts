// The licences of the packages whose code is in a bundle: each of them asks to be passed on with the code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

const packageFolder = (file: string): string => {
  const folder = dirname(file);
  const manifest = join(folder, "package.json");
  // Folders inside a package have manifests too, which only name the kind of their modules.
  if (existsSync(manifest) && "version" in (JSON.parse(readFileSync(manifest, "utf8")) as object)) {
    return folder;
  }
  return packageFolder(folder);
};

const textOf = (folder: string): string => {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { name = "", version = "", license } = manifest;
  if (license === undefined) throw new Error(`${name} names no licence`);
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
};

/** Of the packages that these files belong to, by name. */
export const licencesOf = (files: readonly string[]): string => {
  const folders = new Set(files.map(packageFolder));
  // One package can be there in several places.
  const texts = [...new Set([...folders].map(textOf))].toSorted();
  return `This package contains code of these packages.\n\n${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
};
