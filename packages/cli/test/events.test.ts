// halyard events tail: every change once and in order, even if the server restarts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createManagement, type Management } from "@halyard/sdk/management";
import type { WebhookEvent } from "@halyard/sdk/webhooks";
import {
  type RunningServer,
  serveHalyard,
  spawnHalyard,
} from "../../server/test/support/halyard-process.ts";
import { type CommandRunner, createRunner } from "./support/command-runner.ts";

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

/** Restarts the server at the same address. The callback runs while it is stopped. */
const restart = async (between?: () => Promise<void>) => {
  const port = new URL(server.url).port;
  server.kill("SIGTERM");
  assert.equal((await server.ended).code, 0);
  if (between) {
    // On another server, so that the follower can't see the change.
    const elsewhere = await serveHalyard(folder);
    management = createManagement({ url: elsewhere.url, key: settings.HALYARD_API_KEY ?? "" });
    await between();
    elsewhere.kill("SIGTERM");
    await elsewhere.ended;
  }
  server = await serveHalyard(folder, { PORT: port });
  management = createManagement({ url: server.url, key: settings.HALYARD_API_KEY ?? "" });
};

type FlagEvent = Extract<WebhookEvent, { readonly type: `flag.${string}` }>;

const linesOf = (text: string): FlagEvent[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FlagEvent);

test("each event is one line with its author, and --count stops the command", async () => {
  await make("earlier");
  const tail = spawnHalyard(["events", "tail", "--since", "1h", "--count", "7"], settings);
  await tail.printed(/ flag\.created {3}#1 {2}earlier v1 {2}by \S/);
  await make("wide");
  await management.flags.update("wide", { enabled: true, percentage: 5 });
  await management.flags.delete("wide");
  await management.segments.create({ key: "beta", include: ["ann"] });
  const members = { include: { add: ["bob", "eve"], remove: ["ann"] } };
  await management.segments.changeMembers("beta", members);
  const { code, stdout, stderr } = await tail.ended;
  assert.equal(code, 0, stderr);
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
  assert.match(
    stdout,
    new RegExp(
      `^${time}  flag.created   #1  earlier v1  by \\S+\n${time}  flag.created   #2  wide v1  by \\S+\n${time}  flag.enabled   #3  wide v2  enabled off → on  by \\S+\n${time}  flag.updated   #4  wide v2  percentage 0% → 5%  by \\S+\n${time}  flag.deleted   #5  wide v3  by \\S+\n${time}  segment.created  #6  beta v1  include \\+1  by \\S+\n${time}  segment.updated  #7  beta v2  include \\+2 -1  by \\S+\n$`,
    ),
  );
  assert.match(stderr, /^Following development after event 0\.\n$/);
});

test("a restart neither loses nor repeats events, including those during the downtime; a server key is sufficient", async () => {
  const made = await management.keys.create({ name: "reader", role: "server" });
  assert.ok(made.ok);
  const reader = { ...settings, HALYARD_API_KEY: made.value.key };
  for (const key of ["a", "b", "gone"]) await make(key);
  // Past events show that the command is connected.
  const tail = spawnHalyard(["events", "tail", "--json", "--since", "1h"], reader);
  await tail.printed(/"key":"gone"/);
  await raise("b", 10);
  await tail.printed(/"key":"b".*"version":2/);
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
  tail.kill("SIGINT");
  const { code, stdout, stderr } = await tail.ended;
  assert.equal(code, 0, stderr);
  const lines = linesOf(stdout);
  const begin = lines.findIndex(
    ({ type, data }) => type.startsWith("flag.") && data.flag.key === "a",
  );
  assert.deepEqual(
    lines.slice(begin).map(({ type, data }) => `${data.flag.key} ${data.version} ${type}`),
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
  assert.deepEqual(
    lines.map(({ sequence }) => sequence),
    lines.map((_, index) => index + 1),
  );
  assert.match(stderr, /Connection lost \([\s\S]*Reconnected\./);
  assert.ok((await management.keys.revoke(made.value.id)).ok);
  await halyard.with(reader).refuse(["events", "tail"], 4, /not valid/);
});

test("errors are reported", async () => {
  await halyard.refuse(["events", "tail", "--since", "soon"], 2, /an age such as 30m/);
  await halyard.refuse(["events", "tail", "--count", "0"], 2, /whole number, 1 or more/);
  await halyard.refuse(["events", "tail", "--url", "http://127.0.0.1:9"], 6, /cannot be reached/);
});
