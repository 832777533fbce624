// halyard import with concurrent changes of the same flags, and with a busy or failing server: no change is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { boolean, newBench, rollout } from "./support/flag-files.ts";
import { meddlingProxy } from "./support/meddling-proxy.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("concurrent changes are kept, the rest is applied, and the exit code is 5", async (t) => {
  const bench = await newBench(server);
  await bench.put(
    boolean("late", false),
    boolean("later", false),
    boolean("same", false),
    boolean("gone", false),
    boolean("pruned", false),
    boolean("pruned-too", false),
    boolean("plain", false),
  );
  const { admin } = bench;
  /** Runs once, at this request of the command. */
  const meanwhile = new Map<string, () => Promise<unknown>>([
    ["GET /flags/late", () => admin("PATCH", "/flags/late", { description: "Theirs" })],
    ["POST /changes", () => admin("PATCH", "/flags/later", { description: "Theirs" })],
    ["GET /flags/same", () => admin("PATCH", "/flags/same", { enabled: true })],
    ["GET /flags/gone", () => admin("DELETE", "/flags/gone")],
    ["DELETE /flags/pruned", () => admin("PATCH", "/flags/pruned", { enabled: true })],
    ["GET /flags/pruned-too", () => admin("PATCH", "/flags/pruned-too", { enabled: true })],
    ["PATCH /flags/new", () => admin("PATCH", "/flags/new", { description: "Theirs" })],
  ]);
  /** The command creates several flags concurrently. All requests wait until the concurrent change is made. */
  let taken: Promise<unknown> | undefined;
  const url = await meddlingProxy(t, server.url, async (method, path) => {
    if (method === "POST" && path === "/flags") {
      taken ??= bench.put(boolean("taken", true, "Theirs"));
      await taken;
    }
    const act = meanwhile.get(`${method} ${path}`);
    meanwhile.delete(`${method} ${path}`);
    await act?.();
    return undefined;
  });
  const file = bench.file(
    "flags.json",
    ["late", "later", "same", "gone", "plain", "taken", "new"].map((key) => boolean(key, true)),
  );
  const { stdout } = await bench.fail(
    5,
    /^\{"error":"CONFLICT","message":"Someone else changed 7 flags/m,
    ...["import", file, "--prune", "--yes", "--json", "--url", url],
  );
  assert.deepEqual([...meanwhile.keys()], []);
  const { changes } = JSON.parse(stdout) as {
    changes: { key: string; outcome: string; message?: string }[];
  };
  const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/;
  assert.deepEqual(
    Object.fromEntries(
      changes.map(({ key, outcome, message }) => [key, message?.replace(time, "TIME") ?? outcome]),
    ),
    {
      gone: "was deleted meanwhile by admin at TIME",
      late: "was changed meanwhile by admin at TIME",
      later: "was changed meanwhile by admin at TIME",
      new: "was changed, right after it was created, by admin at TIME",
      plain: "done",
      pruned: "was changed meanwhile by admin at TIME",
      "pruned-too": "was changed meanwhile by admin at TIME",
      same: "done",
      taken: "was created meanwhile, with other values, by admin at TIME",
    },
  );
  assert.deepEqual(await bench.flags(), [
    boolean("late", false, "Theirs"),
    boolean("later", false, "Theirs"),
    boolean("new", false, "Theirs"),
    boolean("plain", true),
    boolean("pruned", true),
    boolean("pruned-too", true),
    boolean("same", true),
    boolean("taken", true, "Theirs"),
  ]);
});

test("conflicts are reported by flag", async (t) => {
  const bench = await newBench(server);
  await bench.put(boolean("late", false));
  const url = await meddlingProxy(t, server.url, async (method, path) => {
    if (`${method} ${path}` === "POST /changes") {
      await bench.admin("PATCH", "/flags/late", { description: "Theirs" });
    }
    return undefined;
  });
  const file = bench.file("flags.json", [boolean("late", true)]);
  const ended = await bench.run("import", file, "--url", url);
  const where = `in ${bench.name} at ${url}`;
  assert.deepEqual(
    { ...ended, signal: null, stderr: ended.stderr.replace(/at \d[\w:.-]+Z/, "at TIME") },
    {
      code: 5,
      signal: null,
      stdout: `~ late  enabled off → on\n1 to change, 0 unchanged ${where}.\nNothing was changed ${where}.\n`,
      stderr:
        "halyard: conflict: late: was changed meanwhile by admin at TIME\nhalyard: Someone else changed one flag, so it was not updated. Run the same command again to see the difference and apply it.\n",
    },
  );
});

test("if the server goes away, the exit code is 6, and the same command continues later", async (t) => {
  const bench = await newBench(server);
  const flags = Array.from({ length: 60 }, (_, index) =>
    rollout(`flag-${String(index).padStart(2, "0")}`, index % 2 === 0, index),
  );
  const file = bench.file("flags.json", flags);
  let posts = 0;
  const url = await meddlingProxy(t, server.url, async (method) => {
    if (method === "POST") posts += 1;
    return posts > 30 ? "cut" : undefined;
  });
  const { stdout } = await bench.fail(
    6,
    /cannot be reached.* \d+ of 60 changes were not attempted\. Run the same command again to continue\./,
    "import",
    file,
    "--url",
    url,
  );
  const [, created] = /Done: (\d+) created/.exec(stdout) ?? [];
  assert.ok(Number(created) > 0 && Number(created) <= 30, stdout);
  await bench.succeed("import", file);
  assert.deepEqual(await bench.flags(), flags);
});

test("the command waits for a server that limits requests", async (t) => {
  const bench = await newBench(server);
  let refusals = 0;
  const url = await meddlingProxy(t, server.url, async (method) => {
    // As often as the client library retries by itself.
    if (method !== "POST" || refusals === 3) return undefined;
    refusals += 1;
    return {
      status: 429,
      headers: { "content-type": "application/json", "retry-after": "1" },
      body: '{"error":"RATE_LIMITED","message":"Too many requests."}',
    };
  });
  const file = bench.file("flags.json", [boolean("patient")]);
  const { code, stderr } = await bench.run("import", file, "--url", url);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^The server limits requests per minute: continuing in 1 s/);
  assert.equal(refusals, 3);
  assert.deepEqual(await bench.flags(), [boolean("patient")]);
});

const many = 500;
test(`${many} flags at once, and then nothing`, async () => {
  const bench = await newBench(server);
  const flags = Array.from({ length: many }, (_, index) =>
    boolean(`flag-${String(index).padStart(4, "0")}`, index === many - 1),
  );
  const file = bench.file("flags.json", flags);
  const output = await bench.succeed("import", file);
  const lines = output.trimEnd().split("\n");
  assert.equal(lines.length, 103);
  assert.deepEqual(lines.slice(-3), [
    `  … and ${many - 100} more (--dry-run shows all)`,
    `${many} to create, 0 unchanged ${bench.where}.`,
    `Done: ${many} created ${bench.where}.`,
  ]);
  assert.deepEqual(await bench.flags(), flags);
  assert.equal(
    await bench.succeed("import", file, "--prune"),
    `Nothing to change ${bench.where}: all ${many} flags are up to date.\n`,
  );
});
