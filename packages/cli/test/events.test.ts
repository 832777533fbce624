// halyard events tail: every change once and in order, through a restart of the server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createManagement, type Management } from "@halyard/sdk";
import {
  type Ended,
  type RunningServer,
  serveHalyard,
  spawnHalyard,
} from "../../server/test/support/halyard-process.ts";
import { until } from "../../server/test/support/until.ts";
import { type CommandRunner, createRunner } from "./support/command-runner.ts";

interface Line {
  readonly key: string;
  readonly version: number;
  readonly events: readonly string[];
  readonly actor: { readonly name: string } | null;
  readonly before: object | null;
  readonly after: { readonly percentage?: number } | null;
}

const folder = mkdtempSync(join(tmpdir(), "halyard-test-"));
let server: RunningServer;
let settings: Record<string, string>;
let management: Management;
let halyard: CommandRunner;

before(async () => {
  server = await serveHalyard(folder);
  settings = {
    HALYARD_URL: server.url,
    HALYARD_API_KEY: server.keys.development ?? "",
    HALYARD_CONFIG: join(folder, "config.json"),
  };
  management = createManagement({ url: server.url, key: settings.HALYARD_API_KEY ?? "" });
  halyard = createRunner(settings);
});
after(async () => {
  server.kill("SIGTERM");
  await server.ended;
  rmSync(folder, { recursive: true, force: true });
});

const make = async (key: string) => {
  const made = await management.flags.create({ key, type: "rollout" });
  assert.ok(made.ok, key);
};
const raise = async (key: string, percentage: number) => {
  const changed = await management.flags.update(key, { percentage });
  assert.ok(changed.ok, key);
};

/** Restarts where it was; what is given happens while it is away and before it is back. */
const restart = async (between?: () => Promise<void>) => {
  const port = new URL(server.url).port;
  server.kill("SIGTERM");
  assert.equal((await server.ended).code, 0);
  if (between) {
    // Elsewhere, so that who follows cannot see it happen.
    const elsewhere = await serveHalyard(folder);
    management = createManagement({ url: elsewhere.url, key: settings.HALYARD_API_KEY ?? "" });
    await between();
    elsewhere.kill("SIGTERM");
    await elsewhere.ended;
  }
  server = await serveHalyard(folder, { PORT: port });
  management = createManagement({ url: server.url, key: settings.HALYARD_API_KEY ?? "" });
};

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

test("each change is one line with who made it, and --count ends it", async () => {
  await make("earlier");
  const tail = spawnHalyard(["events", "tail", "--since", "1h", "--count", "4"], settings);
  await tail.printed(/ created {3}earlier v1 {2}by \S/);
  await make("wide");
  await management.flags.update("wide", { enabled: true, percentage: 5 });
  await management.flags.delete("wide");
  const { code, stdout, stderr } = await tail.ended;
  assert.equal(code, 0, stderr);
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
  assert.match(
    stdout,
    new RegExp(
      `^${time}  created   earlier v1  by \\S+\\n${time}  created   wide v1  by \\S+\\n${time}  enabled, updated  wide v2  enabled off → on, percentage 0 % → 5 %  by \\S+\\n${time}  deleted   wide v3  by \\S+\\n$`,
    ),
  );
  assert.match(stderr, /^Following development from revision \d+ on\.\n$/);
});

/** With a key that may not read the history; comes back when it follows. */
const followAsReader = async () => {
  const made = await management.keys.create({ name: "reader", role: "server" });
  assert.ok(made.ok);
  const reader = { ...settings, HALYARD_API_KEY: made.value.key };
  const tail = spawnHalyard(["events", "tail", "--json"], reader);
  let follows = false;
  void tail.printed(/"key":"noise"/).then(() => {
    follows = true;
  });
  await make("noise");
  let percentage = 0;
  await until("its first line", async () => {
    percentage = (percentage + 1) % 40;
    await raise("noise", percentage);
    return follows;
  });
  return tail;
};

test("a restart loses nothing and repeats nothing, also what happened meanwhile", async () => {
  for (const key of ["a", "b", "gone"]) await make(key);
  // What it has to tell of before says when it is there.
  const tail = spawnHalyard(["events", "tail", "--json", "--since", "1h"], settings);
  await tail.printed(/"key":"gone"/);
  const reader = await followAsReader();
  await raise("b", 10);
  for (const follower of [tail, reader]) await follower.printed(/"key":"b","version":2/);
  await restart(async () => {
    await raise("b", 20);
    await make("meanwhile");
    await raise("b", 30);
    await management.flags.delete("gone");
    await make("gone");
    await make("short");
    await management.flags.delete("short");
  });
  await raise("b", 40);
  await restart();
  await raise("b", 50);
  await tail.printed(/"percentage":50/);
  await reader.printed(/"percentage":50/);
  reader.kill("SIGTERM");
  tail.kill("SIGINT");
  const { code, stdout, stderr } = await tail.ended;
  assert.equal(code, 0, stderr);
  const lines = linesOf(stdout);
  const begin = lines.findIndex(({ key, version }) => key === "a" && version === 1);
  assert.deepEqual(
    lines
      .slice(begin)
      .filter(({ key }) => key !== "noise")
      .map(({ key, version, events }) => `${key} ${version} ${events.join("+")}`),
    [
      "a 1 flag.created",
      "b 1 flag.created",
      "gone 1 flag.created",
      "b 2 flag.updated",
      "b 3 flag.updated",
      "meanwhile 1 flag.created",
      "b 4 flag.updated",
      "gone 2 flag.deleted",
      "gone 3 flag.created",
      "short 1 flag.created",
      "short 2 flag.deleted",
      "b 5 flag.updated",
      "b 6 flag.updated",
    ],
  );
  assert.ok(lines.every(({ actor }) => actor !== null));
  // Without the history only what became of each flag can be told: nothing twice, and all of it in the end.
  const alone = await reader.ended;
  const net = linesOf(alone.stdout).filter(({ key }) => key !== "noise");
  const versionsOf = (key: string) =>
    net.filter((line) => line.key === key).map(({ version }) => version);
  assert.deepEqual(
    [versionsOf("b")[0], versionsOf("b").at(-1), versionsOf("gone"), versionsOf("meanwhile")],
    [2, 6, [3], [1]],
  );
  assert.deepEqual(
    versionsOf("b"),
    [...new Set(versionsOf("b"))].toSorted((a, b) => a - b),
  );
  assert.deepEqual(versionsOf("short"), []);
  assert.match(alone.stderr, /\d more changes happened meanwhile; only an admin key can list them/);
  assert.match(stderr, /Connection lost \([\s\S]*Reconnected\./);
});

test("a key that may not read the history sees the changes without who", async () => {
  const made = await management.keys.create({ name: "reader", role: "server" });
  assert.ok(made.ok);
  const reader = { ...settings, HALYARD_API_KEY: made.value.key };
  const tail = spawnHalyard(["events", "tail", "--json", "--count", "1"], reader);
  let count = 0;
  let end: Ended | undefined;
  void tail.ended.then((ended) => {
    end = ended;
  });
  const { stdout, code } = await until("its end", async () => {
    await make(`seen-${count++}`);
    return end;
  });
  assert.equal(code, 0);
  const [line] = linesOf(stdout);
  assert.equal(line?.actor, null);
  assert.deepEqual(line?.events, ["flag.created"]);
  const asReader = halyard.with(reader);
  await asReader.refuse(["events", "tail", "--since", "1h"], 4, /--since reads the history/);
  const revoked = await management.keys.revoke(made.value.id);
  assert.ok(revoked.ok);
  await asReader.refuse(["events", "tail"], 4, /not valid/);
});

test("what cannot be followed says so", async () => {
  await halyard.refuse(["events", "tail", "--since", "soon"], 2, /how long ago such as 30m/);
  await halyard.refuse(["events", "tail", "--count", "0"], 2, /whole number, 1 or more/);
  await halyard.refuse(["events", "tail", "--url", "http://127.0.0.1:9"], 6, /cannot be reached/);
});
