// Segments on the command line, and the explanation of a decision.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();
const post = async (path: string, body: object) => {
  const { status, text } = await on.environment.admin("POST", path, body);
  assert.equal(status, 201, text);
};

const plan = (...values: readonly string[]) => ({ attribute: "plan", op: "in", values });

suite("segments", () => {
  test("are created, changed, used and deleted", async () => {
    const { halyard, server } = on;
    const made = await halyard.succeed(
      ...["segments", "create", "beta", "--include", "ann,bob", "--exclude", "eve"],
      ...["--when", "plan in pro", "--description", "Invited"],
    );
    assert.match(
      made,
      /^Created the segment beta in .*: 2 included, 1 excluded\.\nUse it in a rule/,
    );
    const file = join(server.folder, "members.txt");
    const members = Array.from({ length: 8_000 }, (_, index) => `${"x".repeat(40)}-${index}`);
    writeFileSync(file, members.join("\n"));
    const added = await halyard.read<object>(
      "segments",
      "add",
      "beta",
      "ann",
      "zoe",
      "--file",
      file,
    );
    assert.deepEqual(added, {
      key: "beta",
      counts: { include: 8_003, exclude: 1 },
      version: 3,
      changed: 8_001,
      environment: on.environment.name,
      server: server.url,
    });
    const removed = await halyard.succeed("segments", "remove", "beta", "--file", file);
    assert.match(removed, /^Removed 8000 from beta in .*: 3 included, 1 excluded\.\n$/);
    await halyard.succeed("segments", "remove", "beta", "eve", "--exclude");
    const rule = { id: "beta", when: { segment: ["beta"] }, serve: "on" };
    await post("/flags", { key: "user", type: "boolean", rules: [rule], otherwise: "off" });
    await halyard.succeed(
      "segments",
      "update",
      "beta",
      "--no-when",
      "--description",
      "All invited",
    );
    assert.equal(
      await halyard.succeed("segments", "show", "beta"),
      `beta
  description  All invited
  included     3: ann, bob, zoe
  excluded     none
  when         no condition
  flags        user
  version      7
`,
    );
    assert.equal(
      await halyard.succeed("segments", "list"),
      "KEY   INCLUDED  EXCLUDED  WHEN  DESCRIPTION\nbeta  3         0               All invited\n",
    );
    assert.equal(await halyard.succeed("segments", "flags", "beta"), "FLAG  RULES\nuser  beta\n");
    const history = await halyard.succeed("segments", "history", "beta", "--limit", "2");
    assert.match(
      history,
      /^v7 .* updated by admin.*\n {6}description "Invited" → "All invited"\n {6}when plan in pro → none\nv6 .*\n {6}exclude -1 \(eve\)\n$/,
    );
    await halyard.refuse(["segments", "delete", "beta", "--yes"], 5, /named by the flag "user"/);
    // The state at its creation.
    const changes = await halyard.read<{ revision: number }[]>("segments", "history", "beta");
    const first = ["--revision", String(changes.at(-1)?.revision)];
    assert.deepEqual(
      (await halyard.read<{ key: string; counts: object }[]>("segments", "list", ...first)).map(
        ({ key, counts }) => [key, counts],
      ),
      [["beta", { include: 2, exclude: 1 }]],
    );
    const then = await halyard.succeed("segments", "show", "beta", ...first);
    assert.match(then, /included +2: ann, bob\n +excluded +1: eve\n +when +plan in pro\n +version/);
    await halyard.refuse(["segments", "show", "none"], 3, /segments list shows the segments/);
    await on.environment.admin("DELETE", "/flags/user");
    assert.match(
      await halyard.succeed("segments", "delete", "beta", "--yes"),
      /^Deleted the segment beta/,
    );
  });
});

suite("history", () => {
  test("shows reasons, changes and authors, filtered by kind, actor and time", async () => {
    const { halyard } = on;
    const why = ["--reason", "An incident"];
    await halyard.succeed("flags", "create", "plain", ...why);
    const rule = ["--when", "plan in pro", "--serve", "on", "--otherwise", "off"];
    await halyard.succeed("flags", "rules", "add", "plain", ...rule, ...why);
    await halyard.succeed("segments", "create", "plain", ...why);
    await halyard.succeed("segments", "add", "plain", "ann", ...why);
    await halyard.succeed("flags", "delete", "plain", "--yes", ...why);
    await halyard.refuse(
      ["segments", "add", "plain", "x", "--reason", " "],
      2,
      /reason must be a text/,
    );
    const all = await halyard.read<{ id: string; reason?: string }[]>(
      "history",
      "--actor",
      "admin",
    );
    assert.deepEqual(
      all.filter(({ id }) => id === "plain").map(({ reason }) => reason),
      Array.from({ length: 5 }, () => "An incident"),
    );
    assert.match(
      await halyard.succeed("history", "--kind", "segment", "--id", "plain", "--since", "1h"),
      /^segment plain v2 .* updated by admin.*\n {6}because: An incident\n {6}include \+1 \(ann\)\nsegment plain v1 /,
    );
    assert.match(
      await halyard.succeed("history", "--kind", "flag", "--deleted", "--limit", "1"),
      /^flag plain v3 .* deleted by admin.*\n {6}because: An incident\n$/,
    );
    for (const none of [
      ["--actor", "unknown"],
      ["--until", "1h"],
    ]) {
      assert.equal(await halyard.succeed("history", ...none), "");
    }
    await halyard.refuse(["history", "--id", "plain"], 2, /--id needs --kind/);
    await halyard.refuse(["history", "--kind", "rule"], 2, /Allowed choices/);
  });
});

suite("explain", () => {
  test("shows each step, for current, past and changed flags", async () => {
    const { halyard } = on;
    await post("/segments", { key: "embargoed", include: ["eve"] });
    await post("/flags", { key: "paid", type: "boolean" });
    await post("/flags", {
      key: "why",
      type: "rollout",
      percentage: 5,
      requires: [{ flag: "paid", variant: "on" }],
      rules: [
        {
          id: "staff",
          when: { attribute: "email", op: "endsWith", values: ["@acme.com"] },
          serve: "on",
        },
        {
          id: "beta",
          when: { all: [plan("pro", "team"), { not: { segment: ["embargoed"] } }] },
          serve: [{ variant: "on", share: 0.001 }],
        },
        { id: "pro", when: plan("pro"), serve: "on" },
      ],
    });
    for (const key of ["paid", "why"]) {
      await on.environment.admin("PATCH", `/flags/${key}`, { enabled: true });
    }
    const explained = await halyard.succeed("explain", "why", "ann", "-c", "plan=pro");
    assert.match(
      explained,
      new RegExp(
        [
          "^why is on for ann",
          "  reason   TARGETING_MATCH, by a rule \\(pro\\)",
          "  true     requires paid = on: it is on",
          "  unknown  rule staff → on",
          "  unknown    email endsWith @acme.com: email is missing",
          "  true     rule beta → on 0.001%, whose shares do not reach this bucket",
          "  true       all of",
          '  true         plan in pro,team: plan is "pro"',
          "  true         not",
          "  false          segment embargoed",
          "  true     rule pro → on, which decides",
          '  true       plan in pro: plan is "pro"',
          "  otherwise on 5%, off 95%",
          '  bucket   [0-9.]+%, by targetingKey "ann" with the seed "why"\n$',
        ].join("\n"),
      ),
    );
    const patched = await halyard.read<{ reason: string; revision: number }>(
      ...["explain", "why", "ann", "--context", '{"plan":"pro"}', "--patch", '{"enabled":false}'],
    );
    assert.equal(patched.reason, "DISABLED");
    assert.match(
      await halyard.succeed("explain", "why", "-c", "plan=free"),
      /^why has no value: TARGETING_KEY_MISSING\. The flag is split[\s\S]*\n {2}bucket {3}none: the context has no usable targetingKey\n$/,
    );
    await on.environment.admin("PATCH", "/flags/why", { enabled: false });
    const then = await halyard.succeed(
      "explain",
      "why",
      "ann",
      ...["-c", "plan=pro", "--revision", String(patched.revision)],
    );
    assert.match(then, /^why is on for ann\n[\s\S]*\nAt revision \d+\.\n$/);
    await halyard.refuse(["explain", "why", "--at", "1h", "--revision", "1"], 2, /only one of/);
    await halyard.refuse(["explain", "why", "-c", "/a/b=1"], 2, /pass \/a\/b with --context/);
  });
});
