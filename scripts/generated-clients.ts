// npm run clients: generates clients from /openapi.json with other people's generators, and uses each against a started server.
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestServer } from "../packages/server/test/support/server.ts";

const versions = {
  python: "openapi-python-client==0.29.1",
  go: "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1",
  goRuntime: "github.com/oapi-codegen/runtime@v1.8.0",
  typescript: ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3"],
};

const folder = mkdtempSync(join(tmpdir(), "halyard-clients-"));
const programs = join(import.meta.dirname, "generated-clients");
const description = join(folder, "openapi.json");

interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const execute = promisify(execFile);

/** What it printed, errors too; fails with it when the program does. */
const run = async ({ cwd, env = {} }: Place, command: string, ...args: string[]) => {
  // Not to be waited for in this thread: the server is in this process.
  const { stdout, stderr } = await execute(command, args, { cwd, env: { ...process.env, ...env } });
  return stdout + stderr;
};

const place = (name: string, env: Readonly<Record<string, string>> = {}): Place => {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  return { cwd, env };
};

/** Each generates a client and runs a program that uses it. */
const languages: Readonly<
  Record<string, (env: Readonly<Record<string, string>>) => Promise<string>>
> = {
  async python(env) {
    const here = place("python", env);
    await run(here, "python3", "-m", "venv", "venv");
    const bin = join(here.cwd, "venv/bin");
    await run(here, join(bin, "pip"), "install", "--quiet", versions.python);
    const output = ["--meta", "none", "--output-path", "halyard"];
    const generate = ["generate", "--path", description, ...output];
    const said = await run(here, join(bin, "openapi-python-client"), ...generate);
    if (/will not be generated|Unable to/.test(said)) throw new Error(said);
    copyFileSync(join(programs, "use.py"), join(here.cwd, "use.py"));
    return run(here, join(bin, "python"), "use.py");
  },

  async go(env) {
    const GOPATH = join(folder, "gopath");
    const here = place("go", {
      ...env,
      GOPATH,
      GOBIN: join(GOPATH, "bin"),
      GOFLAGS: "-modcacherw",
    });
    await run(here, "go", "install", versions.go);
    await run(here, "go", "mod", "init", "generated");
    mkdirSync(join(here.cwd, "halyard"));
    const output = ["-package", "halyard", "-generate", "types,client", "-o", "halyard/client.go"];
    await run(here, join(GOPATH, "bin/oapi-codegen"), ...output, description);
    copyFileSync(join(programs, "use.go"), join(here.cwd, "main.go"));
    await run(here, "go", "get", versions.goRuntime);
    await run(here, "go", "mod", "tidy");
    await run(here, "go", "vet", "./...");
    return run(here, "go", "run", ".");
  },

  async typescript(env) {
    const here = place("typescript", env);
    writeFileSync(join(here.cwd, "package.json"), '{"type":"module","private":true}');
    await run(
      here,
      "npm",
      "install",
      "--no-audit",
      "--no-fund",
      "@types/node",
      ...versions.typescript,
    );
    const bin = join(here.cwd, "node_modules/.bin");
    await run(here, join(bin, "openapi-typescript"), description, "--output", "halyard.d.ts");
    copyFileSync(join(programs, "use.ts.txt"), join(here.cwd, "use.ts"));
    const options = ["--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    await run(here, join(bin, "tsc"), ...options, "use.ts");
    return run(here, process.execPath, "use.js");
  },
};

const server = await startTestServer();
try {
  const response = await fetch(`${server.url}/openapi.json`);
  writeFileSync(description, await response.text());
  for (const [language, use] of Object.entries(languages)) {
    const { keys } = await server.environment();
    const env = { HALYARD_URL: server.url, HALYARD_API_KEY: keys.admin };
    try {
      console.log(`${language}: ${(await use(env)).trim()}`);
    } catch (error) {
      console.log(`${language}: failed\n${String(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
