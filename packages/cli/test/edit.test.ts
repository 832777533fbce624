// halyard flags edit, with scripts as editors.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isEmptyText, readEditedFlag, writeFlag } from "../src/flags-file/edited-flag.ts";
import { commandSuite } from "./support/command-suite.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

const on = commandSuite();

const flag = {
  key: "edited",
  type: "rollout",
  enabled: true,
  percentage: 25,
  description: null,
} as const;

suite("the text of a flag", () => {
  test("is parsed to the same flag", async () => {
    const full = {
      ...flag,
      requires: [{ flag: "base", variant: "on" }],
      rules: [
        { id: "one", when: { attribute: "plan", op: "in", values: ["pro", "on"] }, serve: "off" },
      ],
      tags: ["x"],
    };
    const text = await writeFlag(full);
    assert.match(text, /^key: edited\ntype: rollout\nenabled: true\npercentage: 25\n/);
    assert.deepEqual(await readEditedFlag(text, full), { ok: true, after: full, patch: {} });
    const less = text.replace(/^rules:[\s\S]*?(?=^tags)/m, "").replace("25", "30");
    const read = await readEditedFlag(less, full);
    assert.deepEqual(read.ok && read.patch, { percentage: 30, rules: null });
  });

  const mistakes: [text: string, ...messages: RegExp[]][] = [
    ["key: [", /Flow sequence/],
    ["just text", /must contain the fields of a flag/],
    [
      "key: other\ntype: rollout\nenabled: true\npercentage: 5",
      /key is fixed at creation: it must stay edited/,
    ],
    ["key: edited\ntype: rollout\nenabled: maybe\npercentage: 5", /enabled must be true or false/],
    [
      "key: edited\ntype: rollout\nenabled: true\npercentage: 5\nrules: [{when: {attribute: a, op: like}, serve: on}, {serve: blue}]",
      /rules\[0\]\.when\.op must be one of/,
      /rules\[1\]\.when must be a condition/,
      /rules\[1\]\.serve must be a variant/,
    ],
  ];
  for (const [text, ...messages] of mistakes) {
    test(`rejected: ${text.replaceAll("\n", ", ")}`, async () => {
      const read = await readEditedFlag(text, flag);
      assert.ok(!read.ok);
      assert.equal(read.mistakes.length >= messages.length, true);
      for (const [index, message] of messages.entries()) {
        assert.match(read.mistakes[index] ?? "", message);
      }
    });
  }

  test("a text with only comments is empty", () => {
    assert.ok(isEmptyText("# one\n\n  # two\n"));
    assert.ok(isEmptyText(""));
    assert.ok(!isEmptyText("# one\nkey: a\n"));
  });
});

/** An editor that runs this script on the file, `$1`. */
const editor = (name: string, script: string): Record<string, string> => {
  const file = join(on.server.folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const folder = join(on.server.folder, `tmp-${name}`);
  mkdirSync(folder);
  return { EDITOR: file, TMPDIR: folder };
};

test("a flag is edited, corrected, rejected, and left unchanged", async () => {
  const { halyard, environment, server } = on;
  const { admin } = environment;
  const { enabled, ...request } = flag;
  assert.equal((await admin("POST", "/flags", request)).status, 201);
  await admin("PATCH", "/flags/edited", { enabled });
  const where = `in ${environment.name} at ${server.url}`;

  // The first run makes an error, the second one corrects it according to the comments.
  const seen = join(server.folder, "seen");
  const mending = editor(
    "mending",
    `stat -c %a "$1" >> '${seen}'; cat "$1" >> '${seen}'
if grep -q 'must be a number' "$1"; then sed -i 's/: lots/: 50/' "$1"; else sed -i 's/: 25/: lots/' "$1"; fi`,
  );
  assert.equal(
    await halyard.with(mending).succeed("flags", "edit", "edited"),
    `~ edited  percentage 25% → 50%
Reach: 25% → 50%.
25% of users move from off to on.
Changed edited ${where} (version 3).
`,
  );
  const text = readFileSync(seen, "utf8");
  assert.match(text, /^600\n# The flag "edited" in .*, version 2\.\n# Save the file/);
  assert.match(text, /# To cancel, close the editor without saving, or empty the file\./);
  assert.match(text, /\n600\n# Errors to fix:\n# {3}percentage must be a number .*\n/);

  const left = await halyard.with({ VISUAL: "true" }).succeed("flags", "edit", "edited");
  assert.equal(left, `edited is unchanged ${where} (version 3).\n`);
  await halyard.refuse(
    ["flags", "edit", "edited"],
    2,
    /No editor is configured: set VISUAL or EDITOR/,
  );
  const broken = editor("broken", "exit 1");
  await halyard.with(broken).refuse(["flags", "edit", "edited"], 1, /exited with 1/);
  assert.deepEqual(readdirSync(broken.TMPDIR ?? ""), [], "the file is gone");

  // A concurrent change comes first.
  const theirs = join(server.folder, "theirs.mjs");
  writeFileSync(
    theirs,
    `const headers = { authorization: "Bearer ${environment.keys.admin}", "content-type": "application/json" };
await fetch("${server.url}/api/v1/flags/edited", { method: "PATCH", headers, body: '{"description":"Theirs"}' });`,
  );
  const slow = editor("slow", `'${process.execPath}' '${theirs}'; sed -i 's/: 50/: 75/' "$1"`);
  const ended = await halyard.with(slow).run("flags", "edit", "edited");
  assert.equal(ended.code, 5, ended.stderr);
  assert.match(
    ended.stderr,
    /"edited" was changed meanwhile \(version 4 by admin at .*\): description none → "Theirs"\. Your change was not sent. Your text is kept in (.*)\.\n$/,
  );
  const [, kept = ""] = /kept in (.*)\.\n$/.exec(ended.stderr) ?? [];
  assert.ok(existsSync(kept));
  assert.match(readFileSync(kept, "utf8"), /percentage: 75/);
  const { body } = await admin("GET", "/flags/edited");
  assert.deepEqual(body, { ...flag, percentage: 50, description: "Theirs" });
});

test("at a terminal it asks for confirmation, and answering no changes nothing", {
  skip: noTerminal,
}, async () => {
  const { admin } = on.environment;
  assert.equal((await admin("POST", "/flags", { key: "confirmed", type: "rollout" })).status, 201);
  const settings = {
    ...on.settings,
    ...editor("asking", `sed -i 's/percentage: 0/percentage: 9/' "$1"`),
  };
  const { code, screen } = await runAtTerminal(["flags", "edit", "confirmed"], settings, [
    [/Change confirmed in .*\[y\/N\] /, "n\n"],
  ]);
  assert.equal(code, 2, screen);
  assert.match(screen, /~ confirmed {2}percentage 0% → 9%[\s\S]*9% of users move from off to on/);
  assert.match(screen, /Your text is kept in [\s\S]*Nothing was changed\./);
  const { body } = await admin("GET", "/flags/confirmed");
  assert.equal((body as { percentage: number }).percentage, 0);
});
