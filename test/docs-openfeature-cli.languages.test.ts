// docs/evaluate/openfeature-cli.md, with the OpenFeature CLI itself: pull, generate, compile, run, push.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { promisify, stripVTControlCharacters } from "node:util";
import { createManagement } from "../packages/sdk/src/management.ts";
import { folderOf } from "../packages/sdk/test/support/guide.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";
import { blockTitled, root } from "./support/pages.ts";

const run = promisify(execFile);
const page = "docs/evaluate/openfeature-cli.md";

suite("the OpenFeature CLI", () => {
  const programs = mkdtempSync(join(tmpdir(), "halyard-test-openfeature-"));
  let server: TestServer;
  /** The folder of the program `openfeature`, or why there is none. */
  let found: { readonly folder: string } | { readonly reason: string };

  before(async () => {
    server = await startTestServer();
    const given = process.env.OPENFEATURE_BIN;
    try {
      if (given === undefined) {
        const env = { ...process.env, GOBIN: programs };
        await run("sh", ["-ec", blockTitled(page, "install")], { cwd: programs, env });
      }
      const folder = given === undefined ? programs : dirname(resolve(given));
      await run(join(folder, "openfeature"), ["version"]);
      found = { folder };
    } catch (error) {
      const [first, second = ""] = String(error).split(/\n+/);
      found = { reason: `no openfeature here; OPENFEATURE_BIN can name one: ${first} ${second}` };
    }
  });
  after(async () => {
    await server.close();
    rmSync(programs, { recursive: true, force: true });
  });

  /** An environment with flags, and a shell in a folder with these files where the manifest was pulled. */
  const prepare = async (t: TestContext, files: Readonly<Record<string, string>> = {}) => {
    if ("reason" in found) {
      t.skip(found.reason);
      return undefined;
    }
    const { keys, newKey } = await server.environment();
    const { flags } = createManagement({ url: server.url, key: keys.admin });
    const made = [
      await flags.create({ key: "new-checkout", type: "boolean" }),
      await flags.update("new-checkout", { enabled: true }),
      await flags.create({
        ...{ key: "button-size", type: "variant", valueType: "string", off: "small" },
        ...{ variants: { small: "S", large: "L" }, otherwise: "large" },
      }),
      await flags.update("button-size", { enabled: true }),
    ];
    assert.ok(made.every(({ ok }) => ok));
    const here = (text: string) => text.replaceAll("http://127.0.0.1:4400", server.url);
    const cwd = folderOf(
      t,
      Object.fromEntries(Object.entries(files).map(([name, text]) => [name, here(text)])),
    );
    const env = {
      ...process.env,
      HALYARD_API_KEY: await newKey("editor"),
      PATH: [found.folder, join(root, "node_modules/.bin"), process.env.PATH].join(":"),
    };
    const shell = async (script: string): Promise<string> =>
      stripVTControlCharacters((await run("sh", ["-ec", here(script)], { cwd, env })).stdout);
    await shell(blockTitled(page, "pull"));
    return { shell, flags, cwd };
  };

  const readManifest = (cwd: string) =>
    JSON.parse(readFileSync(join(cwd, "flags.json"), "utf8")).flags as Record<string, object>;

  test("TypeScript: the accessors compile, and give the values", async (t) => {
    const prepared = await prepare(t, { "src/main.ts": blockTitled(page, "src/main.ts") });
    if (!prepared) return;
    const { shell } = prepared;
    await shell(blockTitled(page, "generate nodejs"));
    assert.equal(await shell(blockTitled(page, "run nodejs")), blockTitled(page, "output nodejs"));
    await assert.rejects(
      shell(`sed -i s/buttonSize/buttonSise/ src/main.ts
        ${blockTitled(page, "run nodejs")}`),
      ({ stdout }: { stdout: string }) => /'buttonSise' does not exist/.test(stdout),
    );
  });

  test("Go: the accessors compile, and give the values", async (t) => {
    const prepared = await prepare(t, { "main.go": blockTitled(page, "main.go") });
    if (!prepared) return;
    await prepared.shell(blockTitled(page, "generate go"));
    assert.equal(await prepared.shell(blockTitled(page, "run go")), blockTitled(page, "output go"));
  });

  test("a pushed flag is made, a second push changes nothing, and a removed description goes", async (t) => {
    const prepared = await prepare(t);
    if (!prepared) return;
    const { shell, flags, cwd } = prepared;
    assert.deepEqual(readManifest(cwd), {
      "button-size": { defaultValue: "S", description: "", flagType: "string" },
      "new-checkout": { defaultValue: false, description: "", flagType: "boolean" },
    });
    assert.match(await shell(blockTitled(page, "push")), /pushed 1 flag/);
    const pushed = await flags.get("upload-limit");
    assert.ok(pushed.ok);
    const flag = pushed.value;
    assert.deepEqual(flag, {
      ...{ key: "upload-limit", type: "variant", enabled: false, valueType: "number" },
      ...{ variants: { default: 10 }, off: "default", otherwise: "default" },
      description: "Megabytes",
    });
    const [, push = ""] = blockTitled(page, "push").split("\n");
    assert.match(await shell(push), /No changes needed/);
    await shell(`sed -i 's/"Megabytes"/""/; s/: 10,/: 20,/' flags.json
      ${push}`);
    const changed = await flags.get("upload-limit");
    assert.ok(changed.ok);
    assert.deepEqual(changed.value, { ...flag, variants: { default: 20 }, description: null });
    assert.match(await shell(push), /No changes needed/);
  });

  test("what is refused is printed with its reason", async (t) => {
    const prepared = await prepare(t);
    if (!prepared) return;
    const { shell } = prepared;
    const [, push = ""] = blockTitled(page, "push").split("\n");
    const refused = (script: string, reason: RegExp) =>
      assert.rejects(shell(script), ({ stdout, stderr }: { stdout: string; stderr: string }) =>
        reason.test(stdout + stderr),
      );
    await refused(
      `openfeature manifest add always --type boolean --default-value true
      ${push}`,
      /status 409\): A boolean flag gives false while it is off/,
    );
    await refused(`HALYARD_API_KEY=nonsense; ${blockTitled(page, "pull")}`, /API key is not valid/);
  });

  test("every generator of the page takes the manifest", async (t) => {
    const prepared = await prepare(t);
    if (!prepared) return;
    const { shell, cwd } = prepared;
    for (const name of ["nodejs", "react", "angular", "nestjs", "go", "python", "java", "csharp"]) {
      mkdirSync(join(cwd, name));
      await shell(`openfeature generate ${name} --output ${name}`);
      assert.match(await shell(`cat ${name}/*`), /button-size/, name);
    }
  });
});
