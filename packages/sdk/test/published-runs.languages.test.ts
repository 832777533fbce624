// The package as it is published, in programs: as ES module and as CommonJS, in every version of Node that it is for;
// other versions of Node and Jest are loaded from the registry.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { build } from "vite";
import { blockTitled } from "../../../test/support/pages.ts";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { missing } from "./support/guide.ts";
import { installed, type Published, publish } from "./support/published.ts";

const run = promisify(execFile);
let published: Published;
let server: TestServer;
before(async () => {
  published = publish();
  server = await startTestServer();
});
after(async () => {
  await server.close();
  published.remove();
});

const imports = {
  mjs: `
    import { createClient } from "@halyard/sdk";
    import { createContextClient } from "@halyard/sdk/browser";
    import { createManagement } from "@halyard/sdk/management";
    import { HalyardProvider } from "@halyard/sdk/openfeature/server";
    import { HalyardWebProvider } from "@halyard/sdk/openfeature/web";
  `,
  cjs: `
    const { createClient } = require("@halyard/sdk");
    const { createContextClient } = require("@halyard/sdk/browser");
    const { createManagement } = require("@halyard/sdk/management");
    const { HalyardProvider } = require("@halyard/sdk/openfeature/server");
    const { HalyardWebProvider } = require("@halyard/sdk/openfeature/web");
  `,
};
const body = `
  const main = async (url, admin, key) => {
    const { flags } = createManagement({ url, key: admin });
    const client = createClient({ url, key: admin });
    const page = createContextClient({ url, key, context: { targetingKey: "u" } });
    const ready = [(await client.ready()).ok, (await page.ready()).ok];
    const changed = new Promise((resolve) => client.on("change", resolve));
    const changedPage = new Promise((resolve) => page.on("change", resolve));
    await flags.update("a", { enabled: true });
    await Promise.all([changed, changedPage]);
    const answers = [client.isEnabled("a"), page.isEnabled("a")];
    await Promise.all([client.close(), page.close()]);
    await flags.update("a", { enabled: false });
    const provider = new HalyardProvider({ url, key: admin });
    await provider.initialize();
    const { reason } = await provider.resolveBooleanEvaluation("a", true, {});
    await provider.onClose();
    return [...ready, ...answers, reason, typeof HalyardWebProvider];
  };
`;
const answers = [true, true, true, true, "DISABLED", "function"];
const printed = `
  main(...JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv[2]))
    .then((answers) => console.log(JSON.stringify(answers)));
`;

/** The arguments of `main` for an environment that has the flag. */
const newSettings = async (): Promise<readonly string[]> => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  return [server.url, keys.admin, keys.client];
};

const assertRuns = async (format: "mjs" | "cjs", command: string, ...args: readonly string[]) => {
  const file = join(published.folder, `program.${format}`);
  writeFileSync(file, imports[format] + body + printed);
  const settings = JSON.stringify(await newSettings());
  const { stdout } = await run(command, [...args, file, settings], { cwd: published.folder });
  assert.deepEqual(JSON.parse(stdout), answers);
};

/** The program of the README, for the user in its example. */
const assertReadmeRuns = async (node: string): Promise<void> => {
  const { keys, admin } = await server.environment();
  await admin("POST", "/flags", { key: "new-checkout", type: "rollout", percentage: 25 });
  await admin("PATCH", "/flags/new-checkout", { enabled: true });
  const code = blockTitled("README.md", "checkout.mjs");
  writeFileSync(
    join(published.folder, "checkout.mjs"),
    code.replace("http://127.0.0.1:4400", server.url),
  );
  const evaluate = (key: string) =>
    run(node, ["checkout.mjs"], {
      cwd: published.folder,
      env: { ...process.env, HALYARD_API_KEY: key },
    });
  assert.deepEqual(await evaluate(keys.server), { stdout: "true\n", stderr: "" });
  const { stdout, stderr } = await evaluate("hal_wrong");
  assert.equal(stdout, "false\n");
  assert.match(stderr, /^no flags yet, everything is off: .*401.*not valid/m);
};

suite("in programs", () => {
  /** Every Node on this machine of another version, and this one. */
  const nodes = new Map<string, string>([[process.version, process.execPath]]);
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, "node");
    if (!existsSync(path)) continue;
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim();
    if (version !== "" && !nodes.has(version)) nodes.set(version, path);
  }
  for (const [version, path] of nodes) {
    test(`Node ${version}, ES module`, () => assertRuns("mjs", path));
    test(`Node ${version}, CommonJS`, () => assertRuns("cjs", path));
    test(`Node ${version}, the program of the README`, () => assertReadmeRuns(path));
  }
  for (const major of [20, 22, 24]) {
    test(`Node ${major} of the registry, ES module, CommonJS and the program of the README`, async (t) => {
      const name = `node-${process.platform}-${process.arch}`;
      const folder = await installed(t, published, `${name}@${major}`);
      if (folder === undefined) return;
      const node = join(folder, "node_modules", name, "bin/node");
      assert.match((await run(node, ["--version"])).stdout, new RegExp(`^v${major}\\.`));
      await assertRuns("mjs", node);
      await assertRuns("cjs", node);
      await assertReadmeRuns(node);
    });
  }
  const permissions = ["run", "--allow-net", "--node-modules-dir=manual"];
  test("Deno", { skip: missing("deno", "--version") }, () =>
    assertRuns("mjs", "deno", ...permissions),
  );
  test("Bun", { skip: missing("bun", "--version") }, () => assertRuns("mjs", "bun", "run"));
});

test("in Jest", async (t) => {
  const folder = await installed(t, published, "jest@30");
  if (folder === undefined) return;
  const settings = JSON.stringify(await newSettings());
  writeFileSync(
    join(folder, "halyard.test.js"),
    `${imports.cjs}${body}
    test("it runs", async () => expect(await main(...${settings})).toEqual(${JSON.stringify(answers)}));`,
  );
  const { stderr } = await run(process.execPath, ["node_modules/jest/bin/jest.js"], {
    cwd: folder,
  });
  assert.match(stderr, /Tests: +1 passed, 1 total/);
});

test("in a bundle of Vite, with what the program uses and no more", async () => {
  const folder = join(published.folder, "page");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "page.js"),
    `import { verifyWebhook } from "@halyard/sdk/webhooks";
    const request = ["{}", new Headers(), "whsec_AAAA"];
    globalThis.answer = verifyWebhook(...request).then(() => "genuine", (error) => error.message);`,
  );
  await build({
    root: folder,
    configFile: false,
    logLevel: "warn",
    build: { rolldownOptions: { input: join(folder, "page.js") } },
  });
  const [name = ""] = readdirSync(join(folder, "dist/assets"));
  const bundle = join(folder, "dist/assets", name);
  assert.doesNotMatch(readFileSync(bundle, "utf8"), /api\/v1/, "the client is in it");
  await import(bundle);
  const { answer } = globalThis as unknown as { readonly answer: Promise<string> };
  assert.match(await answer, /signature|webhook/i);
});
