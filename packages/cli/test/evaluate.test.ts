// halyard evaluate and halyard rollout, against a started server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bucketOf } from "@halyard/core/bucket";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { settingsFor } from "./support/command-runner.ts";
import { runInThread } from "./support/command-thread.ts";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;
let sample: string;
const users = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  settings = settingsFor(server, environment.keys.server);
  sample = join(server.folder, "users.txt");
  writeFileSync(sample, `${users.join("\n")}\n\n${users[0]}\r\n`);
  const { admin } = environment;
  await admin("POST", "/flags", { key: "plain", type: "boolean" });
  await admin("POST", "/flags", { key: "wide", type: "rollout", percentage: 25 });
  await admin("PATCH", "/flags/wide", { enabled: true });
});
after(() => server.close());

const succeed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runInThread(args, settings);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
};
const refuse = async (args: string[], expected: number, message: RegExp, given = settings) => {
  const { code, stdout, stderr } = await runInThread(args, given);
  assert.deepEqual({ code, stdout }, { code: expected, stdout: "" });
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at /m);
};

const isIn = (user: string, percentage: number) => bucketOf("wide", user) <= percentage * 1_000;
const someone = (wanted: boolean) => users.find((user) => isIn(user, 25) === wanted) ?? "";

test("evaluate prints a user's value, and the percentage from which the user is included", async () => {
  const insider = someone(true);
  assert.equal(
    await succeed("evaluate", "wide", "--targeting-key", insider),
    `wide is on for ${insider} (by the rollout's percentage).\nThe rollout is at 25%; this targeting key is included from ${bucketOf("wide", insider) / 1_000}% on.\n`,
  );
  assert.match(
    await succeed("evaluate", "wide", "--targeting-key", someone(false)),
    /^wide is off for /,
  );
  assert.equal(await succeed("evaluate", "plain"), "plain is off (the flag is disabled).\n");
});

test("evaluate as JSON, with a context, and with a key that can't read flags", async () => {
  const targetingKey = someone(true);
  const context = JSON.stringify({ targetingKey, country: "CA" });
  assert.deepEqual(JSON.parse(await succeed("evaluate", "wide", "--context", context, "--json")), {
    key: "wide",
    value: true,
    variant: "on",
    reason: "SPLIT",
    percentage: 25,
    inFrom: bucketOf("wide", targetingKey) / 1_000,
  });
  const client = await runInThread(
    ["evaluate", "wide", "--targeting-key", targetingKey, "--json"],
    {
      ...settings,
      HALYARD_API_KEY: environment.keys.client,
    },
  );
  assert.deepEqual(JSON.parse(client.stdout), {
    key: "wide",
    value: true,
    variant: "on",
    reason: "SPLIT",
  });
});

test("evaluate reports missing values", async (t) => {
  await refuse(
    ["evaluate", "gone"],
    3,
    /^halyard: The flag "gone" does not exist\. halyard flags list shows/,
  );
  await refuse(["evaluate", "wide"], 1, /specify the user with --targeting-key/);
  await refuse(["evaluate", "wide", "--context", "[]"], 2, /--context must be a JSON object/);
  await refuse(["evaluate", "wide", "--context", "{"], 2, /--context must be a JSON object/);
  const keyless = { ...settings, HALYARD_API_KEY: "" };
  await refuse(["evaluate", "wide"], 4, /An API key is needed/, keyless);
  const wrong = { ...settings, HALYARD_API_KEY: "hal_0000000000000000_x" };
  await refuse(["evaluate", "wide"], 4, /not valid.*Check --key/, wrong);
  const unreachable = ["evaluate", "wide", "--url", "http://127.0.0.1:9"];
  await refuse(unreachable, 6, /did not respond\. Start a server/);
  const other = createServer((_request, response) => response.end("<html>")).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const page = ["evaluate", "wide", "--url", `http://127.0.0.1:${port}`];
  await refuse(page, 1, /not from Halyard\. Is http.* the address of a Halyard server/);
});

test("rollout counts included users, and users that would change", async () => {
  const count = (percentage: number) => users.filter((user) => isIn(user, percentage)).length;
  assert.deepEqual(
    JSON.parse(await succeed("rollout", "wide", "--sample", sample, "--to", "50", "--json")),
    {
      key: "wide",
      enabled: true,
      percentage: 25,
      sample: 1_000,
      in: count(25),
      out: 1_000 - count(25),
      to: 50,
      gain: count(50) - count(25),
      lose: 0,
    },
  );
  const raised = await succeed("rollout", "wide", "--sample", sample, "--to", "50");
  assert.match(raised, /^wide is at 25%\.\n {2}in +\d+ of 1000 \(\d+\.\d%\)\n/);
  assert.match(raised, /none would be removed\n$/);
  const lowered = await succeed("rollout", "wide", "--sample", sample, "--to", "0.001");
  assert.match(lowered, /0 of 1000 \(0\.0%\) would be added\n +\d+ of 1000/);
});

test("rollout lists users one per line, with the same decisions as the server", async () => {
  const listed = await succeed("rollout", "wide", "--sample", sample, "--list", "in");
  assert.deepEqual(
    listed.trimEnd().split("\n"),
    users.filter((user) => isIn(user, 25)),
  );
  const gained = await succeed(
    "rollout",
    "wide",
    "--sample",
    sample,
    "--to",
    "30",
    "--list",
    "gain",
  );
  assert.deepEqual(
    gained.trimEnd().split("\n"),
    users.filter((user) => !isIn(user, 25) && isIn(user, 30)),
  );
});

test("rollout reports errors", async () => {
  await refuse(["rollout", "gone", "--sample", sample], 3, /"gone" does not exist/);
  await refuse(["rollout", "plain", "--sample", sample], 1, /"plain" is a boolean flag/);
  await refuse(["rollout", "wide", "--sample", "nowhere.txt"], 1, /nowhere\.txt cannot be read/);
  await refuse(["rollout", "wide", "--sample", "/dev/null"], 1, /The sample is empty/);
  const to = (percentage: string) => ["rollout", "wide", "--sample", sample, "--to", percentage];
  await refuse(to("101"), 2, /must be a number from 0 to 100/);
  await refuse(to("0.0001"), 2, /must be a number from 0 to 100/);
  await refuse(["rollout", "wide", "--sample", sample, "--list", "gain"], 2, /needs --to/);
});
