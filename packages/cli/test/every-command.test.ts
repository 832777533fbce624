// Every command: a specified address takes precedence over a local database, and options over variables.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { type Ended, spawnHalyard } from "../../server/test/support/halyard-process.ts";
import {
  type ScriptedReceiver,
  startReceiver,
} from "../../server/test/support/scripted-receiver.ts";
import { startTestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { createProgram } from "../src/program.ts";
import { runInThread } from "./support/command-thread.ts";
import { type Case, cases, createWorld, leavesOf, type World } from "./support/every-command.ts";
import { folderOf, storeOf } from "./support/folders.ts";
import { meddlingProxy } from "./support/meddling-proxy.ts";

const leaves = leavesOf(await createProgram());
const folder = folderOf();
let world: World;
let server: Awaited<ReturnType<typeof startTestServer>>;
let receiver: ScriptedReceiver;
let developmentKey: string;

const startedIn = process.cwd();
after(async () => {
  // Other test files share the process.
  process.chdir(startedIn);
  await server.close();
  await receiver.close();
});
before(async () => {
  server = await startTestServer();
  receiver = await startReceiver();
  developmentKey =
    server.firstKeys.find(({ environment }) => environment === "development")?.text ?? "";
  world = await createWorld(server, await server.environment(), receiver);
  renameSync(await storeOf(), join(folder, "data"));
  // Like an operator's shell: commands run in the folder that contains data/.
  process.chdir(folder);
});

const contents = (): readonly string[] =>
  readdirSync("data", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return `${path} ${hash("sha256", readFileSync(path))}`;
    });

interface Watched {
  readonly url: string;
  /** The key of each request. */
  readonly keys: string[];
}

const watch = async (context: TestContext): Promise<Watched> => {
  const keys: string[] = [];
  const url = await meddlingProxy(context, server.url, (_method, _path, { authorization = "" }) => {
    keys.push(authorization.replace(/^Bearer /, ""));
    return Promise.resolve(undefined);
  });
  return { url, keys };
};

const keyFor = ({ as }: Case): string => {
  const { ownerKey, reviewerKey, environment } = world;
  return { reviewer: reviewerKey, author: environment.keys.admin, owner: ownerKey }[as ?? "owner"];
};

/** A file of profiles of its own, since commands may change it. */
const profilesFor = (url: string, key: string, current?: string): Record<string, string> => {
  const remote = { url, key };
  const development = { url: server.url, key: developmentKey };
  const other = remote;
  const text = JSON.stringify({ current, profiles: { remote, development, other } });
  return { HALYARD_CONFIG: world.file(text) };
};

const run = async (
  each: Case,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  at: Watched,
): Promise<Ended> => {
  const all = { ...settings, ...each.settings };
  if (each.runs === undefined) return runInThread(args, all);
  const halyard = spawnHalyard(args, all);
  if (each.runs === "until its input ends") return halyard.ended;
  await until("it calls the server", () => at.keys.length > 0);
  halyard.kill("SIGINT");
  return halyard.ended;
};

const caseOf = (name: string): Case => {
  const found = cases[name];
  assert.ok(found, `halyard ${name} is missing in support/every-command.ts`);
  return found;
};
const commandLine = async (name: string): Promise<string[]> => {
  const args = await caseOf(name).args(world);
  const takesYes = leaves.some(
    ([each, { options }]) => each === name && options.some(({ long }) => long === "--yes"),
  );
  return [...name.split(" "), ...args, ...(takesYes && !args.includes("--yes") ? ["--yes"] : [])];
};

test("the table contains every command, and which ones change something", () => {
  assert.deepEqual(Object.keys(cases).toSorted(), leaves.map(([name]) => name).toSorted());
  for (const [name, { options }] of leaves) {
    const { changes = false, goes } = caseOf(name);
    const asks = options.some(({ long }) => long === "--yes");
    assert.ok(
      !asks || changes || goes === "database",
      `halyard ${name} asks, so it changes something`,
    );
  }
});

/** The variables that set an address, and the name that errors use for it. */
const givers = {
  HALYARD_URL: (url: string, key: string) => ({
    ...profilesFor(url, key),
    HALYARD_URL: url,
    HALYARD_API_KEY: key,
  }),
  "the active profile": (url: string, key: string) => profilesFor(url, key, "remote"),
} as const;

for (const [giver, settingsOf] of Object.entries(givers)) {
  suite(`in a folder with data/, ${giver} wins`, () => {
    for (const [name] of leaves) {
      // `serve` would serve the local database, as it should.
      if (name === "serve") continue;
      test(`halyard ${name}`, async (context) => {
        const each = caseOf(name);
        const at = await watch(context);
        const args = await commandLine(name);
        const before = contents();
        const { code, stdout, stderr } = await run(
          each,
          args,
          settingsOf(at.url, keyFor(each)),
          at,
        );
        assert.deepEqual(contents(), before, "the local database is as it was");
        if (each.goes === "database") {
          assert.equal(code, 2, stderr);
          assert.ok(stderr.includes(`${giver} `) || stderr.includes(`${giver} "remote"`), stderr);
          assert.match(stderr, /points to http:\S+\. To use the database, pass --data \.\/data\n/);
        }
        if (each.goes !== "server") {
          assert.deepEqual(at.keys, []);
          return;
        }
        assert.equal(code, 0, stderr);
        assert.ok(at.keys.length > 0, "the address is used");
        if (each.changes)
          assert.ok((stdout + stderr).includes(at.url), `no target in: ${stdout}${stderr}`);
      });
    }
  });
}

suite("options win over variables", () => {
  for (const [name, { options }] of leaves) {
    if (!options.some(({ long }) => long === "--url")) continue;
    const hasProfile = options.some(({ long }) => long === "--profile");
    for (const by of hasProfile ? ["--url", "--profile"] : ["--url"]) {
      test(`halyard ${name} ${by}`, async (context) => {
        const each = caseOf(name);
        const [at, other] = [await watch(context), await watch(context)];
        const key = keyFor(each);
        const takesKey = options.some(({ long }) => long === "--key");
        const options_ =
          by === "--profile" ? [by, "remote"] : [by, at.url, ...(takesKey ? ["--key", key] : [])];
        const settings = {
          ...profilesFor(by === "--profile" ? at.url : other.url, key),
          HALYARD_URL: other.url,
          HALYARD_API_KEY: "hal_0123456789abcdef_not-the-key-of-the-command-line",
        };
        const args = [
          ...(await commandLine(name)),
          ...options_,
          ...(each.noJson ? [] : ["--json"]),
        ];
        const { code, stdout, stderr } = await run(each, args, settings, at);
        assert.equal(code, 0, stderr);
        assert.deepEqual(other.keys, [], "the address of the variable is not called");
        if (!each.noJson) JSON.parse(stdout);
        if (each.goes !== "server") {
          assert.ok(stdout.includes(at.url), stdout);
          return;
        }
        assert.ok(at.keys.length > 0, "the address of the option is called");
        assert.deepEqual(
          [...new Set(at.keys)].filter((used) => used !== key && used !== ""),
          [],
        );
        if (each.changes) assert.ok((stdout + stderr).includes(at.url), stdout + stderr);
      });
    }
  }
});

test("an environment that exists in both places is deleted at the given address", async (context) => {
  const at = await watch(context);
  const settings = { HALYARD_URL: at.url, HALYARD_API_KEY: world.ownerKey };
  const create = ["environments", "create", "pr-123"];
  for (const place of [[], ["--data", "./data"]]) {
    assert.equal((await runInThread([...create, ...place], settings)).code, 0);
  }
  const line = ["environments", "delete", "pr-123", "--force", "--yes"];
  const { stdout } = await runInThread(line, settings);
  assert.equal(stdout, `Deleted the environment "pr-123" at ${at.url} and everything in it.\n`);
  const list = async (...place: readonly string[]): Promise<string> =>
    (await runInThread(["environments", "list", ...place], settings)).stdout;
  assert.doesNotMatch(await list(), /pr-123/);
  assert.match(await list("--data", "./data"), /^pr-123 /m);
});

test("--data selects the database even if an address is given, and every change prints its path", async (context) => {
  const at = await watch(context);
  cpSync("data", "named", { recursive: true });
  const settings = { HALYARD_URL: at.url, HALYARD_API_KEY: world.ownerKey };
  const path = join(process.cwd(), "named");
  const halyard = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await runInThread(
      [...line.split(" "), "--data", "./named"],
      settings,
    );
    assert.equal(code, 0, `${line}: ${stderr}`);
    const isOnlyRead = /^(backup verify|doctor|\w+ list)/.test(line);
    if (!isOnlyRead) assert.ok((stdout + stderr).includes(path), `${line}: ${stdout}${stderr}`);
    return stdout;
  };
  await halyard("environments create development");
  await halyard("environments create staging");
  await halyard("environments update staging --label S");
  await halyard("environments list");
  await halyard("environments delete staging --yes");
  const key = await halyard("keys create --environment development --role server --name web");
  await halyard("keys list --environment development");
  await halyard(`keys revoke ${key.split("_")[1]} --environment development`);
  await halyard("users invite Ada --email ada@example.com");
  await halyard("users list");
  await halyard("users role Ada development viewer");
  await halyard("users link Ada");
  await halyard("users remove Ada");
  await halyard("history redact --name Ada --yes");
  await halyard("secrets reencrypt");
  await halyard("migrate");
  await halyard("backup ./copied");
  await halyard("backup verify ./copied");
  await halyard("restore ./copied --force");
  assert.deepEqual(at.keys, []);
});

test("an option before the name of a subcommand is an error", async () => {
  for (const line of ["history --json verify", "backup --data ./data verify ./copied"]) {
    const { code, stdout, stderr } = await runInThread(line.split(" "));
    assert.deepEqual({ code, stdout }, { code: 2, stdout: "" });
    assert.match(stderr, /put --(json|data) after \\?"verify\\?"/);
  }
});
