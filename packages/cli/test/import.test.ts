// halyard import of Halyard's own files: planned, shown, applied, and repeated.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { readDocument } from "../src/flags-file/document.ts";
import { readFlagsFile } from "../src/flags-file/read-flags-file.ts";
import { boolean, newBench, rollout, runWithInput } from "./support/flag-files.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const there = [
  boolean("as-wanted", true, "Stays"),
  rollout("changed", false, 10, "Before"),
  boolean("forgotten", true),
];
const wanted = [
  boolean("as-wanted", true, "Stays"),
  rollout("changed", true, 25.5),
  rollout("new", true, 50, "With\na second line"),
];
const planned = `~ changed  enabled off → on, percentage 10% → 25.5%, description "Before" → none
+ new      rollout, on, 50%, "With\\na second line"
`;

const hit = `No users were sampled, so the impact is unknown.
new: exactly 50% of all users would get a different value.
changed: exactly 25.5% of all users would get a different value.
`;

test("a dry run shows what would change and changes nothing", async () => {
  const bench = await newBench(server);
  await bench.put(...there);
  const file = bench.file("flags.json", wanted);
  const revision = await bench.revision();
  assert.equal(
    (await bench.succeed("import", file, "--dry-run")).replace(
      /No users were sampled since \S+,/,
      "No users were sampled,",
    ),
    `${planned}1 to create, 1 to change, 1 unchanged ${bench.where}.\n${hit}`,
  );
  const pruning = await bench.run("import", file, "--dry-run", "--prune", "--exit-code", "--json");
  assert.equal(pruning.code, 7);
  const { previews, ...report } = JSON.parse(pruning.stdout);
  assert.equal(previews.length, 1);
  assert.deepEqual(report, {
    environment: bench.name,
    server: server.url,
    dryRun: true,
    changes: [
      {
        key: "changed",
        action: "change",
        before: { enabled: false, percentage: 10, description: "Before" },
        after: { enabled: true, percentage: 25.5, description: null },
        outcome: "planned",
      },
      { key: "forgotten", action: "delete", flag: boolean("forgotten", true), outcome: "planned" },
      { key: "new", action: "create", flag: wanted[2], outcome: "planned" },
    ],
    unchanged: 1,
  });
  assert.equal(await bench.revision(), revision);
  await bench.fail(2, /--exit-code needs --dry-run/, "import", file, "--exit-code");
});

test("the plan is applied, and a second import changes nothing", async () => {
  const bench = await newBench(server);
  await bench.put(...there);
  const file = bench.file("flags.json", wanted);
  const done = await bench.succeed("import", file);
  assert.equal(
    done,
    `${planned}1 to create, 1 to change, 1 unchanged ${bench.where}.\nDone: 1 created, 1 changed ${bench.where}.\n`,
  );
  assert.deepEqual(
    await bench.flags(),
    [...wanted, there[2]].sort((a, b) => ((a?.key ?? "") < (b?.key ?? "") ? -1 : 1)),
  );
  const revision = await bench.revision();
  assert.equal(
    await bench.succeed("import", file),
    `Nothing to change ${bench.where}: all 3 flags are up to date.\n`,
  );
  assert.equal((await bench.run("import", file, "--dry-run", "--exit-code")).code, 0);
  assert.equal(await bench.revision(), revision);

  await bench.fail(
    2,
    /One flag will be deleted in \S+ at \S+\. Continue\? Without a terminal, confirm with --yes/,
    "import",
    file,
    "--prune",
  );
  assert.equal(await bench.revision(), revision);
  const pruned = await bench.succeed("import", file, "--prune", "--yes");
  assert.equal(
    pruned,
    `- forgotten  boolean, on\n1 to delete, 3 unchanged ${bench.where}.\nDone: 1 deleted ${bench.where}.\n`,
  );
  assert.deepEqual(await bench.flags(), wanted);
});

test("YAML from standard input; missing fields get the values of a new flag", async () => {
  const bench = await newBench(server);
  const yaml = "halyard: 1\nflags:\n- {key: plain, type: boolean, enabled: true}\n";
  const { code, stdout } = await runWithInput(["import", "-"], bench.settings, yaml);
  assert.deepEqual([code, stdout.split("\n")[0]], [0, "+ plain  boolean, on"]);
  assert.deepEqual(await bench.flags(), [boolean("plain", true)]);
  const empty = await runWithInput(["import", "-"], bench.settings, "\n");
  assert.deepEqual([empty.code, empty.stderr], [1, "halyard: standard input is empty.\n"]);
});

test("a type can't change: it is reported, the rest is applied, and the exit code is 1", async () => {
  const bench = await newBench(server);
  await bench.put(boolean("fixed", true));
  const file = bench.file("flags.json", [rollout("fixed", true, 5), boolean("other")]);
  const { stdout } = await bench.fail(
    1,
    /One flag has a different type in the target, which is fixed at creation/,
    "import",
    file,
  );
  assert.match(stdout, /^! fixed {2}type boolean → rollout: fixed at creation$/m);
  assert.deepEqual(await bench.flags(), [boolean("fixed", true), boolean("other")]);
  await bench.fail(1, /fixed at creation/, "import", file, "--dry-run", "--exit-code");
});

suite("a file with errors changes nothing", () => {
  test("all errors are reported at once, with their lines", async () => {
    const bench = await newBench(server);
    const yaml = `halyard: 1
owner: me
flags:
  - key: good
    type: boolean
    enabled: true
  - key: bad key
    type: rollout
    enabled: yes
    percentage: 12.3456
  - key: 7
    type: boolean
    percentage: 5
    enabled: false
    colour: red
  - type: rollout
    key: short
    enabled: true
    description: [1]
  - just text
  - { key: good, type: toggle, enabled: false }
`;
    const file = bench.file("flags.yaml", yaml);
    const { stderr, stdout } = await bench.fail(1, /./, "import", file);
    assert.equal(stdout, "");
    assert.equal(
      stderr,
      `halyard: ${file} has 12 errors; nothing was changed.
  line 2: "owner" is not a known field
  line 7: "key" must be 1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit, not "bad key" (flag "bad key")
  line 9: "enabled" must be true or false, not "yes" (flag "bad key")
  line 10: "percentage" must be a number from 0 to 100 with at most three decimals, not 12.3456 (flag "bad key")
  line 11: "key" must be 1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit, not 7
  line 13: "percentage" applies to flags of type rollout only; a boolean flag is either on or off for everyone
  line 15: "colour" is not a known field
  line 16: "percentage" is missing: a number from 0 to 100 with at most three decimals (flag "short")
  line 19: "description" must be a string of at most 2,000 characters and 8,000 bytes of JSON, or null, not [1] (flag "short")
  line 20: an entry of "flags" must be an object, not "just text"
  line 21: "type" must be "boolean" or "rollout" or "variant", not "toggle" (flag "good")
  line 21: the key "good" is a duplicate
`,
    );
    assert.deepEqual(await bench.flags(), []);
    const asJson = await bench.run("import", file, "--json");
    const { error, details } = JSON.parse(asJson.stderr);
    assert.deepEqual([error, details.length, details[0].line], ["FAILED", 12, 2]);
  });

  const broken: [name: string, text: string, message: RegExp][] = [
    [
      "lines.json",
      '{\n"halyard": 1,\n"flags": [\n{"key": "a b", "type": "boolean", "enabled": true}]}',
      /line 4: "key" must be/,
    ],
    ["torn.json", '{\n"halyard": 1,\n"flags": [', /is neither JSON nor YAML:\n.*JSON/],
    [
      "torn.yaml",
      "halyard: 1\nflags:\n  - key: a\n   type: b\n",
      /is neither JSON nor YAML:\n {2}line 4: /,
    ],
    ["twice.yaml", "halyard: 1\nflags: []\nflags: []\n", /line 3: Map keys must be unique/],
    [
      "loop.yaml",
      "halyard: 1\nflags: &all\n  - *all\n",
      /contains a value that includes itself:\n {2}line 3: \*all refers to a value that contains it/,
    ],
    ["list.yaml", "halyard: 1\nflags: {}\n", /line 2: "flags" must be a list, not \{\}/],
    ["text.txt", "hello", /not a halyard export/],
    [
      "later.yaml",
      "halyard: 2\nflags: []\n",
      /has format 2; this version of halyard reads format 1/,
    ],
  ];
  for (const [name, text, message] of broken) {
    test(name, async () => {
      const bench = await newBench(server);
      await bench.fail(1, message, "import", bench.file(name, text), "--prune", "--yes");
    });
  }
});

test("missing permissions and missing servers", async () => {
  const bench = await newBench(server);
  const file = bench.file("flags.json", wanted);
  await bench.fail(3, /There is no file nowhere\.yaml/, "import", "nowhere.yaml");
  await bench.fail(4, /Check --key/, "import", file, "--key", "hal_0000000000000000_nothing");
  const { stdout } = await bench.fail(
    4,
    /3 of 3 changes failed; the first: .*Pass a key with that role/,
    "import",
    file,
    "--key",
    bench.keys.server,
  );
  assert.match(stdout, /3 to create/);
  await bench.fail(6, /cannot be reached/, "import", file, "--url", "http://127.0.0.1:9");
  await bench.fail(2, /missing required argument 'file'/, "import");
  assert.deepEqual(await bench.flags(), []);
});

test("files are validated like requests to the server", async () => {
  const bench = await newBench(server);
  const plain = (members: object) => ({ type: "boolean", ...members });
  const keys = ["a", "A.b_c-9", "", "-a", ".a", "a b", "a/b", "ä", "a\n"];
  keys.push("a".repeat(128), "a".repeat(129));
  const percentages = [0, 100, 0.001, 33.333, 1.005, 99.999, 0.1 + 0.2, 12.3456, 100.001];
  const descriptions = ["", null, "x".repeat(2_000), "x".repeat(2_001), "✓😀".repeat(1_000), 5];
  const requests = [
    ...keys.map((key) => plain({ key })),
    ...[...percentages, -1, 1e-7, "5", null].map((percentage, index) => ({
      key: `p${index}`,
      type: "rollout",
      percentage,
    })),
    ...descriptions.map((description, index) => plain({ key: `d${index}`, description })),
    plain({ key: "other-type", percentage: 5 }),
    plain({ key: "no-member", colour: "red" }),
    { key: "no-type", type: "toggle" },
  ];
  let refused = 0;
  for (const [index, request] of requests.entries()) {
    const entry = JSON.stringify({ halyard: 1, flags: [{ ...request, enabled: false }] });
    const document = await readDocument(bench.file(`rule-${index}.json`, entry));
    const isTaken = await readFlagsFile(document).then(
      () => true,
      () => false,
    );
    const { status } = await bench.admin("POST", "/flags", request);
    assert.equal(isTaken, status === 201, JSON.stringify(request));
    if (!isTaken) refused += 1;
  }
  assert.equal(refused, 20);
});
