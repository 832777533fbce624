// halyard flags.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { Flag, FlagHistoryEntry, RolloutFlag } from "@halyard/sdk/management";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";
import { noTerminal, runAtTerminal } from "./support/terminal.ts";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;
let halyard: CommandRunner;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  settings = settingsFor(server, environment.keys.admin);
  halyard = createRunner(settings);
});
after(() => server.close());

/** The place in results, as text and as JSON. */
const where = () => `in ${environment.name} at ${server.url}`;
const place = () => ({ environment: environment.name, server: server.url });

const flagOf = async (key: string) =>
  (await environment.admin("GET", `/flags/${key}`)).body as Flag;

test("a flag from creation to deletion", async () => {
  assert.equal(
    await halyard.succeed("flags", "create", "wide", "--percentage", "5", "--description", "A b"),
    `Created wide ${where()}, off. Turn it on for 5% with: halyard flags enable wide\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "enable", "wide"),
    `wide is now on for 5% ${where()} (version 2).\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "enable", "wide"),
    `wide was already on for 5% ${where()} (version 2).\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "rollout", "wide", "25.5%"),
    `wide: 5% → 25.5% ${where()} (version 3). Of 10,000 users, it reaches about 2,050 more; no user loses it.\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "describe", "wide", "Two words"),
    `wide has a new description ${where()} (version 4).\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "disable", "wide", "--if-version", "4"),
    `wide is now off ${where()} (version 5).\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "rollout", "wide", "10", "--url", server.url),
    `wide: 25.5% → 10% ${where()} (version 6). Of 10,000 users, it reaches about 1,550 fewer; no user gains it.\nThe flag is off. Turn it on with: halyard flags enable wide --url ${server.url}\n`,
  );
  await halyard.succeed("flags", "describe", "wide", "--clear");
  assert.deepEqual(await flagOf("wide"), {
    key: "wide",
    type: "rollout",
    enabled: false,
    percentage: 10,
    description: null,
  });

  const history = await halyard.succeed("flags", "history", "wide", "--limit", "3");
  assert.match(
    history,
    /^v7 {2}\S+Z {2}updated by admin \([0-9a-f]{16}\)\n {6}description {2}"Two words" → none\nv6 .*\n {6}percentage {3}25\.5% → 10%\nv5 .* disabled by .*\n {6}enabled {6}on → off\n$/,
  );
  await halyard.refuse(
    ["flags", "delete", "wide"],
    2,
    new RegExp(`^halyard: Delete wide \\(off\\) ${where()}\\?.*confirm with --yes`),
  );
  assert.equal((await flagOf("wide")).key, "wide");
  assert.match(
    await halyard.succeed("flags", "delete", "wide", "--yes"),
    /^Deleted wide in test-\d+ at http:\S+\. Its/,
  );
  const whole = await halyard.read<FlagHistoryEntry[]>("flags", "history", "wide");
  assert.deepEqual(
    whole.map(({ version }) => version),
    [8, 7, 6, 5, 4, 3, 2, 1],
  );
});

test("as JSON: every result contains the version", async () => {
  const made = { key: "plain", type: "boolean", enabled: true, description: null };
  assert.deepEqual(await halyard.read("flags", "create", "plain", "--enabled"), {
    ...made,
    version: 2,
    ...place(),
  });
  assert.deepEqual(await halyard.read("flags", "disable", "plain"), [
    {
      ...{ ...made, enabled: false, version: 3, changed: true },
      ...{ before: { enabled: true }, ...place() },
    },
  ]);
  const { lastChange, ...got } = await halyard.read<{ lastChange: { actor: object } }>(
    "flags",
    "get",
    "plain",
  );
  assert.deepEqual(got, {
    ...{ ...made, enabled: false, version: 3, lastEvaluatedAt: null },
    lastDay: { on: 0, off: 0 },
  });
  assert.deepEqual(Object.keys(lastChange.actor), ["keyId", "name"]);
  const mixed = await halyard.run("flags", "enable", "plain", "gone", "--json");
  assert.equal(mixed.code, 3);
  assert.deepEqual(JSON.parse(mixed.stdout), [
    { ...made, version: 4, changed: true, before: { enabled: false }, ...place() },
    {
      key: "gone",
      error: "NOT_FOUND",
      message: 'The flag "gone" does not exist. halyard flags list shows the flags that exist.',
    },
  ]);
  assert.deepEqual(JSON.parse(mixed.stderr), {
    error: "NOT_FOUND",
    message: "1 of 2 flags could not be changed.",
  });
  assert.deepEqual(await halyard.read("flags", "delete", "plain", "--yes"), {
    key: "plain",
    deleted: true,
    ...place(),
  });
});

test("the list has filters, including flags that are not evaluated", async () => {
  for (const key of ["list-used", "list-idle"]) {
    await environment.admin("POST", "/flags", { key, type: "rollout", percentage: 100 });
  }
  await environment.admin("PATCH", "/flags/list-used", { enabled: true });
  assert.match(
    await halyard.succeed("evaluate", "list-used"),
    /^list-used is on \(the same for everyone\)\.\n/,
  );
  assert.equal(
    await halyard.succeed("flags", "list", "--search", "list-"),
    "KEY        STATE  REACH  DESCRIPTION\nlist-idle  off    100%\nlist-used  on     100%\n",
  );
  const keys = async (...args: string[]) =>
    (await halyard.read<Flag[]>("flags", "list", ...args)).map(({ key }) => key);
  assert.deepEqual(await keys("--type", "rollout", "--enabled", "true"), ["list-used"]);
  assert.deepEqual(await keys("--stale", "1"), ["list-idle"]);
  const shown = await halyard.succeed("flags", "get", "list-used");
  assert.match(shown, /^list-used\n {2}type +rollout\n {2}state +on\n {2}reach +100%\n/);
  assert.match(shown, /last changed +\S+Z \(less than a minute ago\) by \S+\n/);
  assert.match(
    shown,
    /last evaluated +\S+Z \(less than a minute ago\)\n.*1 times on, 0 times off\n$/,
  );
});

test("fields of any type are set by name, as JSON or text", async () => {
  assert.deepEqual(await halyard.read("flags", "create", "named", "--set", "percentage=5"), {
    ...{ key: "named", type: "rollout", enabled: false, percentage: 5 },
    ...{ description: null, version: 1, ...place() },
  });
  const set = ["--set", "percentage=7.5", "--set", "enabled=true", "--set", "description=a=b c"];
  assert.equal(
    await halyard.succeed("flags", "update", "named", ...set),
    `named: enabled off → on, percentage 5% → 7.5%, description none → "a=b c" ${where()} (version 2).\n`,
  );
  assert.equal(
    await halyard.succeed("flags", "update", "named", ...set),
    `named is unchanged ${where()} (version 2).\n`,
  );
});

/** A proxy in front of the server that makes a concurrent change before the first request passes. */
const startRival = async (first: () => Promise<unknown>) => {
  let isFirst = true;
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    if (request.method === "PATCH" && isFirst) {
      isFirst = false;
      await first();
    }
    const { authorization = "", "if-match": ifMatch } = request.headers;
    const answer = await fetch(`${server.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: {
        authorization,
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...(body.length > 0 && { "content-type": "application/json" }),
      },
      ...(body.length > 0 && { body }),
    });
    response.writeHead(answer.status, { etag: answer.headers.get("etag") ?? "" });
    response.end(await answer.text());
  };
  const rival = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  rival.listen(0, "127.0.0.1");
  await once(rival, "listening");
  const { port } = rival.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => rival.close() };
};

test("concurrent changes are neither overwritten nor misreported", async (t) => {
  const { admin } = environment;
  await admin("POST", "/flags", { key: "raced", type: "rollout", percentage: 10 });
  const raise = (percentage: number) => () => admin("PATCH", "/flags/raced", { percentage });
  const rival = await startRival(raise(40));
  t.after(rival.close);
  assert.match(
    await halyard.succeed("flags", "rollout", "raced", "50", "--url", rival.url),
    /^raced: 40% → 50% in \S+ at \S+ \(version 3\)\. .*about 1,000 more/,
  );
  const stricter = await startRival(raise(60));
  t.after(stricter.close);
  const args = ["flags", "rollout", "raced", "70", "--if-version", "3", "--url", stricter.url];
  await halyard.refuse(args, 5, /at version 4, not 3: it was changed/);
  assert.equal(((await flagOf("raced")) as RolloutFlag).percentage, 60);
});

test("missing permissions and unavailable servers", async () => {
  const reader = halyard.with({ HALYARD_API_KEY: environment.keys.server });
  assert.match(await reader.succeed("flags", "list"), /^KEY /);
  await reader.refuse(
    ["flags", "create", "x"],
    4,
    /role editor.*keys create .*--role editor .* creates a key/,
  );
  const wrong = halyard.with({ HALYARD_API_KEY: "hal_0000000000000000_x" });
  await wrong.refuse(["flags", "list"], 4, /not valid.*Check --key/);
  const keyless = halyard.with({ HALYARD_API_KEY: "" });
  await keyless.refuse(["flags", "list"], 4, /An API key is needed: .*profiles set/);
  const unreachable = ["--url", "http://127.0.0.1:9"];
  await halyard.refuse(
    ["flags", "list", ...unreachable],
    6,
    /cannot be reached.*Start a server at/,
  );
  await halyard.refuse(
    ["flags", "list", "--url", "here"],
    2,
    /The address must be the URL of a Halyard server/,
  );
  const ended = await halyard.run("flags", "list", ...unreachable, "--json");
  assert.equal(ended.code, 6);
  assert.equal((JSON.parse(ended.stderr) as { error: string }).error, "UNREACHABLE");
  const mistyped = await halyard.run("flags", "list", "--jsno", "--json");
  assert.deepEqual([mistyped.code, mistyped.stdout], [2, ""]);
  assert.deepEqual(JSON.parse(mistyped.stderr), {
    error: "USAGE",
    message: "unknown option '--jsno'\n(Did you mean --json?)",
  });
});

test("at a terminal, output is colored and changes ask for confirmation", {
  skip: noTerminal,
}, async () => {
  await environment.admin("POST", "/flags", { key: "precious", type: "boolean" });
  const question = /Delete precious \(off\) in \S+ at \S+\?.*\[y\/N\] /;
  const kept = await runAtTerminal(["flags", "delete", "precious"], settings, [[question, "n\n"]]);
  assert.equal(kept.code, 2);
  assert.match(kept.screen, /Nothing was changed/);
  const isColored = (text: string) => stripVTControlCharacters(text) !== text;
  const listed = await runAtTerminal(["flags", "list", "--search", "precious"], settings);
  assert.ok(isColored(listed.screen));
  assert.match(listed.screen, /precious/);
  const plain = await runAtTerminal(["flags", "list"], { ...settings, NO_COLOR: "1" });
  assert.ok(!isColored(plain.screen));
  assert.ok(!isColored(await halyard.succeed("flags", "list")));
  const gone = await runAtTerminal(["flags", "delete", "precious"], settings, [[question, "y\n"]]);
  assert.equal(gone.code, 0, gone.screen);
  assert.equal((await environment.admin("GET", "/flags/precious")).status, 404);

  // In an environment with a production name, changes ask for confirmation at a terminal. A script continues without.
  const first = server.firstKeys.find((key) => key.environment === "production");
  const there = { HALYARD_API_KEY: first?.text ?? "" };
  const risky = ["flags", "create", "risky"];
  const asksToCreate = /Create risky in production at \S+\? \[y\/N\] /;
  const refused = await runAtTerminal(risky, { ...settings, ...there }, [[asksToCreate, "n\n"]]);
  assert.equal(refused.code, 2, refused.screen);
  assert.match(await halyard.with(there).succeed(...risky), /^Created risky in production at /);
});
