// The reader of the output exits, or the terminal closes: changes continue, and commands that only print stop.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Flag } from "@halyard/sdk/management";
import {
  commandFile,
  type Ended,
  type HalyardProcess,
  spawnHalyard,
} from "../../server/test/support/halyard-process.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { settingsFor } from "./support/command-runner.ts";

const skip = process.platform === "win32" && "a shell of Unix is not here";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  settings = settingsFor(server, environment.keys.admin);
});
after(() => server.close());

let made = 0;
const makeFlag = async (): Promise<string> => {
  made += 1;
  const key = `flag-${made}`;
  await environment.admin("POST", "/flags", { key, type: "boolean" });
  await environment.admin("PATCH", `/flags/${key}`, { enabled: true });
  return key;
};

/** Runs a pipe to the reader in a shell, which prints the exit code of the command. */
const pipeTo = (reader: string, redirection: string, ...args: string[]): HalyardProcess => {
  const line = `{ "$@" ${redirection}; echo "ended with $?" >&2; } | ${reader}`;
  return spawnHalyard(args, settings, ["/bin/sh", "-c", line, "sh", process.execPath, commandFile]);
};

/** Makes changes until the command has exited. */
const endedAfterChanges = (halyard: HalyardProcess): Promise<Ended> => {
  let end: Ended | undefined;
  void halyard.ended.then((ended) => {
    end = ended;
  });
  return until("its end", async () => {
    await makeFlag();
    return end;
  });
};

for (const redirection of ["", "2>&1"]) {
  test(`a change of several flags continues to the last one (${redirection})`, {
    skip,
  }, async () => {
    const keys = [await makeFlag(), await makeFlag(), await makeFlag()];
    const args = ["flags", "disable", keys[0] ?? "", "missing", ...keys.slice(1)];
    const { stderr } = await pipeTo("true", redirection, ...args).ended;
    assert.match(stderr, /ended with 3\n$/);
    assert.doesNotMatch(stderr, /EPIPE|^\s+at /m);
    for (const key of keys) {
      const { body } = await environment.admin("GET", `/flags/${key}`);
      assert.equal((body as Flag).enabled, false, key);
    }
  });
}

test("events tail exits when its reader exits", { skip }, async () => {
  await makeFlag();
  const tail = pipeTo("head -n 1", "", "events", "tail", "--since", "1h");
  const { stdout, stderr } = await endedAfterChanges(tail);
  assert.equal(stdout.split("\n").length, 2, stdout);
  assert.match(stderr, /ended with 0\n$/);
});

test("webhooks listen exits when its reader exits", { skip }, async () => {
  await makeFlag();
  const listening = pipeTo("head -n 1", "", "webhooks", "listen", "--since", "1h");
  const { stdout, stderr } = await endedAfterChanges(listening);
  assert.equal(stdout.split("\n").length, 2, stdout);
  assert.match(stderr, /ended with 0\n$/);
});

test("webhooks listen exits when its terminal is closed", { skip }, async () => {
  const listening = spawnHalyard(["webhooks", "listen", "--since", "1h"], settings);
  await listening.printed(/flag\.created/);
  listening.kill("SIGHUP");
  const { code, stderr } = await listening.ended;
  assert.equal(code, 0, stderr);
});
