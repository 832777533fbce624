// halyard clients and --wait: which clients have a change, and the exit code for scripts if some do not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@halyard/sdk";
import type { Programs } from "@halyard/sdk/management";
import { bearer, openStream } from "../../server/test/support/event-reader.ts";
import { until } from "../../server/test/support/until.ts";
import { createRunner } from "./support/command-runner.ts";
import { commandSuite } from "./support/command-suite.ts";

const suite = commandSuite();

const status = async (): Promise<Programs> =>
  (await suite.environment.server("GET", "/clients")).body as Programs;

test("a command waits until all clients have the change, or lists those that do not", async (t) => {
  const { server, environment, halyard } = suite;
  await halyard.succeed("flags", "create", "shown");
  const client = createClient({ url: server.url, key: environment.keys.server, name: "shop 1" });
  t.after(() => client.close());
  await client.ready();
  await until("it has reported", async () => (await status()).reached.have === 2);

  const enabled = await halyard.succeed("flags", "enable", "shown", "--wait");
  assert.match(enabled, /^shown is now on .*\nReached 2 of 2 clients in \d+ ms\.\n$/);
  assert.equal(client.isEnabled("shown"), true);
  const json = await halyard.succeed("flags", "disable", "shown", "--wait=20", "--json");
  assert.doesNotThrow(() => JSON.parse(json), "one document, for scripts");
  assert.equal(client.isEnabled("shown"), false);

  const id = "client-that-never-reports";
  const headers = { ...bearer(environment.keys.server), "x-halyard-client": id };
  const stream = await openStream(`${server.url}/api/v1/stream`, headers);
  t.after(() => stream.close());
  const report = { id, name: "shop \u202e2", sdk: "go/1.0", revision: "1-abc" };
  await environment.server("POST", "/clients", report);

  const late = await halyard.run("flags", "enable", "shown", "--wait=0.2");
  assert.equal(late.code, 8, late.stderr);
  assert.match(late.stdout, /^shown is now on/, "the change is made");
  assert.match(
    late.stderr,
    /^halyard: The change was applied, but \d of 3 clients don't have it after 0\.2 s: .*shop {2}2 \(3 behind\).*\. halyard clients lists all\.\n$/,
  );
  const lateJson = await halyard.run("segments", "create", "beta", "--wait=0.2", "--json");
  assert.equal(lateJson.code, 8);
  const error = JSON.parse(lateJson.stderr.trim().split("\n").at(-1) ?? "");
  assert.equal(error.error, "LAGGING");
  assert.ok(error.details.includes("shop  2 (4 behind)"), lateJson.stderr);
  await until("all others have it", async () => (await status()).reached.have === 2);

  const wrong = await halyard.run("flags", "enable", "--wait", "shown");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /put --wait at the end/);

  const table = await halyard.succeed("clients");
  assert.match(table, /^Revision 5, less than a minute ago\. Reached 2 of 3 clients\.\n/);
  assert.match(table, /^INSTANCE +STATE +REVISION +BEHIND +VERSION +SEEN$/m);
  assert.match(table, /^shop {2}2 +behind +1 +4 +go\/1\.0 +stream /m);
  assert.match(table, /^shop 1 +current +5 +0 +js\/0\.1\.0 +stream /m);
  const shown = JSON.parse(await halyard.succeed("clients", "--revision", "1", "--json"));
  assert.deepEqual([shown.revision, shown.reached.have], [1, 2], "of a store that it never had");
});

test("promote waits for the clients of the target environment", async (t) => {
  const { server, environment, halyard, settings } = suite;
  const other = await server.environment();
  const client = createClient({ url: server.url, key: other.keys.server, name: "there" });
  t.after(() => client.close());
  await client.ready();
  const runner = createRunner(settings);
  for (const [name, { keys }] of Object.entries({ here: environment, there: other })) {
    await runner.succeed("profiles", "set", name, "--url", server.url, "--key", keys.admin);
  }
  const promoted = await halyard.succeed("promote", "here", "there", "shown", "--yes", "--wait");
  assert.match(promoted, /\nReached 2 of 2 clients in \d+ ms\.\n$/);
  assert.equal(client.flags().length, 1);
});
