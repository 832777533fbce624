// Import, export and promotion of flags with rules, variants and prerequisites, and of the segments they reference.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { type Bench, boolean, newBench } from "./support/flag-files.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const members = Array.from({ length: 6_000 }, (_, index) => `${"m".repeat(50)}-${index}`);
const ofBeta = { id: "beta", when: { segment: ["beta"] }, serve: "on" };

const fill = async ({ admin }: Bench): Promise<void> => {
  const post = async (path: string, body: object) => {
    const { status, text } = await admin("POST", path, body);
    assert.ok(status === 201 || status === 200, text);
  };
  await post("/segments", { key: "beta", include: ["ann"], exclude: ["eve"] });
  await post("/segments", { key: "long", include: members.slice(0, 3_000) });
  await post("/segments/long/members", { include: { add: members.slice(3_000) } });
  await post("/flags", {
    key: "zero",
    type: "variant",
    valueType: "object",
    variants: { small: { most: 1 }, large: { most: 9 } },
    off: "small",
    otherwise: [
      { variant: "small", share: 25 },
      { variant: "large", share: 75 },
    ],
    tags: ["shop"],
    owner: "ann",
  });
  await post("/flags", {
    key: "ask",
    type: "boolean",
    rules: [ofBeta],
    otherwise: "off",
    requires: [{ flag: "zero", variant: "large" }],
  });
  await admin("PATCH", "/flags/ask", { enabled: true });
};

/** Two environments, as the profiles one and other. */
const newPair = async (): Promise<{ one: Bench; other: Bench }> => {
  const [one, other] = [await newBench(server), await newBench(server)];
  const { url } = server;
  const profiles = { one: { url, key: one.keys.admin }, other: { url, key: other.keys.admin } };
  writeFileSync(join(one.folder, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  await fill(one);
  return { one, other };
};

test("an exported file recreates the environment, and importing it again changes nothing", async () => {
  const { one, other } = await newPair();
  const file = join(one.folder, "flags.yaml");
  const { code, stderr } = await one.run("export", "-p", "one", "--output", file);
  assert.deepEqual([code, stderr], [0, `2 flags and 2 segments written to ${file}.\n`]);
  assert.match(
    readFileSync(file, "utf8"),
    /^halyard: 1\nflags:\n[\s\S]*^segments:\n {2}- key: beta\n/m,
  );
  assert.equal(
    await other.succeed("import", file),
    `+ segment beta  1 included, 1 excluded
+ segment long  6000 included, 0 excluded
+ ask           boolean, on, off, zero = large, 1 rule: beta
+ zero          variant, off, object, {"small":{"most":1},"large":{"most":9}}, small, small 25%, large 75%, shop, ann
4 to create, 0 unchanged ${other.where}.
Done: 4 created ${other.where}.
`,
  );
  assert.deepEqual(await other.flags(), await one.flags());
  const { body } = await other.admin("GET", "/segments/long");
  assert.equal((body as { include: unknown[] }).include.length, 6_000);
  assert.equal(
    await one.succeed("diff", "one", "other"),
    "No difference: 2 flags and 2 segments are the same in one and other.\n",
  );
  assert.equal(
    await other.succeed("import", file, "--prune"),
    `Nothing to change ${other.where}: all 2 flags and 2 segments are up to date.\n`,
  );
  // A file without segments and with other flags: unreferenced segments are deleted last.
  const less = other.file("less.json", [boolean("zero-two")]);
  const pruned = await other.succeed("import", less, "--prune", "--yes");
  assert.match(pruned, /\nDone: 1 created, 4 deleted /);
  assert.deepEqual((await other.admin("GET", "/segments")).body, []);
});

test("promote copies the segments that a flag references, and changes none without --all", async () => {
  const { one } = await newPair();
  const flags = ["zero", "ask"];
  const first = await one.succeed("promote", "one", "other", ...flags, "--yes");
  assert.match(first, /^\+ segment beta {2}1 included, 1 excluded\n\+ ask[\s\S]*\nDone: 3 created/);
  await one.admin("POST", "/segments/beta/members", { include: { add: ["bob"] } });
  await one.admin("PATCH", "/flags/ask", { description: "New" });
  const second = await one.run("promote", "one", "other", ...flags, "--yes");
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stderr, /The segment beta is different in other and not changed. Use --all/);
  assert.match(second.stdout, /^~ ask {2}description none → "New"\n/);
  const all = JSON.parse(await one.succeed("promote", "one", "other", "--all", "--yes", "--json"));
  assert.deepEqual(
    all.changes.map(({ subject, key, action, outcome }: Record<string, unknown>) => [
      subject,
      key,
      action,
      outcome,
    ]),
    [
      ["segment", "beta", "change", "done"],
      ["segment", "long", "create", "done"],
    ],
  );
  assert.deepEqual(all.changes[0].members, {
    include: { add: ["bob"], remove: [] },
    exclude: { add: [], remove: [] },
  });
});

test("changes of flags are sent together and rejected as a whole", async () => {
  const bench = await newBench(server);
  await bench.put(boolean("a"), boolean("b"));
  const content = {
    halyard: 1,
    flags: [
      boolean("a", true),
      { ...boolean("b"), otherwise: "off", rules: [{ ...ofBeta, when: { segment: ["gone"] } }] },
    ],
  };
  const revision = await bench.revision();
  const file = bench.file("flags.json", JSON.stringify(content));
  const { stdout } = await bench.fail(
    2,
    /The flag \\"b\\": rules\[0\]\.when\.segment\[0\] must name a segment.* 1 of 2 changes were not attempted/s,
    ...["import", file, "--json"],
  );
  const { changes } = JSON.parse(stdout) as { changes: { key: string; outcome: string }[] };
  assert.deepEqual(
    changes.map(({ key, outcome }) => [key, outcome]),
    [
      ["a", "untried"],
      ["b", "failed"],
    ],
  );
  assert.equal(await bench.revision(), revision);
  const mistaken = bench.file(
    "wrong.yaml",
    `halyard: 1
flags:
  - key: a
    type: boolean
    enabled: true
    otherwise: off
    rules:
      - id: one
        when: { attribute: plan, op: like, values: [pro] }
        serve: blue
segments:
  - key: s
    include:
      - ann
      - 7
`,
  );
  await bench.fail(
    1,
    /line 9: "rules\[0\]\.when\.op" must be one of .*\n {2}line 10: "rules\[0\]\.serve" must be a variant .*\n {2}line 15: "include\[1\]" must be a string/,
    ...["import", mistaken],
  );
});
