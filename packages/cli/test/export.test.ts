// halyard export: files that are suitable for git, and import to the same state.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { Webhook } from "@halyard/sdk/management";
import { parse } from "yaml";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { writeFlagsFile } from "../src/flags-file/flags-file.ts";
import { type Bench, boolean, newBench, rollout } from "./support/flag-files.ts";

let server: TestServer;
let bench: Bench;
const awkward =
  'yes: "no" # 1.0\n\ttab, ünïcode ✓ and a line that is long enough to be folded by a tool that folds long lines';
const long = "A sentence that goes on. ".repeat(8).trim();
const flags = [
  boolean("1.0", true),
  boolean("Zebra", false, long),
  boolean("null", false, awkward),
  rollout("on", true, 0.001, ""),
  rollout("wide", false, 33.333),
];

before(async () => {
  server = await startTestServer();
  bench = await newBench(server);
  await bench.put(...flags.toReversed());
});
after(() => server.close());

test("JSON on standard output, sorted, with the fields in order", async () => {
  const text = await bench.succeed("export");
  assert.equal(text, `${JSON.stringify({ halyard: 1, flags }, null, 2)}\n`);
  assert.equal(await bench.succeed("export", "--json"), text);
  const withServerKey = await bench.succeed("export", "--key", bench.keys.server);
  assert.equal(withServerKey, text);
});

test("YAML in a file is the same each time, and imports to the same state", async () => {
  const file = join(bench.folder, "flags.yml");
  const first = await bench.run("export", "--output", file);
  assert.deepEqual(
    { ...first, signal: null },
    { code: 0, signal: null, stdout: "", stderr: `5 flags written to ${file}.\n` },
  );
  const text = readFileSync(file, "utf8");
  assert.deepEqual(parse(text), { halyard: 1, flags });
  assert.ok(text.split("\n").includes(`    description: ${long}`), "long lines stay whole");
  assert.equal(await writeFlagsFile({ flags: flags.toReversed() }, "yaml"), text);
  const result = JSON.parse(await bench.succeed("export", "-o", file, "--json"));
  assert.deepEqual(result, { file, format: "yaml", flags: 5 });
  assert.equal(readFileSync(file, "utf8"), text);

  const elsewhere = await newBench(server);
  await elsewhere.succeed("import", file);
  assert.deepEqual(await elsewhere.flags(), flags);
  assert.equal(await elsewhere.succeed("export", "--format", "yaml"), text);
});

test("a link remains a link, and a file keeps its mode", async () => {
  const there = join(bench.folder, "repository");
  mkdirSync(there);
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  const wanted = await bench.succeed("export");
  const kept = join(there, "kept.json");
  writeFileSync(kept, "old");
  // More permissions than a umask allows, and fewer.
  for (const mode of [0o666, 0o600]) {
    chmodSync(kept, mode);
    await bench.run("export", "-o", kept);
    assert.equal(readFileSync(kept, "utf8"), wanted);
    assert.equal(modeOf(kept), mode);
  }
  for (const [name, target] of [
    ["link.json", "repository/kept.json"],
    ["onward.json", "link.json"],
    ["ahead.json", "repository/made.json"],
  ] as const) {
    const link = join(bench.folder, name);
    symlinkSync(target, link);
    writeFileSync(kept, "old");
    const ended = await bench.run("export", "-o", link);
    assert.deepEqual([ended.code, ended.stderr], [0, `5 flags written to ${link}.\n`]);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(readFileSync(link, "utf8"), wanted);
  }
  assert.equal(modeOf(kept), 0o600);
  assert.deepEqual(readdirSync(there).sort(), ["kept.json", "made.json"]);
});

test("standard output and pipes are written directly", async () => {
  const wanted = await bench.succeed("export");
  assert.equal(await bench.succeed("export", "-o", "-"), wanted);
  assert.equal(await bench.succeed("export", "-o", "-", "--json"), wanted);
  assert.ok(!existsSync("-"));
  // Our own pipe, because a bug could replace a device of the machine if the tests run as root.
  const pipe = join(bench.folder, "pipe");
  const run = promisify(execFile);
  await run("mkfifo", [pipe]);
  const link = join(bench.folder, "to-pipe");
  symlinkSync("pipe", link);
  const [read, ended] = await Promise.all([
    run("cat", [pipe], { timeout: 600_000 }),
    bench.run("export", "-o", link),
  ]);
  assert.deepEqual([ended.code, read.stdout], [0, wanted]);
  assert.ok(lstatSync(pipe).isFIFO());
});

test("errors leave no file", async () => {
  const file = bench.file("kept.json", "as it was");
  mkdirSync(join(bench.folder, "taken"));
  const before = readdirSync(bench.folder);
  await bench.fail(4, /key/, "export", "-o", file, "--key", "hal_0000000000000000_nothing");
  await bench.fail(
    4,
    /Pass a key with that role/,
    "export",
    "-o",
    file,
    "--key",
    bench.keys.client,
  );
  await bench.fail(6, /cannot be reached/, "export", "-o", file, "--url", "http://127.0.0.1:9");
  await bench.fail(1, /can't be written/, "export", "-o", join(bench.folder, "no/where.json"));
  await bench.fail(1, /can't be written/, "export", "-o", join(bench.folder, "taken"));
  await bench.fail(1, /can't be written/, "export", "-o", join(bench.folder, "new/"));
  await bench.fail(2, /not both/, "export", "--json", "--format", "yaml");
  await bench.fail(2, /choices are json, yaml/, "export", "--format", "toml");
  assert.equal(readFileSync(file, "utf8"), "as it was");
  assert.deepEqual(readdirSync(bench.folder), before);
});

test("webhooks are exported on request, without secrets, and created once elsewhere", async () => {
  const url = "http://127.0.0.1:9/hook";
  const made = await bench.admin("POST", "/webhooks", {
    url,
    events: ["flag.updated", "flag.created"],
    cloudEvents: true,
  });
  const { id } = made.body as { id: string };
  await bench.admin("PATCH", `/webhooks/${id}`, { active: false });
  assert.deepEqual(Object.keys(JSON.parse(await bench.succeed("export"))), ["halyard", "flags"]);
  const text = await bench.succeed("export", "--webhooks");
  assert.deepEqual(JSON.parse(text).webhooks, [
    { url, events: ["flag.created", "flag.updated"], active: false, cloudEvents: true },
  ]);
  assert.doesNotMatch(text, /whsec_/);

  const elsewhere = await newBench(server);
  const file = elsewhere.file("webhooks.json", text);
  const asReader = ["--webhooks", "--key", bench.keys.server];
  await bench.fail(4, /role admin/, "export", ...asReader);
  await bench.fail(4, /role admin/, "import", file, "--dry-run", ...asReader);
  const webhooks = async () => (await elsewhere.admin("GET", "/webhooks")).body as Webhook[];
  const without = await elsewhere.run("import", file);
  assert.match(without.stderr, /contains webhooks, which are not imported/);
  assert.deepEqual(await webhooks(), []);
  const dry = await elsewhere.run("import", file, "--webhooks", "--dry-run", "--exit-code");
  assert.equal(dry.code, 7);
  assert.match(dry.stdout, /^\+ webhook http:\/\/127\.0\.0\.1:9\/hook$/m);
  assert.deepEqual(await webhooks(), []);
  const created = JSON.parse(await elsewhere.succeed("import", file, "--webhooks", "--json"));
  assert.match(created.webhooks[0].secret, /^whsec_/);
  assert.deepEqual(
    (await webhooks()).map(({ url: address, active, cloudEvents }) => [
      address,
      active,
      cloudEvents,
    ]),
    [[url, false, true]],
  );
  assert.match(await elsewhere.succeed("import", file, "--webhooks"), /Nothing to change/);
  assert.equal((await webhooks()).length, 1);

  const third = await newBench(server);
  assert.match(
    await third.succeed("import", file, "--webhooks"),
    /\+ webhook http:\/\/127\.0\.0\.1:9\/hook\n {2}secret whsec_\S+ \(shown only once\)\n/,
  );
  const refused = third.file(
    "refused.json",
    text.replaceAll(url, "https://user:word@example.com/"),
  );
  await third.fail(
    2,
    /The webhook https:\/\/user:word@example\.com\/: /,
    "import",
    refused,
    "--webhooks",
  );
});
