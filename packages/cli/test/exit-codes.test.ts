// The exit codes of docs/reference/cli.md, each with situations that lead to it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";
import { folderOf, storeOf } from "./support/folders.ts";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;
let halyard: CommandRunner;
/** Folders with a database: one without an environment, one with an environment, and one in use. */
let [empty, filled, busy] = ["", "", ""];
let user: DatabaseSync;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "there", type: "boolean" });
  await environment.admin("POST", "/flags", { key: "some", type: "rollout", percentage: 5 });
  await environment.admin("PATCH", "/flags/some", { enabled: true });
  const config = join(server.folder, "profiles.json");
  const { admin: key } = environment.keys;
  const profiles = { live: { url: server.url, key, production: true } };
  writeFileSync(config, JSON.stringify({ profiles }), { mode: 0o600 });
  writeFileSync(
    join(server.folder, "flags.yaml"),
    "halyard: 1\nflags:\n- {key: new, type: boolean, enabled: true}\n",
  );
  settings = { ...settingsFor(server, key), HALYARD_CONFIG: config };
  halyard = createRunner(settings);
  [empty, filled, busy] = [await storeOf(), await storeOf(), await storeOf()];
  await halyard.succeed("environments", "create", "qa", "--data", filled);
  user = new DatabaseSync(join(busy, "halyard.db"));
  user.prepare("select version from schema_version").get();
});
after(async () => {
  user.close();
  await server.close();
});

const nowhere = ["--url", "http://127.0.0.1:9"];
const away = {
  HALYARD_URL: "",
  DATABASE_URL: "postgres://u@127.0.0.1:1/x",
  HALYARD_SECRET_KEY: "0".repeat(64),
};
const flags = (...args: string[]) => ["flags", ...args];
const live = (...args: string[]) => [...args, "-p", "live"];

type Args = readonly string[] | (() => readonly string[]);
type Case = readonly [what: string, args: Args, said: RegExp, settings?: Record<string, string>];

const table: Readonly<Record<number, readonly Case[]>> = {
  0: [["done", flags("get", "there"), /^there/]],
  1: [
    ["no targeting key", ["evaluate", "some"], /specify the user with --targeting-key/],
    [
      "a file with mistakes",
      () => ["import", join(server.folder, "profiles.json")],
      /not a halyard export/,
    ],
  ],
  2: [
    ["unknown command", ["frobnicate"], /^halyard: unknown command 'frobnicate'/],
    ["unknown option", flags("list", "--frobnicate"), /^halyard: unknown option/],
    ["not a rollout", flags("rollout", "there", "5"), /^halyard: percentage applies to .*rollout/],
    ["too much", flags("rollout", "there", "100.5"), /number from 0 to 100/],
    ["too fine", flags("rollout", "there", "0.0001%"), /at most three decimals/],
    ["bad type", flags("list", "--type", "text"), /choices are boolean, rollout/],
    ["bad state", flags("list", "--enabled", "on"), /must be true or false/],
    ["bad version", flags("enable", "there", "--if-version", "x"), /whole number, 1 or more/],
    ["two flags", flags("enable", "a", "b", "--if-version", "1"), /one flag at a time/],
    [
      "text and --clear",
      flags("describe", "there", "x", "--clear"),
      /either a description or --clear/,
    ],
    ["no member", flags("update", "there", "--set", "percentage"), /must be field=value/],
    ["not its member", flags("update", "there", "--set", "percentage=5"), /rollout only/],
    ["nothing to set", flags("update", "there"), /required option '--set <field=value>'/],
    ["bad member", flags("create", "x", "--set", "colour=red"), /^halyard: .*colour/],
    ["bad key", flags("create", "no spaces please"), /^halyard: key must/],
    ["a wrong setting", ["serve", "--port", "many"], /A setting is wrong: PORT must/],
    [
      "wrong settings",
      ["environments", "list"],
      /^halyard: 2 settings are wrong:\n.*\n.*\n$/,
      { HALYARD_RATE_LIMIT: "many", HALYARD_LOG_LEVEL: "loud", HALYARD_URL: "" },
    ],
    [
      "an empty name",
      ["keys", "create", "-r", "admin", "-n", " "],
      /string of 1 to 100 characters/,
    ],
    ["not a database", ["copy", "--from", "x", "--to", "my://db"], /DATABASE_URL must be a URL/],
    ["not confirmed", flags("delete", "there"), /Delete there \(off\) in .*with --yes/],
    [
      "not confirmed in production",
      live(...flags("enable", "there")),
      /^halyard: Turn on there in test-\d+ at http:\S+\? Without a terminal, confirm with --yes\.\n$/,
    ],
    ["the same for a key", live("keys", "create", "-r", "server", "-n", "x"), /confirm with --yes/],
    [
      "the same for an import",
      () => live("import", join(server.folder, "flags.yaml"), "--json"),
      /"Apply this change in test-\d+ at http:\S+\? .*with --yes\."/,
    ],
  ],
  3: [
    [
      "no such flag",
      live(...flags("get", "gone")),
      /"gone" does not exist\. halyard flags list -p live shows the flags that exist\.\n$/,
    ],
    ["none to delete", flags("delete", "gone", "--yes"), /"gone" does not exist/],
    ["no such profile", flags("list", "-p", "gone"), /There is no profile "gone"/],
    ["no such environment", () => ["keys", "list", "-e", "x", "--data", filled], /"x" does not/],
    [
      "none to create in",
      () => ["keys", "create", "-e", "x", "-r", "admin", "-n", "ci", "--data", filled],
      /^halyard: .*"x" does not exist\.\n$/,
    ],
    [
      "none to revoke in",
      () => ["keys", "revoke", "id", "-e", "x", "--data", filled],
      /"x" does not exist/,
    ],
    ["no database", () => ["environments", "list", "--data", folderOf()], /no Halyard database/],
  ],
  4: [
    ["a wrong key", flags("list", "--key", "hal_0000000000000000_x"), /not valid.*Check --key/],
    ["no key", flags("list"), /An API key is needed/, { HALYARD_API_KEY: "" }],
  ],
  5: [
    ["there already", flags("create", "there"), /"there" already exists/],
    [
      "changed meanwhile",
      live(...flags("enable", "there", "--if-version", "9", "--yes")),
      /at version 1, not 9: .*halyard flags history there -p live\.\n$/,
    ],
    ["a filled target", () => ["copy", "--from", empty, "--to", filled], /holds the environment/],
    [
      "a source in use",
      () => ["copy", "--from", busy, "--to", folderOf()],
      /is in use by a server or another command, .*stop it first, or add --force/,
    ],
  ],
  6: [
    ["no server", flags("list", ...nowhere), /cannot be reached.*Start a server at/],
    ["no database server", ["environments", "list"], /PostgreSQL at 127.* cannot be used/, away],
  ],
};

suite("exit codes", { concurrency: 2 }, () => {
  test("the table of docs/reference/cli.md has these codes, 7, which diff, --dry-run and types --check have, and 8, which --wait has", () => {
    const docs = readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8");
    const codes = [...docs.matchAll(/^\| (\d) +\| /gm)].map(([, code]) => code);
    assert.deepEqual(codes, [...Object.keys(table), "7", "8"]);
  });
  for (const [code, cases] of Object.entries(table)) {
    for (const [index, [what, args, said, others = {}]] of cases.entries()) {
      test(`${code}: ${what}`, async () => {
        const given = typeof args === "function" ? args() : args;
        // One of each code in a real process.
        const runner = index === 0 ? createRunner(settings, runHalyard) : halyard;
        const ended = await runner.with(others).run(...given);
        assert.equal(ended.code, Number(code), ended.stderr);
        assert.match(code === "0" ? ended.stdout : ended.stderr, said);
        assert.equal(code === "0" ? ended.stderr : ended.stdout, "");
      });
    }
  }
});

test("a forced copy reads a source in use", async () => {
  const target = folderOf();
  const copied = await halyard.read("copy", "--from", busy, "--to", target, "--force");
  assert.deepEqual(Object.keys(copied as object), ["from", "to", "rows"]);
});
