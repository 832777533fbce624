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

/** Each entry point, and the values that it exports. */
const entries: Readonly<Record<string, readonly string[]>> = {
  index: ["createClient"],
  browser: ["createContextClient"],
  edge: ["createEdgeClient"],
  management: ["createManagement"],
  webhooks: ["WebhookVerificationError", "verifyWebhook"],
  "openfeature/server": ["HalyardProvider"],
  "openfeature/web": ["HalyardWebProvider"],
};

suite("what is in it", () => {
  test("bundles, declarations, a licence and a page; nothing else", () => {
    const others = published.files.filter(
      (name) => !/^(esm|cjs)\/types\/([a-z-]+\/)*[a-z-]+\.d\.ts$/.test(name),
    );
    const scripts = others.filter((name) => /^(esm|cjs)\/([a-z-]+\/)?[a-z-]+\.js$/.test(name));
    assert.deepEqual(
      others.filter((name) => !scripts.includes(name)),
      [
        "LICENSE",
        "README.md",
        ...["cjs", "esm", ".", ...Object.keys(entries).filter((entry) => entry !== "index")].map(
          (folder) => join(folder, "package.json"),
        ),
      ].toSorted(),
    );
    for (const entry of Object.keys(entries)) {
      for (const format of ["esm", "cjs"]) {
        assert.ok(scripts.includes(`${format}/${entry}.js`), entry);
        assert.ok(published.files.includes(`${format}/types/${entry}.d.ts`), entry);
      }
    }
  });

  test("each entry point exports its own calls and no others", async () => {
    const text = readFileSync(join(published.installed, "package.json"), "utf8");
    const { exports } = JSON.parse(text) as { exports: Record<string, object> };
    const paths = Object.keys(entries).map((entry) => (entry === "index" ? "." : `./${entry}`));
    assert.deepEqual(Object.keys(exports), [...paths, "./package.json"]);
    for (const [entry, names] of Object.entries(entries)) {
      const module = (await import(join(published.installed, `esm/${entry}.js`))) as object;
      assert.deepEqual(Object.keys(module).toSorted(), names, entry);
    }
  });

  test("the types of the clients do not depend on those of the management API", () => {
    const reached = (file: string, files = new Set<string>()): ReadonlySet<string> => {
      if (files.has(file)) return files;
      files.add(file);
      const text = readFileSync(join(published.installed, file), "utf8");
      for (const [, path = ""] of text.matchAll(/\bfrom "(\.[^"]+)\.js"/g)) {
        reached(join(file, "..", `${path}.d.ts`), files);
      }
      return files;
    };
    for (const entry of ["index", "browser", "edge", "openfeature/server", "openfeature/web"]) {
      const files = [...reached(`esm/types/${entry}.d.ts`)];
      assert.ok(files.length > 5, entry);
      assert.deepEqual(
        files.filter((file) => /management|webhooks|plan/.test(file)),
        [],
        entry,
      );
    }
  });

  test("publint and Are the Types Wrong find nothing", async () => {
    const bytes = readFileSync(published.tarball);
    const tarball = new Uint8Array(bytes).buffer;
    const { messages } = await publint({ pack: { tarball }, strict: true });
    assert.deepEqual(messages, []);
    const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
    assert.ok(checked.types, "it has no types");
    // This includes resolution without `exports`, by TypeScript with `moduleResolution: node10`.
    assert.deepEqual(
      checked.problems.map((each) => JSON.stringify(each)),
      [],
    );
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
    import { createClient, type Flag } from "@halyard/sdk";
    import { createContextClient } from "@halyard/sdk/browser";
    import { createManagement } from "@halyard/sdk/management";
    import { verifyWebhook } from "@halyard/sdk/webhooks";
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

  test("with interfaces as contexts and values; what the clients return is read-only", async () => {
    const source = `
      import { createClient } from "@halyard/sdk";
      import { createContextClient } from "@halyard/sdk/browser";
      interface User { targetingKey: string; plan: string }
      interface Visitor { plan: string }
      interface Layout { columns: number; colors: string[] }
      declare const user: User, visitor: Visitor, layout: Layout;
      const address = { url: "https://flags.example.com", key: "k" };
      const client = createClient({ ...address, overrides: { layout } });
      const page = createContextClient({ ...address, context: user, bootstrap: { layout } });
      client.isEnabled("a", visitor);
      client.override("layout", layout);
      await page.setContext(visitor);
      export const columns: number[] = [
        client.details("layout", user, layout).value.columns,
        client.objectValue("layout", user, layout).columns,
        page.details("layout", layout).value.columns,
        page.objectValue("layout", layout).columns,
      ];
      export const colors: readonly string[] = page.objectValue("layout", layout).colors;
      // @ts-expect-error
      client.objectValue("layout", user, layout).columns = 2;
      // @ts-expect-error
      client.details("layout", user, layout).value.colors.push("red");
      // @ts-expect-error
      page.objectValue("layout", layout).columns = 2;
      // @ts-expect-error
      page.details("layout", layout).value.colors.push("red");
      // @ts-expect-error
      client.isEnabled("a", { targetingKey: 7 });
      // @ts-expect-error
      client.isEnabled("a", ["user-7"]);
      // @ts-expect-error
      client.details("layout", user, ["a list"]);
    `;
    const options = { module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"] };
    assert.equal(await compile("interfaces", [source], options), "");
  });

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

  // The package's own declarations find the peers where users have them: next to it.
  const withPeers = async (name: string, sources: readonly string[]) => {
    const peers = join(published.folder, "node_modules/@openfeature");
    if (!existsSync(peers)) symlinkSync(join(root, "node_modules/@openfeature"), peers);
    const options = { module: "nodenext", lib: ["es2023", "dom"], types: ["node"] };
    const output = await compile(name, sources, options, "@types/node", "undici-types");
    // With this compiler a declaration of OpenFeature's own is faulty; ours and the program are not.
    const errors = output.split("\n").filter((line) => line.includes(": error "));
    return errors.filter((line) => !line.startsWith("node_modules/@openfeature/"));
  };

  test("with every example of docs/evaluate/typescript.md and of both README.md", async () => {
    const files = ["docs/evaluate/typescript.md", "packages/sdk/README.md", "README.md"];
    const sources = files.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      // The README's program is for both languages.
      const blocks = text.matchAll(/^```(?:ts|js title="checkout\.mjs")\n(.*?)^```$/gms);
      const found = [...blocks].map((match) => match[1] ?? "");
      assert.ok(found.length > 0, file);
      return found;
    });
    assert.deepEqual(await withPeers("examples", sources), []);
  });
});
