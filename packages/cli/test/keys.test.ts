// halyard keys on a server, for the environment of the key.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApiKey, CreatedApiKey } from "@halyard/sdk/management";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";

let server: TestServer;
let environment: TestEnvironment;
let halyard: CommandRunner;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  halyard = createRunner(settingsFor(server, environment.keys.admin));
});
after(() => server.close());

const idOf = (key: string): string => key.split("_")[1] ?? "";

test("keys are created, listed and revoked without the database", async () => {
  const made = await halyard.run("keys", "create", "--role", "server", "--name", "web");
  assert.equal(made.code, 0, made.stderr);
  const key = made.stdout.trim();
  assert.match(key, /^hal_[0-9a-f]{16}_[\w-]{43}$/);
  assert.match(
    made.stderr,
    /^Created the server key "web" \([0-9a-f]{16}\) in test-\d+ at http:\S+\. It won't be shown/,
  );
  assert.equal((await server.api(key)("GET", "/flags")).status, 200);
  const list = await halyard.succeed("keys", "list");
  assert.match(list, new RegExp(`^${idOf(key)} {2}server {2}\\S+Z {2}.* {2}web$`, "m"));
  assert.equal(
    await halyard.succeed("keys", "revoke", idOf(key)),
    `Revoked the key ${idOf(key)} in ${environment.name} at ${server.url}.\n`,
  );
  assert.equal((await server.api(key)("GET", "/flags")).status, 401);
  await halyard.refuse(["keys", "revoke", idOf(key)], 3, /does not exist/);
});

test("an expiry and origins are set and shown, on a server and in its database", async () => {
  const create = ["keys", "create", "--role", "client", "--name", "shop"];
  const limits = [
    "--expires",
    "30d",
    "--origin",
    "https://shop.example.com",
    "http://localhost:5173",
  ];
  const database = ["--environment", environment.name];
  const operator = halyard.with({
    ...(await storeSettings(server.folder)),
    HALYARD_URL: "",
    HALYARD_API_KEY: "",
  });
  for (const [runner, place] of [
    [halyard, []],
    [operator, database],
  ] as const) {
    const made = await runner.run(...create, ...limits, ...place);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr, /, valid until \S+Z\. It won't be shown again\./);
    const list = await runner.succeed("keys", "list", ...place);
    assert.match(list, /Z {2}none +shop +https:\/\/shop\.example\.com http:\/\/localhost:5173$/m);
    const listed = await runner.read<ApiKey[]>("keys", "list", ...place);
    const { expiresAt } = listed.find(({ id }) => id === idOf(made.stdout)) ?? {};
    const days = (Date.parse(expiresAt ?? "") - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days <= 30, `${days} days`);
    await runner.refuse(
      [...create, "--origin", "shop", ...place],
      2,
      /https:\/\/app\.example\.com/,
    );
    const server = ["keys", "create", "--role", "server", "--name", "a"];
    await runner.refuse([...server, "--origin", "https://a.example", ...place], 2, /role client/);
  }
  for (const when of ["yesterday", "2020-01-01", "0d"]) {
    await halyard.refuse([...create, "--expires", when], 2, /in the future/);
  }
});

test("the same as JSON", async () => {
  const place = { environment: environment.name, server: server.url };
  const { key, ...created } = await halyard.read<CreatedApiKey>(
    ...["keys", "create", "-r", "client", "-n", "page"],
  );
  const { environment: _, server: __, ...made } = created as typeof created & typeof place;
  assert.deepEqual(created, { ...made, ...place });
  const listed = await halyard.read<ApiKey[]>("keys", "list");
  assert.deepEqual(
    listed.find(({ id }) => id === made.id),
    made,
  );
  assert.deepEqual(await halyard.read("keys", "revoke", idOf(key)), {
    id: made.id,
    revoked: true,
    ...place,
  });
});

test("missing permissions and conflicting options", async () => {
  const own = idOf(environment.keys.admin);
  await halyard.refuse(["keys", "revoke", own], 5, /last admin key/);
  const reader = halyard.with({ HALYARD_API_KEY: environment.keys.server });
  await reader.refuse(["keys", "list"], 4, /role admin/);
  const both = ["keys", "list", "-e", "production", "--url", server.url];
  await halyard.refuse(both, 2, /--environment works on the database and --url on a server/);
  await halyard.refuse(["keys", "list", "--data", "."], 2, /--data requires --environment/);
});
