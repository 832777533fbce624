// halyard diff and halyard promote between two environments.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { type Bench, boolean, newBench, rollout } from "./support/flag-files.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Two environments, as the profiles staging and production. */
const newPair = async (): Promise<{ staging: Bench; production: Bench }> => {
  const staging = await newBench(server);
  const production = await newBench(server);
  writeFileSync(
    staging.settings.HALYARD_CONFIG ?? "",
    JSON.stringify({
      profiles: {
        staging: { url: server.url, key: staging.keys.admin },
        production: { url: server.url, key: production.keys.admin },
        reader: { url: server.url, key: production.keys.server },
        "dotted.json": { url: server.url, key: staging.keys.server },
      },
    }),
    { mode: 0o600 },
  );
  await staging.put(
    boolean("equal", true),
    rollout("grown", true, 50, "After"),
    boolean("fresh", true, "New"),
    boolean("kind"),
  );
  await production.put(
    boolean("equal", true),
    rollout("grown", false, 10, "Before"),
    boolean("old"),
    rollout("kind", false, 1),
  );
  return { staging, production };
};

test("diff of profiles and files, as text and as JSON", async () => {
  const { staging } = await newPair();
  const output = await staging.succeed("diff", "production", "staging");
  assert.equal(
    output,
    `+ fresh  boolean, on, "New"
~ grown  enabled off → on, percentage 10% → 50%, description "Before" → "After"
~ kind   type rollout → boolean
- old    boolean, off
4 different, 1 the same.
`,
  );
  const file = staging.file("staging.yaml", await staging.succeed("export", "-p", "staging"));
  assert.equal(await staging.succeed("diff", "production", file), output);
  const json = await staging.run("diff", file, "production", "--json", "--exit-code");
  assert.equal(json.code, 7);
  const { differences, equal } = JSON.parse(json.stdout);
  assert.equal(equal, 1);
  assert.deepEqual(differences[0], { key: "fresh", a: boolean("fresh", true, "New"), b: null });
  assert.deepEqual(differences[3], { key: "old", a: null, b: boolean("old") });
  const same = await staging.run("diff", file, "dotted.json", "--exit-code");
  assert.deepEqual(
    [same.code, same.stdout],
    [0, `No difference: 4 flags are the same in ${file} and dotted.json.\n`],
  );

  await staging.fail(
    3,
    /There is no file and no profile "nowhere\.yaml"/,
    "diff",
    "staging",
    "nowhere.yaml",
  );
  await staging.fail(
    3,
    /There is no profile "qa"; there are dotted\.json, production/,
    "diff",
    "staging",
    "qa",
  );
  await staging.fail(1, /not a halyard export/, "diff", "staging", staging.file("x.json", "{}"));
});

test("promote named flags, all flags, or some fields, with and without deletions", async () => {
  const { staging, production } = await newPair();
  const untouched = await staging.revision();
  const revision = await production.revision();
  const dry = await staging.run(
    "promote",
    "staging",
    "production",
    "grown",
    "--dry-run",
    "--exit-code",
  );
  assert.equal(dry.code, 7);
  assert.equal(await production.revision(), revision);

  const some = await staging.succeed(
    "promote",
    "staging",
    "production",
    "grown",
    "fresh",
    "--fields",
    "percentage, description",
    "--reason",
    "Release 7",
  );
  const [last] = (await production.admin("GET", "/history?limit=1")).body as { reason?: string }[];
  assert.equal(last?.reason, "Release 7");
  assert.equal(
    some,
    `+ fresh  boolean, off, "New"
~ grown  percentage 10% → 50%, description "Before" → "After"
1 to create, 1 to change, 0 unchanged ${production.where}.
Done: 1 created, 1 changed ${production.where}.
`,
  );
  assert.deepEqual(await production.flags(), [
    boolean("equal", true),
    boolean("fresh", false, "New"),
    rollout("grown", false, 50, "After"),
    rollout("kind", false, 1),
    boolean("old"),
  ]);

  await staging.fail(
    1,
    /One flag has a different type in the target/,
    "promote",
    "staging",
    "production",
    "--all",
  );
  await staging.fail(
    2,
    /One flag will be deleted.*with --yes/,
    "promote",
    "staging",
    "production",
    "old",
    "--prune",
  );
  const pruned = await staging.succeed(
    "promote",
    "staging",
    "production",
    "old",
    "--prune",
    "--yes",
    "--json",
  );
  assert.deepEqual(JSON.parse(pruned).changes, [
    { key: "old", action: "delete", flag: boolean("old"), outcome: "done" },
  ]);
  assert.deepEqual(await production.flags(), [
    boolean("equal", true),
    boolean("fresh", true, "New"),
    rollout("grown", true, 50, "After"),
    rollout("kind", false, 1),
  ]);
  assert.equal(await staging.revision(), untouched);
});

test("promote rejects ambiguous arguments", async () => {
  const { staging, production } = await newPair();
  const revision = await production.revision();
  const refuse = (code: number, message: RegExp, ...args: string[]) =>
    staging.fail(code, message, "promote", ...args);
  await refuse(2, /Name the flags to copy, or use --all/, "staging", "production");
  await refuse(2, /not both/, "staging", "production", "grown", "--all");
  await refuse(2, /two profiles are the same/, "staging", "staging", "--all");
  await refuse(
    2,
    /Allowed are enabled, otherwise, percentage, variants, off, description, requires, rules,/,
    "staging",
    "production",
    "--all",
    "--fields",
    "type",
  );
  await refuse(
    3,
    /There is no flag "old", "typo" in staging; nothing was changed/,
    "staging",
    "production",
    "grown",
    "old",
    "typo",
  );
  await refuse(
    3,
    /There is no flag "typo" in staging or production/,
    "staging",
    "production",
    "old",
    "typo",
    "--prune",
    "--yes",
  );
  await refuse(3, /There is no profile "qa"/, "staging", "qa", "--all");
  await refuse(
    4,
    /1 of 1 changes failed; the first: .*Pass a key with that role/,
    "staging",
    "reader",
    "grown",
  );
  assert.equal(await production.revision(), revision);
});

test("at a terminal, promote asks for confirmation, and shows progress", {
  skip: noTerminal,
}, async () => {
  const { staging, production } = await newPair();
  const answer = (word: string) =>
    runAtTerminal(["promote", "staging", "production", "grown"], staging.settings, [
      [/Apply this change in \S+ at \S+\? \[y\/N\]/, `${word}\n`],
    ]);
  const revision = await production.revision();
  const no = await answer("n");
  assert.match(no.screen, /~ grown +enabled off → on[\s\S]*Nothing was changed/);
  assert.equal(no.code, 2);
  assert.equal(await production.revision(), revision);
  const yes = await answer("y");
  assert.match(yes.screen, /Promoting: 1 of 1 \(100%\)[\s\S]*Done: 1 changed/);
  assert.equal(yes.code, 0);
  assert.notEqual(await production.revision(), revision);
});

test("list, get, export and diff of a past environment", async () => {
  const { staging: bench, production } = await newPair();
  const revision = (await production.revision())?.replaceAll('"', "") ?? "";
  const before = await bench.succeed("export", "-p", "production");
  const then = new Date().toISOString();
  while (new Date().toISOString() === then) await production.revision();
  await production.admin("DELETE", "/flags/old");
  await production.admin("PATCH", "/flags/equal", { enabled: false });
  for (const when of [
    ["--revision", revision],
    ["--at", then],
  ]) {
    assert.equal(await bench.succeed("export", "-p", "production", ...when), before);
    const list = await bench.succeed("flags", "list", "-p", "production", "--json", ...when);
    assert.deepEqual(JSON.parse(list), JSON.parse(before).flags);
    const old = await bench.succeed("flags", "get", "old", "-p", "production", ...when);
    assert.match(old, /^old\n {2}type +boolean\n/);
    assert.doesNotMatch(old, /last evaluated/);
  }
  for (const side of [revision, then]) {
    assert.equal(
      await bench.succeed("diff", `production@${side}`, "production"),
      "~ equal  enabled on → off\n- old    boolean, off\n2 different, 2 the same.\n",
    );
  }
  await bench.fail(3, /At revision/, "flags", "get", "fresh", "-p", "production", "--at", then);
  await bench.fail(5, /was not there yet/, "flags", "list", "-p", "production", "--at", "900d");
  await bench.fail(2, /only one of/, "flags", "list", "--at", "1h", "--revision", "1");
  await bench.fail(
    2,
    /--stale applies to current flags/,
    "flags",
    "list",
    "--at",
    "1h",
    "--stale",
    "1",
  );
});
