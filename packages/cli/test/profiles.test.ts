// halyard profiles, and the server and key that a command uses.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type CommandRunner, createRunner } from "./support/command-runner.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

let server: TestServer;
let one: TestEnvironment;
let two: TestEnvironment;
let file: string;
let halyard: CommandRunner;

before(async () => {
  server = await startTestServer();
  one = await server.environment();
  two = await server.environment();
  await one.admin("POST", "/flags", { key: "of-one", type: "boolean" });
  await two.admin("POST", "/flags", { key: "of-two", type: "boolean" });
  file = join(server.folder, "own", "config.json");
  halyard = createRunner({ HALYARD_CONFIG: file });
});
after(() => server.close());

/** The environment whose flags the command lists. */
const sees = async (runner: CommandRunner, ...args: string[]): Promise<string> =>
  /of-\w+/.exec(await runner.succeed("flags", "list", ...args))?.[0] ?? "none";
const set = (name: string, key: string, ...args: string[]) =>
  halyard.succeed("profiles", "set", name, "--url", server.url, "--key", key, ...args);

test("profiles are saved, checked, used and removed, and never show a key", async () => {
  assert.match(await halyard.succeed("profiles", "list"), /^ +NAME/);
  assert.equal(
    await set("one", one.keys.admin),
    `Saved one for ${server.url}: admin of ${one.name}.\n`,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(
    await set("two", two.keys.server),
    `Saved two for ${server.url}: server of ${two.name}.\n`,
  );
  assert.equal(
    await set("page", two.keys.client),
    `Saved page for ${server.url}: client of ${two.name}.\n`,
  );
  const listed = await halyard.succeed("profiles", "list");
  const shown = (key: string) => `${key.split("_").slice(0, 2).join("_")}_…`;
  assert.match(
    listed,
    new RegExp(`^\\* {2}one +${one.name} +admin +\\S+ +${shown(one.keys.admin)}$`, "m"),
  );
  assert.match(
    listed,
    new RegExp(`^ {3}two +${two.name} +server +\\S+ +${shown(two.keys.server)}$`, "m"),
  );
  assert.doesNotMatch(listed, /hal_[0-9a-f]+_[^…]/);
  assert.deepEqual(await halyard.read("profiles", "show"), {
    name: "one",
    url: server.url,
    environment: one.name,
    role: "admin",
    production: false,
    key: shown(one.keys.admin),
    current: true,
    file,
  });
  assert.match(
    await halyard.succeed("profiles", "show", "two"),
    new RegExp(`\\n {2}environment {2}${two.name}\\n {2}role {9}server\\n {2}production {3}no\\n`),
  );
  const whoami = await halyard.succeed("whoami", "-p", "two");
  assert.match(
    whoami,
    new RegExp(`^${two.name}\\n {2}server {3}${server.url}\\n {2}role {5}server\\n {2}name`),
  );

  assert.equal(await sees(halyard), "of-one");
  assert.equal(await sees(halyard, "--profile", "two"), "of-two");
  await halyard.succeed("profiles", "use", "two");
  assert.equal(await sees(halyard), "of-two");
  assert.match(await halyard.succeed("profiles", "remove", "two"), /^Removed two\./);
  await halyard.refuse(["profiles", "show"], 3, /No profile is active/);
  await halyard.refuse(["flags", "list"], 4, /An API key is needed/);
  await halyard.refuse(["flags", "list", "-p", "two"], 3, /no profile "two"; there are one, page/);
  assert.match(await set("two", two.keys.admin, "--use"), /admin of/);
});

test("the command line takes precedence over variables, and those over the active profile", async () => {
  await set("one", one.keys.admin, "--use", "--no-check");
  const variables = halyard.with({ HALYARD_URL: server.url, HALYARD_API_KEY: two.keys.admin });
  assert.equal(await sees(variables), "of-two");
  assert.equal(await sees(variables, "--profile", "one"), "of-one");
  assert.equal(await sees(variables, "--key", one.keys.admin), "of-one");
  assert.equal(await sees(halyard.with({ HALYARD_PROFILE: "two" })), "of-two");
  // A key from the command line is for the server of the active profile, unless an address is specified.
  assert.equal(await sees(halyard, "--key", two.keys.admin), "of-two");
  // If a key is specified, profiles are ignored, even missing ones.
  assert.equal(await sees(variables.with({ HALYARD_PROFILE: "gone" })), "of-two");
  const atServer = halyard.with({ HALYARD_PROFILE: "gone", HALYARD_URL: server.url });
  assert.equal(await sees(atServer, "--key", one.keys.admin), "of-one");
  // A profile's key is sent to another address only if both are specified.
  const elsewhere = ["flags", "list", "--url", `${server.url}/other`];
  await halyard.refuse(
    elsewhere,
    4,
    /the profile "one" is for .*Pass --key, or pass --profile one/,
  );
  await halyard.refuse([...elsewhere, "-p", "one"], 3, /path does not exist/);
  // A trailing slash is not a different address.
  assert.equal(await sees(halyard, "--url", `${server.url}/`), "of-one");
});

test("without --url, a profile keeps its address, or gets HALYARD_URL or the default one", async () => {
  const runner = halyard.with({ HALYARD_CONFIG: join(server.folder, "short.json") });
  const set = ["profiles", "set", "development", "--key", one.keys.admin];
  const other = ["profiles", "set", "other", "--key", one.keys.admin];
  const there = runner.with({ HALYARD_URL: server.url });
  assert.equal(
    await there.succeed(...set),
    `Saved development for ${server.url}: admin of ${one.name}.\n`,
  );
  assert.equal(await sees(runner), "of-one");
  assert.equal(
    await runner.succeed(...set, "--no-check"),
    `Saved development for ${server.url}.\n`,
  );
  assert.equal(
    await runner.succeed(...other, "--no-check"),
    "Saved other for http://127.0.0.1:4400.\n",
  );
});

test("a profile marked as production asks for confirmation, and keeps its key", async () => {
  await set("marked", one.keys.admin);
  const marked = ["-p", "marked"];
  const mark = await halyard.run("profiles", "set", "marked", "--production");
  assert.deepEqual(
    [mark.code, mark.stdout],
    [0, `Saved marked for ${server.url}: admin of ${one.name}.\n`],
  );
  assert.match(mark.stderr, /^Changes require confirmation; in scripts, pass --yes\./);
  assert.match(
    await halyard.succeed("profiles", "show", "marked"),
    /production {3}yes: changes require confirmation/,
  );
  const change = ["flags", "describe", "of-one", "x", ...marked];
  await halyard.refuse(
    change,
    2,
    /^halyard: Change the description of of-one in .*confirm with --yes\.\n$/,
  );
  assert.match(await halyard.succeed(...change, "--yes"), /^of-one has a new description in /);
  await halyard.succeed("profiles", "set", "marked", "--no-production");
  assert.match(await halyard.succeed(...change), /^of-one already had that description in /);
});

test("an address with a password is rejected, and not repeated", async () => {
  const address = server.url.replace("//", "//user:s3cret@");
  const sentence =
    "halyard: The server's address must not contain a user or a password. Use --key to authenticate.\n";
  const refused = async (runner: CommandRunner, ...args: string[]) => {
    const { code, stdout, stderr } = await runner.run(...args);
    assert.deepEqual({ code, stdout, stderr }, { code: 2, stdout: "", stderr: sentence });
  };
  const before = readFileSync(file, "utf8");
  await refused(halyard, "flags", "list", "--url", address);
  await refused(halyard, "flags", "list", "--url", address, "-p", "one");
  await refused(halyard, "flags", "list", "--url", "user:s3cret@host", "--key", "k");
  await refused(halyard.with({ HALYARD_URL: address }), "flags", "list", "--key", "k");
  await refused(halyard, "profiles", "set", "x", "--url", address, "--key", "k", "--no-check");
  assert.equal(readFileSync(file, "utf8"), before);
  const { stdout, stderr } = await halyard.run("doctor", "--url", address);
  assert.match(stdout, /FAIL server: The server's address must not contain/);
  assert.doesNotMatch(stdout + stderr, /s3cret/);
});

test("rejected profiles", async () => {
  const before = readFileSync(file, "utf8");
  const at = ["--url", server.url];
  const wrong = ["profiles", "set", "x", ...at, "--key", "hal_0000000000000000_x"];
  await halyard.refuse(wrong, 4, /not valid/);
  const unreachable = ["profiles", "set", "x", "--url", "http://127.0.0.1:9", "--key", "some-key"];
  await halyard.refuse(unreachable, 6, /cannot be reached/);
  await halyard.refuse(
    ["profiles", "set", "a b", ...at, "--key", "k"],
    2,
    /is not a valid profile name/,
  );
  await halyard.refuse(["profiles", "set", "x", ...at], 2, /--key - on standard input/);
  await halyard.refuse(
    ["profiles", "set", "x", ...at, "--key", "-"],
    2,
    /The key must be an API key/,
  );
  await halyard.refuse(["profiles", "use", "x"], 3, /no profile "x"; there are/);
  assert.equal(readFileSync(file, "utf8"), before);
  assert.match(await halyard.succeed(...unreachable, "--no-check"), /^Saved x for http:\/\/127/);
});

test("a file that other users can read, or that is not valid, is reported", async () => {
  chmodSync(file, 0o644);
  const open = await halyard.run("profiles", "list", "--json");
  assert.equal(open.code, 0);
  assert.match(open.stderr, /contains API keys and other users can read it: chmod 600 /);
  assert.ok(Array.isArray(JSON.parse(open.stdout)));
  const broken = join(server.folder, "broken.json");
  writeFileSync(broken, "{", { mode: 0o600 });
  const runner = halyard.with({ HALYARD_CONFIG: broken });
  await runner.refuse(["profiles", "list"], 1, /is not a valid profiles file: fix it/);
});

test("a key is typed at a terminal without being seen", { skip: noTerminal }, async () => {
  const settings = { HALYARD_CONFIG: join(server.folder, "typed.json") };
  const { code, screen } = await runAtTerminal(
    ["profiles", "set", "typed", "--url", server.url],
    settings,
    [[/input is hidden\): /, `${one.keys.admin}\n`]],
  );
  assert.equal(code, 0, screen);
  assert.match(screen, new RegExp(`Saved typed for \\S+: admin of ${one.name}`));
  assert.ok(!screen.includes(one.keys.admin.slice(-20)));
  assert.equal(await sees(createRunner(settings)), "of-one");
});
