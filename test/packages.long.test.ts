// The packages as `npm run pack` makes them: installed into empty folders, started and used by the lines that we show.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { snippetsFor } from "../packages/dashboard/src/flags/snippets.ts";
import { createManagement } from "../packages/sdk/src/management.ts";
import { startIdentityProvider } from "../packages/server/test/support/identity-provider.ts";
import { until } from "../packages/server/test/support/until.ts";
import { emptyEnvironment } from "../scripts/packages/empty-environment.ts";
import { olderNode } from "./support/older-node.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "halyard-packages-"));
const server = join(folder, "server");
const started: ChildProcess[] = [];
after(async () => {
  const ended = started
    .filter(({ exitCode }) => exitCode === null)
    .map(async (child) => {
      // npx and the shell that it starts pass no signal on: the whole group gets it.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      await once(child, "close");
    });
  await Promise.all(ended);
  rmSync(folder, { recursive: true, force: true });
});

/** Without a registry: what is installed needs nothing else. */
const env = {
  ...emptyEnvironment(folder),
  npm_config_registry: "http://127.0.0.1:9/",
  npm_config_fetch_retries: "0",
  npm_config_audit: "false",
  npm_config_fund: "false",
};
const shell = (cwd: string, line: string, variables: NodeJS.ProcessEnv = {}) =>
  run("sh", ["-c", line], { cwd, env: { ...env, ...variables } });

const project = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, "package.json"), '{"private":true,"type":"module"}');
  return path;
};

interface Running {
  readonly url: string;
  /** An admin key of development. */
  readonly key: string;
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");
/** As the documents show them, in a folder with what `npm run pack` has made. */
const [, installLine = "", serveLine = ""] =
  /^```sh\n(npm install .*)\n(.* serve)\n```$/m.exec(read("docs/operate/run.md")) ?? [];

const serve = (...options: readonly string[]): Promise<Running> => serveWith({}, options);

const serveWith = async (
  variables: NodeJS.ProcessEnv,
  options: readonly string[],
): Promise<Running> => {
  const child = spawn("sh", ["-c", [serveLine, "--port 0", ...options].join(" ")], {
    cwd: server,
    env: { ...env, ...variables },
    detached: true,
  });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  await until("the server is up", () => {
    assert.equal(child.exitCode, null, output);
    return output.includes("Try it:");
  });
  const [, url = ""] = /API +(http:\S+)\/api\/v1/.exec(output) ?? [];
  const [, key = ""] = /development +(hal_\S+)/.exec(output) ?? [];
  return { url, key };
};

let tarballs: string[];
let running: Running;
before(async () => {
  project("server");
  await run(process.execPath, [join(root, "scripts/pack.ts"), join(server, "dist")]);
  tarballs = globSync("*.tgz", { cwd: join(server, "dist") }).toSorted();
  await shell(server, installLine);
  running = await serve();
});

suite("the package of the server", () => {
  const installed = join(server, "node_modules/@halyard/server");

  test("there are two packages, of the version of every manifest in the repository", () => {
    const versions = ["package.json", ...globSync("packages/*/package.json", { cwd: root })].map(
      (file) => (JSON.parse(readFileSync(join(root, file), "utf8")) as { version: string }).version,
    );
    assert.deepEqual(new Set(versions).size, 1, versions.join());
    assert.deepEqual(tarballs, [
      `halyard-sdk-${versions[0]}.tgz`,
      `halyard-server-${versions[0]}.tgz`,
    ]);
  });

  test("is plain JavaScript, needs nothing else, and passes publint", async () => {
    const files = globSync("**/*", { cwd: installed });
    assert.deepEqual(
      files.filter((file) => /\.tsx?$|node_modules|\.test\./.test(file)),
      [],
    );
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as object;
    assert.ok(
      !("dependencies" in manifest) && !("scripts" in manifest) && !("private" in manifest),
    );
    const licences = readFileSync(join(installed, "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["fastify", "kysely", "undici", "pg", "@fastify/swagger-ui"]) {
      assert.match(licences, new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, "m"));
    }
    const bytes = readFileSync(join(server, "dist", tarballs[1] ?? ""));
    const { messages } = await publint({
      pack: { tarball: new Uint8Array(bytes).buffer },
      strict: true,
    });
    assert.deepEqual(messages, []);
  });

  test("serves the API, the dashboard and the reference", async () => {
    for (const [path, what] of [
      ["/", /__CSP_NONCE__|csp-nonce/],
      ["/docs", /Halyard API/],
      ["/docs/static/swagger-ui-bundle.js", /SwaggerUIBundle/],
      ["/openapi.json", /"openapi"/],
      ["/readyz", /ready|ok/],
    ] as const) {
      const response = await fetch(running.url + path);
      assert.equal(response.status, 200, path);
      assert.match(await response.text(), what, path);
    }
    const { stdout } = await shell(server, "npx halyard flags create from-the-package", {
      HALYARD_URL: running.url,
      HALYARD_API_KEY: running.key,
    });
    assert.match(stdout, /from-the-package/);
  });

  test("starts worker processes, and its operator's commands find the database", async () => {
    const { url, key } = await serve("--workers 2", "--data two");
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${url}/api/v1/flags`, { headers })).status, 200);
    const { stdout } = await shell(server, "npx halyard doctor --data two");
    assert.match(stdout, /schema/i);
  });

  test("sends people to a provider, with code that it loads only then", async (t) => {
    const provider = await startIdentityProvider();
    t.after(() => provider.close());
    const file = join(server, "providers.json");
    const { issuer } = provider;
    writeFileSync(
      file,
      JSON.stringify([{ id: "acme", name: "Acme", issuer, clientId: "halyard" }]),
    );
    const settings = { HALYARD_OIDC_FILE: file, HALYARD_PUBLIC_URL: "https://flags.example.com" };
    const { url } = await serveWith(settings, ["--data", "providers"]);
    const answer = await fetch(`${url}/sign-in/oidc/acme`, { redirect: "manual" });
    assert.equal(answer.status, 303);
    assert.equal(new URL(answer.headers.get("location") ?? "").origin, issuer);
    const holding = globSync("lib/*.js", { cwd: installed }).filter((name) =>
      readFileSync(join(installed, name), "utf8").includes("OAUTH_WWW_AUTHENTICATE_CHALLENGE"),
    );
    assert.match(holding.join(), /^lib\/openid-[^,]*\.js$/, "it is in a file of its own");
  });

  test("says what is missing on an older Node", async (t) => {
    const node = await olderNode(env.PATH);
    if (node === undefined) return t.skip("there is no older Node here");
    const command = run(node, [join(installed, "bin/halyard.mjs")]);
    const message =
      /halyard: Node 26 or newer is needed and this is v\S+\. Run "npm install node@26" in (?<folder>.+), which .*\n$/;
    const error = (await command.catch((thrown: unknown) => thrown)) as { readonly stderr: string };
    const { folder: there = "" } = message.exec(error.stderr)?.groups ?? {};
    assert.equal(realpathSync(there), realpathSync(server), error.stderr);
    // What that line installs, without a registry: the command of the package "node".
    const bin = join(server, "node_modules/.bin/node");
    symlinkSync(process.execPath, bin);
    t.after(() => rmSync(bin));
    const found = env.PATH.split(delimiter).filter((path) => path !== dirname(process.execPath));
    const { stdout } = await shell(server, "npx halyard --version", {
      PATH: [dirname(node), ...found].join(delimiter),
    });
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });
});

suite("the install lines that the dashboard shows", () => {
  const snippets = (url: string) =>
    snippetsFor({ key: "shown", usesTargetingKey: true, url }).filter(({ install }) =>
      install?.includes("/sdk/halyard-sdk-"),
    );

  const follow = async (name: string): Promise<void> => {
    const snippet = snippets(running.url).find((each) => each.name === name);
    assert.ok(snippet?.install);
    const cwd = project(name.replaceAll(/\W+/g, "-"));
    await shell(cwd, snippet.install);
    writeFileSync(
      join(cwd, "shown.js"),
      `const user = { id: "user-7" };\n${snippet.code.replace("// on", 'console.log("it is on");')}\nprocess.exit();`,
    );
    const { stdout } = await shell(cwd, "node shown.js", { HALYARD_API_KEY: running.key });
    assert.equal(stdout, "it is on\n");
  };

  before(async () => {
    const { flags } = createManagement({ url: running.url, key: running.key });
    await flags.create({ key: "shown", type: "boolean" });
    assert.ok((await flags.update("shown", { enabled: true })).ok);
  });

  test("there are three, and every one names a file that is there", async () => {
    const lines = snippets(running.url).map(({ install }) => install ?? "");
    assert.equal(lines.length, 3);
    for (const line of lines) {
      const [url = ""] = /http:\S+\.tgz$/.exec(line) ?? [];
      assert.equal((await fetch(url, { method: "HEAD" })).status, 200, line);
    }
  });

  test("the SDK is installed from the running server alone, and the code works", () =>
    follow("Node, Halyard SDK"));

  test("docs/evaluate/typescript.md: a copy of the package is kept and installed without the server", async () => {
    const [, lines = ""] =
      /^```sh\n(npm pack .*?)^```$/ms.exec(read("docs/evaluate/typescript.md")) ?? [];
    const cwd = project("copy");
    await shell(cwd, lines.replaceAll("https://flags.example.com", running.url));
    const program = `import("@halyard/sdk").then(({ createClient }) => console.log(typeof createClient))`;
    const { stdout } = await run(process.execPath, ["-e", program], { cwd });
    assert.equal(stdout, "function\n");
  });

  test("documents name the tarballs of this version", () => {
    const names = globSync("{*.md,docs/**/*.md,packages/*/README.md}", { cwd: root })
      .filter((file) => file !== "CHANGELOG.md")
      .flatMap((file) => [...read(file).matchAll(/halyard-(?:sdk|server)-\d[\d.]*\d\.tgz/g)])
      .map(([name]) => name);
    assert.deepEqual([...new Set(names)].toSorted(), tarballs);
  });
});
