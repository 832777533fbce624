// halyard types: the generated interface, from a server and from a file, and --check.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { type Bench, newBench } from "./support/flag-files.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const variant = (key: string, valueType: string, variants: object) => {
  const [off] = Object.keys(variants);
  return { key, type: "variant", valueType, variants, off, otherwise: off };
};

const flags = [
  { key: "new-checkout", type: "rollout", description: "The new\ncheckout */ on one page" },
  { key: "dark-mode", type: "boolean" },
  variant("button-size", "string", { small: "S", large: 'the "L"' }),
  variant("upload-limit", "number", { low: 10, high: 0.5 }),
  variant("layout", "object", {
    wide: { columns: 3, title: null, tags: ["a", 1], nested: { on: true } },
    empty: {},
  }),
];

const written = `// Written by \`halyard types\`. Don't edit or format this file: write it again.

/** Each flag with its variants and their values. */
export interface Flags {
  "button-size": { large: "the \\"L\\""; small: "S" };
  "dark-mode": { off: false; on: true };
  layout: { empty: Record<string, never>; wide: { readonly columns: number; readonly nested: { readonly on: boolean }; readonly tags: readonly (number | string)[]; readonly title: null } };
  /** The new checkout *\\/ on one page */
  "new-checkout": { off: false; on: true };
  "upload-limit": { high: 0.5; low: 10 };
}
`;

const benchWith = async (...all: readonly object[]): Promise<Bench> => {
  const bench = await newBench(server);
  for (const flag of all) assert.equal((await bench.admin("POST", "/flags", flag)).status, 201);
  return bench;
};

test("every type of flag, in the order of the keys, from a server and from its export", async () => {
  const bench = await benchWith(...flags);
  const file = join(bench.folder, "halyard-flags.d.ts");
  const ended = await bench.run("types", "--output", file, "--key", bench.keys.server);
  assert.deepEqual(
    [ended.code, ended.stdout, ended.stderr],
    [0, "", `5 flags written to ${file}.\n`],
  );
  assert.equal(readFileSync(file, "utf8"), written);
  assert.equal(await bench.succeed("types", "-o", "-"), written);
  const printed = JSON.parse(await bench.succeed("types", "-o", file, "--json"));
  assert.deepEqual(printed, { file, flags: 5 });

  for (const name of ["flags.yaml", "flags.json"]) {
    const exported = join(bench.folder, name);
    await bench.run("export", "-o", exported);
    const elsewhere = ["--url", "http://127.0.0.1:9"];
    assert.equal(
      await bench.succeed("types", "--file", exported, "-o", "-", ...elsewhere),
      written,
    );
  }
});

test("the keys for OpenFeature's SDKs, and none for a kind without flags", async () => {
  const bench = await benchWith(...flags.slice(0, 3));
  const text = await bench.succeed("types", "--openfeature", "-o", "-");
  assert.equal(
    text.slice(text.indexOf("declare")),
    `declare module "@openfeature/core" {
  export type BooleanFlagKey =
    | "dark-mode"
    | "new-checkout";
  export type StringFlagKey =
    | "button-size";
  export type NumberFlagKey = never;
  export type ObjectFlagKey = never;
}
`,
  );
});

test("--check exits with 7 and lists the flags that were added, removed and changed", async () => {
  const bench = await benchWith(...flags);
  const file = join(bench.folder, "halyard-flags.d.ts");
  await bench.run("types", "-o", file);
  const check = () => bench.run("types", "-o", file, "--check");
  const same = await check();
  assert.deepEqual([same.code, same.stdout, same.stderr], [0, `${file} is up to date.\n`, ""]);

  // Descriptions and Windows line ends don't make the file out of date.
  await bench.admin("PATCH", "/flags/dark-mode", { description: "Dark" });
  writeFileSync(file, written.replaceAll("\n", "\r\n"));
  assert.equal((await check()).code, 0);

  await bench.admin("DELETE", "/flags/layout");
  await bench.admin("POST", "/flags", { key: "brand-new", type: "boolean" });
  const variants = { low: 10, high: 0.5, highest: 100 };
  await bench.admin("PATCH", "/flags/upload-limit", { variants });
  const before = readFileSync(file, "utf8");
  const differs = await check();
  assert.deepEqual([differs.code, differs.stderr], [7, ""]);
  assert.equal(
    differs.stdout,
    `+ brand-new\n- layout\n~ upload-limit\n${file} is out of date: 1 added, 1 removed, 1 changed. Write it again without --check.\n`,
  );
  const json = await bench.run("types", "-o", file, "--check", "--json");
  assert.equal(json.code, 7);
  assert.deepEqual(JSON.parse(json.stdout), {
    file,
    upToDate: false,
    added: ["brand-new"],
    removed: ["layout"],
    changed: ["upload-limit"],
  });
  assert.equal(readFileSync(file, "utf8"), before, "--check writes nothing");

  await bench.run("types", "-o", file);
  assert.equal((await check()).code, 0);
  const other = await bench.run("types", "-o", file, "--check", "--openfeature");
  assert.equal(other.code, 7);
  assert.match(other.stdout, /the same flags, but was written with other options/);
});

test("an environment without flags has an interface without keys", async () => {
  const bench = await newBench(server);
  const text = await bench.succeed("types", "-o", "-");
  assert.match(text, /export interface Flags \{\n\}\n$/);
});

test("errors are reported, and nothing is written", async () => {
  const bench = await benchWith();
  const missing = join(bench.folder, "missing.d.ts");
  await bench.fail(3, /There is no file .*missing\.d\.ts/, "types", "--check", "-o", missing);
  await bench.fail(3, /There is no file/, "types", "--file", join(bench.folder, "none.yaml"));
  await bench.fail(2, /--check needs the name of a file/, "types", "--check", "-o", "-");
  await bench.fail(2, /must end in \.d\.ts/, "types", "--openfeature", "-o", "flags.ts");
  await bench.fail(4, /role/, "types", "-o", missing, "--key", bench.keys.client);
  await bench.fail(6, /cannot be reached/, "types", "-o", missing, "--url", "http://127.0.0.1:9");
  assert.throws(() => readFileSync(missing), /ENOENT/);
});
