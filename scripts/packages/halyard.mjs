#!/usr/bin/env node
// The command of the built package.
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";

const neededMajor = 26;
const modules = nodeModulesAbove(import.meta.dirname);

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  // In a project, npx finds the Node that the project installs. A global installation needs a newer Node itself.
  const project = modules === undefined ? undefined : dirname(modules);
  const remedy =
    project !== undefined && existsSync(join(project, "package.json"))
      ? `Run "npm install node@${neededMajor}" in ${project}, which installs it for this project only. Then start the command there with npx, as in "npx halyard serve".`
      : "Install it and try again.";
  console.error(
    `halyard: Node ${neededMajor} or newer is needed and this is ${process.version}. ${remedy}`,
  );
  process.exit(1);
}

// Compiled once, kept in a folder of the installation: the next start takes half the time. Not in the folder for temporary
// files, where others could put something in its place. An installation that nobody may write to starts without it.
if (modules !== undefined) process.env.NODE_COMPILE_CACHE ??= join(modules, ".cache/halyard");
const cache = process.env.NODE_COMPILE_CACHE;
if (cache !== undefined) module.enableCompileCache(cache);
await import("../lib/halyard.js");

function nodeModulesAbove(folder) {
  const above = dirname(folder);
  if (above === folder) return undefined;
  return existsSync(join(above, "node_modules"))
    ? join(above, "node_modules")
    : nodeModulesAbove(above);
}
