// A TypeScript project with the published package and the file of `halyard types`: what the compiler and --check find.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { blockTitled } from "../../../test/support/pages.ts";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type Published, publish, root } from "./support/published.ts";

const guide = "docs/evaluate/typed-flags.md";

let server: TestServer;
let environment: TestEnvironment;
let published: Published;
let folder: string;
before(async () => {
  published = publish();
  server = await startTestServer();
  environment = await server.environment();
  const variant = (key: string, valueType: string, small: unknown, large: unknown) => {
    const values = { valueType, variants: { small, large }, off: "small", otherwise: "large" };
    return { key, type: "variant", ...values };
  };
  for (const flag of [
    { key: "new-checkout", type: "rollout", description: "The checkout on one page" },
    { key: "old-search", type: "boolean" },
    variant("button-size", "string", "S", "L"),
    variant("upload-limit", "number", 10, 100),
    variant("layout", "object", { columns: 1 }, { columns: 3 }),
  ]) {
    assert.equal((await environment.admin("POST", "/flags", flag)).status, 201);
  }
  const peers = join(published.folder, "node_modules/@openfeature");
  if (!existsSync(peers)) symlinkSync(join(root, "node_modules/@openfeature"), peers);
  folder = join(published.folder, "project");
  mkdirSync(folder);
});
after(async () => {
  await server.close();
  published.remove();
});

const halyardTypes = (...args: string[]) =>
  runHalyard(["types", "--output", join(folder, "halyard-flags.d.ts"), ...args], {
    HALYARD_URL: server.url,
    HALYARD_API_KEY: environment.keys.server,
  });

const start = `
  import { createClient } from "@halyard/sdk";
  import { createContextClient } from "@halyard/sdk/browser";
  import { createEdgeClient } from "@halyard/sdk/edge";
  import type { Flags } from "./halyard-flags.js";
  const address = { url: "https://flags.example.com", key: "k" };
  const client = createClient<Flags>(address);
  const page = createContextClient<Flags>(address);
  const edge = await createEdgeClient<Flags>(address).load();
  const user = { targetingKey: "user-7" };
`;
const startOpenFeature = `
  import { OpenFeature } from "@openfeature/server-sdk";
  import { OpenFeature as WebOpenFeature } from "@openfeature/web-sdk";
  import type { TypedClient } from "@halyard/sdk/openfeature/server";
  import type { TypedClient as TypedWebClient } from "@halyard/sdk/openfeature/web";
  import type { Flags } from "./halyard-flags.js";
  const client: TypedClient<Flags> = OpenFeature.getClient();
  const page: TypedWebClient<Flags> = WebOpenFeature.getClient();
  const user = { targetingKey: "user-7" };
`;
/** What other SDKs see, such as OpenFeature's for React. */
const startAugmented = `
  import { OpenFeature } from "@openfeature/server-sdk";
  import { OpenFeature as WebOpenFeature } from "@openfeature/web-sdk";
  import type {} from "./halyard-flags.js";
  const client = OpenFeature.getClient();
  const page = WebOpenFeature.getClient();
`;

/** Compiles a program of these lines, and returns the lines with errors, each with the codes of its errors. */
const compile = async (lines: string, before = start): Promise<Record<string, string[]>> => {
  writeFileSync(join(folder, "program.ts"), `${before}${lines}\nexport {};\n`);
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    lib: ["es2023", "dom"],
    types: [],
  };
  const options = { compilerOptions, files: ["program.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  const output = await new Promise<string>((resolve) => {
    const args = ["-p", folder, "--pretty", "false"];
    execFile(join(root, "node_modules/.bin/tsc"), args, (_error, stdout) => resolve(stdout));
  });
  const text = readFileSync(join(folder, "program.ts"), "utf8").split("\n");
  const found: Record<string, string[]> = {};
  for (const line of output.split("\n").filter((each) => /^\S/.test(each))) {
    const [, row, code] = /program\.ts\((\d+),\d+\): error (TS\d+): /.exec(line) ?? [];
    assert.ok(code, line);
    const source = text[Number(row) - 1]?.trim() ?? "";
    found[source] = [...(found[source] ?? []), code];
  }
  return found;
};

/** The lines of a program, each of which must have an error. */
const assertAllWrong = async (lines: string, before = start): Promise<void> => {
  const expected = lines.split("\n").map((line) => line.trim());
  const found = await compile(lines, before);
  assert.deepEqual(
    Object.keys(found),
    expected.filter((line) => line !== ""),
    JSON.stringify(found),
  );
};

suite("a program with the flags of its environment", () => {
  before(async () => {
    const { code, stderr } = await halyardTypes();
    assert.equal(code, 0, stderr);
  });

  test("is written as the guide shows, whose programs compile, and whose mistakes don't", async () => {
    const written = readFileSync(join(folder, "halyard-flags.d.ts"), "utf8");
    assert.equal(written, blockTitled(guide, "src/halyard-flags.d.ts"));
    const program = blockTitled(guide, "program.ts");
    assert.deepEqual(await compile(program, ""), {});
    assert.deepEqual(await compile(blockTitled(guide, "openfeature.ts"), ""), {});
    assert.deepEqual(await compile(blockTitled(guide, "test.ts"), ""), {});
    await assertAllWrong(blockTitled(guide, "mistakes.ts"), program);
  });

  test("compiles when its keys, values and variants are those of the flags", async () => {
    const lines = `
      const isOn: boolean = client.isEnabled("new-checkout", user, true) || page.isEnabled("old-search");
      const size: "S" | "L" = client.stringValue("button-size", user, "S");
      const pageSize: "S" | "L" = page.stringValue("button-size", "S");
      const limit: 10 | 100 = client.numberValue("upload-limit", user, 10);
      const columns: number = client.objectValue("layout", user, { columns: 2 }).columns;
      const pageColumns: number = page.objectValue("layout", { columns: 2 }).columns;
      const variant: "small" | "large" | undefined = client.details("button-size", user, "S").variant;
      const off: boolean = client.details("new-checkout").variant === "off";
      const pageVariant: "on" | "off" | undefined = page.details("new-checkout").variant;
      const values = client.values(user, ["new-checkout", "button-size"]);
      const handedOver: "S" | "L" | undefined = values["button-size"];
      createContextClient<Flags>({ ...address, bootstrap: values });
      createClient<Flags>({ overrides: { "new-checkout": true, "button-size": "L" }, strict: true });
      client.override("upload-limit", 100);
      client.override("upload-limit", undefined);
      const isOnAtEdge: boolean = edge.isEnabled("new-checkout", user, true);
      const sizeAtEdge: "S" | "L" = edge.stringValue("button-size", user, "S");
      const variantAtEdge: "small" | "large" | undefined = edge.details("button-size", user, "S").variant;
      createContextClient<Flags>({ ...address, bootstrap: edge.values(user) });
      const anyEdge: import("@halyard/sdk/edge").EdgeClient = createEdgeClient<Flags>(address);
      const madeEdge: ReturnType<typeof createEdgeClient> = createEdgeClient(address);
      const isAnyAtEdge: boolean = (await madeEdge.load()).isEnabled("anything");
      const anyClient: import("@halyard/sdk").Client = client;
      const unknownKey: string = anyClient.stringValue("anything", user, "any");
      const made: ReturnType<typeof createClient> = createClient({ overrides: { any: 1 } });
      const isAny: boolean = made.isEnabled("anything");
      const chosen: "S" | "L" | boolean = client.details(isAny ? "button-size" : "new-checkout", user, "S").value;
    `;
    assert.deepEqual(await compile(lines), {});
  });

  test("doesn't compile with a misspelled key", () =>
    assertAllWrong(`
      client.isEnabled("new-chekout", user);
      client.stringValue("button-sise", user, "S");
      client.details("new-chekout");
      client.values(user, ["new-chekout"]);
      client.override("new-chekout", true);
      client.flagMetadata("new-chekout");
      page.isEnabled("new-chekout");
      page.objectValue("layuot", { columns: 1 });
      page.details("new-chekout");
      page.values()["new-chekout"];
      edge.isEnabled("new-chekout", user);
      edge.details("new-chekout");
      edge.values(user, ["new-chekout"]);
      edge.flagMetadata("new-chekout");
      createClient<Flags>({ overrides: { "new-chekout": true } });
      createContextClient<Flags>({ ...address, bootstrap: { "new-chekout": true } });
    `));

  test("doesn't compile with a wrong type", () =>
    assertAllWrong(`
      client.isEnabled("button-size", user);
      client.stringValue("new-checkout", user, "S");
      client.numberValue("upload-limit", user, "10");
      client.objectValue("layout", user, { columns: "two" });
      client.details("upload-limit", user, false);
      client.details("button-size");
      client.override("upload-limit", true);
      page.isEnabled("upload-limit");
      page.stringValue("button-size", 5);
      page.details("layout", "S");
      edge.isEnabled("button-size", user);
      edge.numberValue("upload-limit", user, "10");
      createClient<Flags>({ overrides: { "upload-limit": "10" } });
      createContextClient<Flags>({ ...address, bootstrap: { "new-checkout": "on" } });
    `));

  test("doesn't compile with a variant or value that the flag doesn't have", () =>
    assertAllWrong(`
      client.stringValue("button-size", user, "M");
      client.details("button-size", user, "S").variant === "medium";
      client.stringValue("button-size", user, "S") === "M";
      client.details("new-checkout").variant === "enabled";
      client.objectValue("layout", user, { columns: 1 }).rows;
      page.numberValue("upload-limit", 11);
      page.details("upload-limit", 10).variant === "medium";
      edge.stringValue("button-size", user, "M");
      edge.details("new-checkout").variant === "enabled";
    `));

  test("through OpenFeature, keys, types and values are checked as well", async () => {
    const right = `
      const isOn: boolean = await client.getBooleanValue("new-checkout", false, user) || page.getBooleanValue("old-search", false);
      const size: "S" | "L" = await client.getStringValue("button-size", "S", user);
      const pageSize: "S" | "L" = page.getStringDetails("button-size", "S").value;
      const limit: 10 | 100 = page.getNumberDetails("upload-limit", 10).value;
      const columns: number = (await client.getObjectValue("layout", { columns: 2 }, user)).columns;
      const detailed: number = page.getObjectDetails("layout", { columns: 2 }).value.columns;
      client.setContext(user);
    `;
    assert.deepEqual(await compile(right, startOpenFeature), {});
    await assertAllWrong(
      `
      await client.getBooleanValue("new-chekout", false);
      await client.getStringValue("new-checkout", "S");
      await client.getStringValue("button-size", "M");
      await client.getObjectValue("layout", { columns: "two" });
      await client.getObjectDetails("button-size", {});
      page.getBooleanDetails("new-chekout", false);
      page.getNumberValue("button-size", 1);
      page.getNumberValue("upload-limit", 11);
      page.getStringDetails("button-size", "S").value === "M";
    `,
      startOpenFeature,
    );
  });

  test("with --openfeature, every SDK of OpenFeature has the keys of each type", async () => {
    assert.equal((await halyardTypes("--openfeature")).code, 0);
    const right = `
      const isOn: boolean = await client.getBooleanValue("new-checkout", false) || page.getBooleanValue("old-search", false);
      const limit: number = page.getNumberDetails("upload-limit", 10).value;
    `;
    assert.deepEqual(await compile(right, startAugmented), {});
    await assertAllWrong(
      `
      await client.getBooleanValue("new-chekout", false);
      await client.getStringValue("new-checkout", "S");
      page.getBooleanDetails("new-chekout", false);
      page.getNumberValue("button-size", 1);
    `,
      startAugmented,
    );
  });
});

test("the programs of the guide to server-rendered pages compile", async () => {
  const page = "docs/evaluate/server-rendering.md";
  writeFileSync(join(folder, "server.ts"), blockTitled(page, "server.ts"));
  for (const title of ["page.ts", "script.ts"]) {
    assert.deepEqual(await compile(blockTitled(page, title), ""), {}, title);
  }
});

test("a deleted flag fails --check, and its uses fail to compile when the file is written again", async () => {
  assert.equal((await halyardTypes()).code, 0);
  const uses = `
    client.isEnabled("old-search", user);
    page.isEnabled("old-search");
  `;
  assert.deepEqual(await compile(uses), {});
  assert.equal((await halyardTypes("--check")).code, 0);

  assert.equal((await environment.admin("DELETE", "/flags/old-search")).status, 204);
  const checked = await halyardTypes("--check");
  assert.equal(checked.code, 7, checked.stderr);
  assert.equal(checked.stdout.replace(folder, "src"), blockTitled(guide, "out of date"));
  assert.deepEqual(await compile(uses), {}, "--check writes nothing");

  assert.equal((await halyardTypes()).code, 0);
  await assertAllWrong(uses);
  assert.equal((await halyardTypes("--check")).code, 0);
});
