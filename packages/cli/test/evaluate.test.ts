// halyard evaluate and halyard rollout, against a started server.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bucketOf } from "@halyard/sdk";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;
let sample: string;
const users = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  settings = { HALYARD_URL: server.url, HALYARD_API_KEY: environment.keys.server };
  sample = join(server.folder, "users.txt");
  writeFileSync(sample, `${users.join("\n")}\n\n${users[0]}\r\n`);
  const { admin } = environment;
  await admin("POST", "/flags", { key: "plain", type: "boolean" });
  await admin("POST", "/flags", { key: "wide", type: "rollout", percentage: 25 });
  await admin("PATCH", "/flags/wide", { enabled: true });
});
after(() => server.close());

const succeed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runHalyard(args, settings);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
};
const refuse = async (args: string[], message: RegExp, given = settings) => {
  const { code, stdout, stderr } = await runHalyard(args, given);
  assert.deepEqual({ code, stdout }, { code: 1, stdout: "" });
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at /m);
};

const isIn = (user: string, percentage: number) => bucketOf("wide", user) <= percentage * 1_000;
const someone = (wanted: boolean) => users.find((user) => isIn(user, 25) === wanted) ?? "";

test("evaluate says what a flag is for someone, and from which percentage on", async () => {
  const insider = someone(true);
  assert.equal(
    await succeed("evaluate", "wide", "--targeting-key", insider),
    `wide is on for ${insider} (by the rollout's percentage).\nThe rollout is at 25 %; this targeting key is in from ${bucketOf("wide", insider) / 1_000} %.\n`,
  );
  assert.match(
    await succeed("evaluate", "wide", "--targeting-key", someone(false)),
    /^wide is off for /,
  );
  assert.equal(await succeed("evaluate", "plain"), "plain is off (the flag is disabled).\n");
});

test("evaluate for scripts, with a context, and with a key that may not read flags", async () => {
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
  const client = await runHalyard(["evaluate", "wide", "--targeting-key", targetingKey, "--json"], {
    ...settings,
    HALYARD_API_KEY: environment.keys.client,
  });
  assert.deepEqual(JSON.parse(client.stdout), {
    key: "wide",
    value: true,
    variant: "on",
    reason: "SPLIT",
  });
});

test("evaluate says what is missing", async () => {
  await refuse(["evaluate", "gone"], /404.*gone/);
  await refuse(["evaluate", "wide"], /400.*targetingKey/);
  await refuse(["evaluate", "wide", "--context", "[]"], /--context must be a JSON object/);
  await refuse(["evaluate", "wide", "--context", "{"], /--context must be a JSON object/);
  await refuse(["evaluate", "wide"], /an API key is needed/, { HALYARD_URL: server.url });
});

test("rollout counts who is in, and who would flip", async () => {
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
  assert.match(raised, /^wide is at 25 %\.\n {2}in +\d+ of 1000 \(\d+\.\d %\)\n/);
  assert.match(raised, /nobody would be taken out\n$/);
  const lowered = await succeed("rollout", "wide", "--sample", sample, "--to", "0.001");
  assert.match(lowered, /0 of 1000 \(0\.0 %\) would come in\n +\d+ of 1000/);
});

test("rollout lists them one a line, as the server itself would decide", async () => {
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

test("rollout says what is wrong", async () => {
  await refuse(["rollout", "plain", "--sample", sample], /"plain" is a boolean flag/);
  await refuse(["rollout", "wide", "--sample", "nowhere.txt"], /nowhere\.txt cannot be read/);
  await refuse(["rollout", "wide", "--sample", "/dev/null"], /The sample is empty/);
  await refuse(["rollout", "wide", "--sample", sample, "--to", "101"], /--to must be a number/);
  await refuse(["rollout", "wide", "--sample", sample, "--to", "0.0001"], /--to must be a number/);
  await refuse(["rollout", "wide", "--sample", sample, "--list", "gain"], /needs --to/);
});
