// npm run first-steps: what a newcomer does, from the packages alone and in an empty folder, with the seconds and megabytes it takes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { blockTitled } from "../test/support/pages.ts";
import { emptyEnvironment } from "./packages/empty-environment.ts";

const folder = mkdtempSync(join(tmpdir(), "halyard-first-steps-"));
const root = join(import.meta.dirname, "..");
/** With what this machine sets to reach the registries. */
const env: NodeJS.ProcessEnv = { ...process.env, ...emptyEnvironment(folder) };
const project = join(folder, "project");
let server: ChildProcess | undefined;

const start = (line: string): ChildProcess =>
  // A group of its own: npx and the shell that it starts pass no signal on.
  spawn("sh", ["-c", line], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });

const shell = async (line: string): Promise<string> => {
  const child = start(line);
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("no output");
  const [output, errors, [code]] = await Promise.all([
    text(stdout),
    text(stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`"${line}" ended with ${code}:\n${output}${errors}`);
  return output;
};

const megabytes = (path: string): string => {
  const files = globSync("**/*", { cwd: join(project, path), withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
};

const serve = async (): Promise<string> => {
  server = start("npx halyard serve --port 0");
  let output = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  while (!output.includes("Try it:")) {
    if (server.exitCode !== null) throw new Error(`The server ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  env.HALYARD_URL = /API +(http:\S+)\/api\/v1/.exec(output)?.[1] ?? "";
  env.HALYARD_API_KEY = /development +(hal_\S+)/.exec(output)?.[1] ?? "";
  return env.HALYARD_URL;
};

const evaluate = async (name: string, command: string): Promise<string> => {
  writeProgram(name);
  const output = await shell(`${command} ${name}`);
  if (/^true\b/i.test(output)) return "true";
  throw new Error(`The flag is on for this user, but the program printed: ${output}`);
};

/** A program of the README, for the server that was started. */
const writeProgram = (name: string): void => {
  const code = blockTitled("README.md", name);
  const url = env.HALYARD_URL ?? "";
  writeFileSync(join(project, name), code.replace("http://127.0.0.1:4400", url));
};

const installPython = async (): Promise<string> => {
  await shell("python3 -m venv venv");
  await shell("venv/bin/pip install -q openfeature-sdk==0.10.0 openfeature-provider-ofrep==0.3.0");
  return megabytes("venv");
};

const steps: readonly (readonly [name: string, work: () => Promise<string>, isOptional?: true])[] =
  [
    [
      "install the server with the command line",
      async () => {
        await shell("npm install ../dist/halyard-server-*.tgz");
        return megabytes("node_modules");
      },
    ],
    ["serve", serve],
    [
      "create a flag and turn it on",
      () =>
        shell(
          "npx halyard flags create new-checkout --percentage 25 && npx halyard flags enable new-checkout",
        ).then(() => ""),
    ],
    [
      "install the SDK",
      async () => {
        await shell("npm install ../dist/halyard-sdk-*.tgz");
        return megabytes("node_modules/@halyard/sdk");
      },
    ],
    ["evaluate from TypeScript", () => evaluate("checkout.mjs", "node")],
    ["install OpenFeature for Python", installPython, true],
    ["evaluate from Python", () => evaluate("checkout.py", "venv/bin/python"), true],
  ];

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

try {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"private":true,"type":"module"}');
  process.chdir(root);
  const packed = spawn(process.execPath, ["scripts/pack.ts", join(folder, "dist")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if ((await once(packed, "close"))[0] !== 0) throw new Error("The packages could not be made.");
  const began = performance.now();
  for (const [name, work, isOptional] of steps) {
    const since = performance.now();
    try {
      const said = await work();
      console.log(`${name}: ${seconds(since)}${said === "" ? "" : `, ${said}`}`);
    } catch (error) {
      if (!isOptional) throw error;
      console.log(`${name}: not here (${String(error).trimEnd().split("\n").at(-1)})`);
      break;
    }
  }
  console.log(`all: ${seconds(began)}, ${megabytes(".")}`);
} finally {
  if (server?.pid !== undefined && server.exitCode === null) {
    process.kill(-server.pid, "SIGTERM");
    await once(server, "close");
  }
  rmSync(folder, { recursive: true, force: true });
}
