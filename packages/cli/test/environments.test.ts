// halyard environments on a server with an owner key, and in its database.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { CreatedEnvironment, Environment } from "@halyard/sdk/management";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";

let server: TestServer;
let home: TestEnvironment;
/** A machine without a database. */
let owner: CommandRunner;
/** The server's machine. */
let operator: CommandRunner;
before(async () => {
  server = await startTestServer({ HALYARD_MAX_ENVIRONMENTS: "6" });
  home = await server.environment();
  const nowhere = { HALYARD_DATA: join(server.folder, "nowhere") };
  owner = createRunner({ ...settingsFor(server, await home.newKey("owner")), ...nowhere });
  operator = createRunner({
    ...settingsFor(server, home.keys.admin),
    ...(await storeSettings(server.folder)),
    HALYARD_URL: "",
    HALYARD_API_KEY: "",
    HALYARD_MAX_ENVIRONMENTS: "6",
  });
  await home.admin("POST", "/flags", { key: "a", type: "boolean", description: "copied" });
});
after(() => server.close());

const preview = ["environments", "create", "pr-123", "--copy-of"] as const;

test("a preview environment is created with a working key, changed, listed and deleted over the API", async () => {
  const {
    key,
    server: url,
    ...made
  } = await owner.read<CreatedEnvironment & { server: string }>(
    ...[...preview, home.name, "--expires", "7d", "--label", "Change 123"],
  );
  assert.equal(url, server.url);
  assert.deepEqual(
    [made.name, made.label, made.protected, made.flags],
    ["pr-123", "Change 123", false, 1],
  );
  const days = (Date.parse(made.expiresAt ?? "") - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, made.expiresAt ?? "never");
  const flag = (await server.api(key.key)("GET", "/flags/a")).body as { description: string };
  assert.equal(flag.description, "copied");

  const listed = await owner.read<Environment[]>("environments", "list");
  assert.deepEqual(
    listed.map(({ name }) => name).sort(),
    ["development", "pr-123", "production", home.name].sort(),
  );
  assert.match(
    await owner.succeed("environments", "list"),
    /^pr-123 +1 +\S+Z +\S+Z +no +none +Change 123$/m,
  );
  const update = ["environments", "update", "pr-123"];
  const settings = ["--expires", "never", "--protect", "--label", ""];
  const changed = await owner.read<Environment>(...update, ...settings);
  assert.deepEqual([changed.expiresAt, changed.protected, changed.label], [null, true, null]);
  // Over the API another person approves it; at the machine the operator decides.
  const proposed = await owner.read<{ proposed: { title: string } }>(...update, "--unprotect");
  assert.equal(proposed.proposed.title, "Take the protection off pr-123");
  assert.equal((await operator.read<Environment>(...update, "--unprotect")).protected, false);
  await owner.refuse(update, 2, /Nothing to change: pass --label/);

  const remove = ["environments", "delete", "pr-123"];
  await owner.refuse([...remove, "--yes"], 5, /has 1 flag\. .* add --force/);
  await owner.refuse([...remove, "--force"], 2, /Delete the environment "pr-123" at http.* --yes/);
  assert.match(await owner.succeed(...remove, "--force", "--yes"), /^Deleted .* "pr-123" at http/);
  assert.equal((await server.api(key.key)("GET", "/flags")).status, 401);
  await owner.refuse([...remove, "--yes"], 3, /"pr-123" does not exist at http/);
});

test("the same works in the database without a key, with the same limit", async () => {
  const made = await operator.run(...preview, home.name, "--expires", "12h");
  assert.equal(made.code, 0, made.stderr);
  assert.match(
    made.stderr,
    /^Created .* "pr-123" as a copy of "test-\d+".*It is deleted at \S+Z\./,
  );
  const key = made.stdout.trim();
  assert.equal((await server.api(key)("GET", "/flags/a")).status, 200);
  const history = await operator
    .with({ HALYARD_URL: server.url, HALYARD_API_KEY: key })
    .succeed("history", "--kind", "environment");
  assert.match(history, /environment pr-123 {2}\S+ {2}created by operator/);
  assert.match(history, /copyOf {6} test-\d+/);
  const update = ["environments", "update", "pr-123", "--label", "Ours"];
  assert.match(await operator.succeed(...update), /^Changed the environment "pr-123"/);
  await operator.succeed("environments", "create", "five");
  await operator.succeed("environments", "create", "six");
  const full = /There are 6 environments, and 6 is the maximum \(HALYARD_MAX_ENVIRONMENTS\)/;
  await operator.refuse(["environments", "create", "seven"], 5, full);
  await owner.refuse(["environments", "create", "seven"], 5, full);
  await operator.succeed("environments", "delete", "pr-123", "--force", "--yes");
  const [removed] = await operator.read<{ name: string; actor: object }[]>(
    ...["environments", "list", "--deleted"],
  );
  assert.deepEqual([removed?.name, removed?.actor], ["pr-123", { keyId: null, name: "operator" }]);
});

test("missing permissions and conflicting options are rejected", async () => {
  const admin = owner.with({ HALYARD_API_KEY: home.keys.admin });
  await admin.refuse(["environments", "create", "x"], 4, /needs a key with the role owner/);
  const own = await admin.read<Environment[]>("environments", "list");
  assert.deepEqual(
    own.map(({ name, role }) => [name, role]),
    [[home.name, "admin"]],
  );
  await owner.refuse(
    ["environments", "list", "--deleted"],
    2,
    /Deleted environments are listed only in the database\. .* --data FOLDER/,
  );
  await owner.refuse(
    ["environments", "list", "--data", server.folder, "--url", server.url],
    2,
    /--data works on the database and --url on a server/,
  );
  const wanted = ["keys", "create", "--role", "owner", "--name", "robot"];
  await admin.refuse(wanted, 2, /Owner keys can be created only on the server's machine/);
  const issued = await operator.succeed(...wanted, "--environment", home.name);
  assert.equal((await server.api(issued.trim())("GET", "/environments")).status, 200);
});
