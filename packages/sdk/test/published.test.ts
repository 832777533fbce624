// The package as it is published: what is in it, that it needs nothing, and that programs with it compile.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { type Published, publish, root } from "./support/published.ts";

const run = promisify(execFile);
let published: Published;
before(() => {
  published = publish();
});
after(() => published.remove());

suite("what is in it", () => {
  test("bundles, declarations, a licence and a page; nothing else", () => {
    const others = published.files.filter(
      (name) => !/^(esm|cjs)\/types\/([a-z-]+\/)*[a-z-]+\.d\.ts$/.test(name),
    );
    const scripts = others.filter((name) => /^(esm|cjs)\/[a-z-]+\.js$/.test(name));
    assert.deepEqual(
      others.filter((name) => !scripts.includes(name)),
      ["LICENSE", "README.md", "cjs/package.json", "esm/package.json", "package.json"],
    );
    for (const [entry, types] of [
      ["index", "index"],
      ["openfeature-server", "openfeature/server"],
      ["openfeature-web", "openfeature/web"],
    ] as const) {
      for (const format of ["esm", "cjs"]) {
        assert.ok(scripts.includes(`${format}/${entry}.js`), entry);
        assert.ok(published.files.includes(`${format}/types/${types}.d.ts`), types);
      }
    }
  });

  test("publint and Are the Types Wrong find nothing", async () => {
    const bytes = readFileSync(published.tarball);
    const tarball = new Uint8Array(bytes).buffer;
    const { messages } = await publint({ pack: { tarball }, strict: true });
    assert.deepEqual(messages, []);
    const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
    assert.ok(checked.types, "it has no types");
    const problems = checked.problems
      // Entries beside the first cannot be found without `exports`, which TypeScript 7 always reads.
      .filter((each) => !("resolutionKind" in each && each.resolutionKind === "node10"))
      .map((each) => JSON.stringify(each));
    assert.deepEqual(problems, []);
  });

  test("no dependency, no module of Node, nothing of this workspace", () => {
    const text = readFileSync(join(published.installed, "package.json"), "utf8");
    const manifest = JSON.parse(text) as Record<string, unknown>;
    assert.equal(manifest.dependencies, undefined);
    assert.equal(manifest.private, undefined);
    assert.equal(manifest.sideEffects, false);
    assert.deepEqual(
      Object.keys(manifest.peerDependenciesMeta ?? {}),
      Object.keys(manifest.peerDependencies ?? {}),
    );
    const imports = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
    for (const file of published.files.filter((name) => /\.(js|ts)$/.test(name))) {
      const source = readFileSync(join(published.installed, file), "utf8");
      const names = [...source.matchAll(imports)].map((match) => match[1] ?? "");
      const foreign = names.filter((name) => !name.startsWith("."));
      const allowed = /types\/openfeature\//.test(file) ? /^@openfeature\// : /^$/;
      assert.deepEqual(
        foreign.filter((name) => !allowed.test(name)),
        [],
        file,
      );
      const code = source.replace(/\/\*.*?\*\//gs, "");
      assert.doesNotMatch(code, /typebox|packages\/|\b(process|Buffer)\.|\brequire\("[^.]/, file);
    }
    assert.deepEqual(readdirSync(join(published.folder, "node_modules/@halyard")), ["sdk"]);
  });
});

suite("programs with it compile", () => {
  const compile = async (
    name: string,
    sources: readonly string[],
    options: object,
    ...packages: string[]
  ) => {
    const folder = join(published.folder, name);
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    for (const each of packages) {
      const place = join(folder, "node_modules", each);
      mkdirSync(join(place, ".."), { recursive: true });
      symlinkSync(join(root, "node_modules", each), place);
    }
    const files = sources.map((_, index) => `program-${index}.ts`);
    for (const [index, file] of files.entries()) {
      writeFileSync(join(folder, file), sources[index] ?? "");
    }
    const compilerOptions = {
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      target: "es2022",
      types: [],
      ...options,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    try {
      return (await run(join(root, "node_modules/.bin/tsc"), ["-p", folder])).stdout;
    } catch (cause) {
      return (cause as { stdout: string }).stdout;
    }
  };

  const program = `
    import { createClient, createContextClient, createManagement, verifyWebhook, type Flag } from "@halyard/sdk";
    const client = createClient({ url: "https://flags.example.com", key: "k", bootstrap: [] });
    const isOn: boolean = client.isEnabled("a", { targetingKey: "u", plan: "free" }, false);
    const end: () => void = client.on("change", ({ keys }) => keys.map((key) => key.length));
    const page = createContextClient({ url: "https://flags.example.com", key: "k", context: { targetingKey: "u" } });
    const { flags } = createManagement({ url: "https://flags.example.com", key: "k" });
    const made = await flags.create({ key: "a", type: "boolean" });
    const flag: Flag | undefined = made.ok ? made.value : made.error.current;
    for await (const each of flags.pages({ limit: 10 })) if (each.ok) each.value[0]?.key;
    const event = await verifyWebhook("{}", new Headers(), "whsec_");
    if (event.type === "flag.created") event.data.flag.enabled;
    // @ts-expect-error
    client.on("nothing", () => {});
    // @ts-expect-error
    await flags.update("a", { type: "rollout" });
    export { isOn, end, page, flag };
  `;
  const node = { module: "nodenext", lib: ["es2023"], types: ["node"] };
  for (const [name, options, packages] of [
    ["browser", { module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"] }, []],
    ["node", node, ["@types/node", "undici-types"]],
  ] as const) {
    test(`for a ${name}, with strict types and every declaration checked`, async () => {
      assert.equal(await compile(name, [program], options, ...packages), "");
    });
  }

  test("in CommonJS, with declarations that are CommonJS too", async () => {
    const source = `
      import sdk = require("@halyard/sdk");
      const client: sdk.Client = sdk.createClient({ url: "https://flags.example.com", key: "k" });
      const isOn: boolean = client.isEnabled("a");
      export = isOn;
    `;
    mkdirSync(join(published.folder, "commonjs"));
    writeFileSync(join(published.folder, "commonjs/package.json"), '{"type":"commonjs"}');
    assert.equal(await compile("commonjs", [source], node, "@types/node", "undici-types"), "");
  });

  // The package's own declarations find the peers where users have them: beside it.
  const withPeers = async (name: string, sources: readonly string[]) => {
    const peers = join(published.folder, "node_modules/@openfeature");
    if (!existsSync(peers)) symlinkSync(join(root, "node_modules/@openfeature"), peers);
    const options = { module: "nodenext", lib: ["es2023", "dom"], types: ["node"] };
    const told = await compile(name, sources, options, "@types/node", "undici-types");
    // With this compiler a declaration of OpenFeature's own is faulty; ours and the program are not.
    const errors = told.split("\n").filter((line) => line.includes(": error "));
    return errors.filter((line) => !line.startsWith("node_modules/@openfeature/"));
  };

  test("with every example of docs/evaluate/typescript.md and packages/sdk/README.md", async () => {
    const sources = ["docs/evaluate/typescript.md", "packages/sdk/README.md"].flatMap((file) => {
      const blocks = readFileSync(join(root, file), "utf8").matchAll(/^```ts\n(.*?)^```$/gms);
      const found = [...blocks].map((match) => match[1] ?? "");
      assert.ok(found.length > 0, file);
      return found;
    });
    assert.deepEqual(await withPeers("examples", sources), []);
  });
});
