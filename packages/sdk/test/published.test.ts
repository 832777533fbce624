// The package as it is published: what is in it, that it needs nothing, and that programs with it compile and run.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { startTestServer } from "../../server/test/support/server.ts";
import { missing } from "./support/guide.ts";
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
      (name) => !/^types\/([a-z-]+\/)*[a-z-]+\.d\.ts$/.test(name),
    );
    const scripts = others.filter((name) => /^[a-z-]+\.js$/.test(name));
    assert.deepEqual(
      others.filter((name) => !scripts.includes(name)),
      ["LICENSE", "README.md", "package.json"],
    );
    for (const [entry, types] of [
      ["index", "index"],
      ["openfeature-server", "openfeature/server"],
      ["openfeature-web", "openfeature/web"],
    ] as const) {
      assert.ok(scripts.includes(`${entry}.js`), entry);
      assert.ok(published.files.includes(`types/${types}.d.ts`), types);
    }
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
      const allowed = file.startsWith("types/openfeature/") ? /^@openfeature\// : /^$/;
      assert.deepEqual(
        foreign.filter((name) => !allowed.test(name)),
        [],
        file,
      );
      const code = source.replace(/\/\*.*?\*\//gs, "");
      assert.doesNotMatch(code, /typebox|packages\/|\b(process|Buffer)\.|\brequire\(/, file);
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
  for (const [name, options, packages] of [
    ["browser", { module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"] }, []],
    [
      "node",
      { module: "nodenext", lib: ["es2023"], types: ["node"] },
      ["@types/node", "undici-types"],
    ],
  ] as const) {
    test(`for a ${name}, with strict types and every declaration checked`, async () => {
      assert.equal(await compile(name, [program], options, ...packages), "");
    });
  }

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

  for (const file of ["docs/sdk.md", "packages/sdk/README.md"]) {
    test(`with every example of ${file}`, async () => {
      const blocks = readFileSync(join(root, file), "utf8").matchAll(/^```ts\n(.*?)^```$/gms);
      const sources = [...blocks].map((match) => match[1] ?? "");
      assert.ok(sources.length > 0);
      assert.deepEqual(await withPeers(file.replaceAll("/", "-"), sources), []);
    });
  }
});

suite("it runs", () => {
  const source = `
    import { createClient, createContextClient, createManagement } from "@halyard/sdk";
    import { HalyardProvider } from "@halyard/sdk/openfeature-server";
    import { HalyardWebProvider } from "@halyard/sdk/openfeature-web";
    const [url, admin, key] = JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv[2]);
    const { flags } = createManagement({ url, key: admin });
    const client = createClient({ url, key: admin });
    const page = createContextClient({ url, key, context: { targetingKey: "u" } });
    const ready = [await client.ready(), await page.ready()];
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
    console.log(JSON.stringify([...ready, ...answers, reason, typeof HalyardWebProvider]));
  `;
  /** Every Node on this machine of another version, and this one. */
  const nodes = new Map<string, string>([[process.version, process.execPath]]);
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, "node");
    if (!existsSync(path)) continue;
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim();
    if (version !== "" && !nodes.has(version)) nodes.set(version, path);
  }
  type Runtime = readonly [
    name: string,
    command: string,
    args: readonly string[],
    skip: false | string,
  ];
  const runtimes: readonly Runtime[] = [
    ...[...nodes].map(([version, path]): Runtime => [`Node ${version}`, path, [], false]),
    [
      "Deno",
      "deno",
      ["run", "--allow-net", "--node-modules-dir=manual"],
      missing("deno", "--version"),
    ],
    ["Bun", "bun", ["run"], missing("bun", "--version")],
  ];
  for (const [name, command, args, skip] of runtimes) {
    test(`in ${name}`, { skip }, async (t) => {
      const server = await startTestServer();
      t.after(() => server.close());
      const { keys, admin } = await server.environment();
      await admin("POST", "/flags", { key: "a", type: "boolean" });
      const file = join(published.folder, "program.mjs");
      writeFileSync(file, source);
      const settings = JSON.stringify([server.url, keys.admin, keys.client]);
      const { stdout } = await run(command, [...args, file, settings], { cwd: published.folder });
      assert.deepEqual(JSON.parse(stdout), [true, true, true, true, "DISABLED", "function"]);
    });
  }
});
