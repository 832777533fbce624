#!/usr/bin/env node
// Starts the command on the Node that the project brings when the one at hand is too old to run TypeScript.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = join(dirname(fileURLToPath(import.meta.url)), "../src/main.ts");
const neededMajor = 26;

// Compiled once, kept in a folder of the installation: the next start takes half the time and less memory. Not in the
// folder for temporary files, where others could put something in its place.
const modules = nodeModulesAbove(dirname(main));
if (modules !== undefined) {
  process.env.NODE_COMPILE_CACHE ??= join(modules, ".cache/halyard");
}

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await import(main);
} else {
  const node = findNode();
  if (node === undefined) {
    console.error(
      `halyard: Node ${neededMajor} or newer is needed and this is ${process.version}. Run "npm ci" in the project folder (without --omit=dev, NODE_ENV=production or --ignore-scripts), or "npm install node@${neededMajor}": both install it for this project only.`,
    );
    process.exit(1);
  }
  // The channel tells the child when this process is gone, however it went: the child then ends too.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

function nodeModulesAbove(folder) {
  const here = join(folder, "node_modules");
  if (existsSync(here)) return here;
  const above = dirname(folder);
  return above === folder ? undefined : nodeModulesAbove(above);
}

function findNode() {
  try {
    const path = join(dirname(module.createRequire(main).resolve("node/package.json")), "bin/node");
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
