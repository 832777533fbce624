#!/usr/bin/env node
// The command of the built package.
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";

const neededMajor = 26;
if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  console.error(
    `halyard: Node ${neededMajor} or newer is needed and this is ${process.version}; install it and try again.`,
  );
  process.exit(1);
}

// Compiled once, kept in a folder of the installation: the next start takes half the time. Not in the folder for temporary
// files, where others could put something in its place. An installation that nobody may write to starts without it.
const modules = nodeModulesAbove(import.meta.dirname);
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
