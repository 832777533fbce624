// The examples that need nothing but Node, curl and jq, run as their readers run them. examples.languages.test.ts has the others.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { parse } from "yaml";
import { meddlingProxy } from "../packages/cli/test/support/meddling-proxy.ts";
import { createManagement } from "../packages/sdk/src/management.ts";
import { missing } from "../packages/sdk/test/support/guide.ts";
import { commandFile } from "../packages/server/test/support/halyard-process.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { copyExample, runExample, startExample } from "./support/example-program.ts";
import { read, root } from "./support/pages.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** A new environment, and what a program is told of it. */
const newEnvironment = async () => {
  const { keys, newKey } = await server.environment();
  const { flags } = createManagement({ url: server.url, key: keys.admin });
  const settings = (role: keyof typeof keys) => ({
    HALYARD_URL: server.url,
    HALYARD_API_KEY: keys[role],
  });
  return { keys, newKey, flags, settings };
};

test("examples install the SDK and the command of this version", () => {
  const { version } = JSON.parse(read("packages/sdk/package.json")) as { version: string };
  for (const name of ["node", "react", "nextjs"]) {
    const { dependencies } = JSON.parse(read(`examples/${name}/package.json`)) as {
      dependencies: Record<string, string>;
    };
    assert.equal(
      dependencies["@halyard/sdk"],
      `http://127.0.0.1:4400/sdk/halyard-sdk-${version}.tgz`,
    );
  }
  for (const name of ["flag-diff", "flag-apply"]) {
    const workflow = read(`examples/github-actions/.github/workflows/${name}.yaml`);
    assert.ok(workflow.includes(`halyard-server-${version}.tgz`), name);
  }
});

test("Node: a server that follows its flag, and starts without Halyard", async (t) => {
  const { flags, settings } = await newEnvironment();
  await flags.create({ key: "new-checkout", type: "boolean" });
  const folder = copyExample(t, "node");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const start = async (others: Readonly<Record<string, string>>) => {
    const program = startExample(t, folder, { PORT: "0", ...others }, "node", "server.ts");
    const [url] = await program.printed(/http:\S+user=user-42/);
    return { program, ask: async () => (await fetch(url)).text() };
  };

  const { program, ask } = await start(settings("server"));
  assert.equal(await ask(), "the old checkout\n");
  await flags.update("new-checkout", { enabled: true });
  await until("the new checkout", async () => (await ask()) === "the new checkout\n");
  program.stop();
  assert.equal(await program.ended, 0);

  const without = await start({ HALYARD_URL: server.url, HALYARD_API_KEY: "hal_no_key" });
  assert.match(without.program.output(), /starting without flags: .*key/);
  assert.equal(await without.ask(), "the old checkout\n");
});

suite("curl", { skip: missing("jq", "--version") || missing("curl", "--version") }, () => {
  const apply = (t: TestContext, mode: string, settings: Readonly<Record<string, string>>) =>
    startExample(t, join(root, "examples/curl"), settings, "./apply.sh", mode, "flags.json");

  test("the plan changes nothing, apply changes it, and a second time there is nothing to do", async (t) => {
    const { flags, settings } = await newEnvironment();
    const run = async (mode: string) => {
      const program = apply(t, mode, settings("admin"));
      return [await program.ended, program.output()];
    };
    assert.deepEqual(await run("plan"), [2, "+ maintenance\n+ new-checkout\n"]);
    const before = await flags.list();
    assert.ok(before.ok && before.value.length === 0);

    assert.deepEqual(await run("apply"), [
      0,
      '+ maintenance\n+ new-checkout\n~ new-checkout {"enabled":true}\n',
    ]);
    assert.deepEqual(await run("apply"), [0, "Nothing to change.\n"]);

    await flags.update("new-checkout", { percentage: 50, tags: ["checkout"] });
    const drift = '~ new-checkout {"percentage":25}\n';
    assert.deepEqual(await run("plan"), [2, drift]);
    assert.deepEqual(await run("apply"), [0, drift]);
    const made = await flags.get("new-checkout");
    assert.deepEqual(made.ok && made.value, {
      key: "new-checkout",
      type: "rollout",
      enabled: true,
      percentage: 25,
      description: "The checkout on one page",
      tags: ["checkout"],
    });
  });

  test("a change that somebody makes at the same time stays", async (t) => {
    const { flags, settings } = await newEnvironment();
    await flags.create({ key: "maintenance", type: "boolean" });
    await flags.update("maintenance", { enabled: true });
    const url = await meddlingProxy(t, server.url, async (method) => {
      if (method === "PATCH") await flags.update("maintenance", { description: "Since 9:00" });
      return undefined;
    });
    const program = apply(t, "apply", { ...settings("admin"), HALYARD_URL: url });
    assert.equal(await program.ended, 1);
    assert.match(program.output(), /^maintenance: somebody else has just changed it/m);
    const kept = await flags.get("maintenance");
    assert.ok(kept.ok && kept.value.enabled && kept.value.description === "Since 9:00");
  });

  test("a key without the permission is told so", async (t) => {
    const { settings } = await newEnvironment();
    const program = apply(t, "apply", settings("server"));
    assert.equal(await program.ended, 1);
    assert.match(program.output(), /^maintenance: .*role.* \(status 403\)$/m);
  });
});

suite("GitHub Actions", () => {
  /** The example, and a `halyard` in its PATH. */
  const prepare = (t: TestContext, command: string) => {
    const folder = copyExample(t, "github-actions");
    writeFileSync(join(folder, "halyard"), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
    const path = { PATH: `${folder}:${process.env.PATH}`, HALYARD_CONFIG: join(folder, "none") };
    return { folder, path };
  };
  const script = ".github/flag-diff.sh";

  test("the comment shows the difference, and a server key is enough", async (t) => {
    const { flags, settings } = await newEnvironment();
    await flags.create({ key: "old-search", type: "boolean", description: "```\n# Not a heading" });
    await flags.create({ key: "new-checkout", type: "rollout", percentage: 10 });
    const command = `exec "${process.execPath}" "${commandFile}" "$@"`;
    const { folder, path } = prepare(t, command);
    const output = await runExample(
      t,
      folder,
      { ...path, ...settings("server") },
      script,
      "flags.yaml",
    );
    const comment = output.slice(output.indexOf("<!-- flag-diff -->"));
    const lines = comment.split("\n");
    assert.deepEqual(lines.slice(0, 4), [
      "<!-- flag-diff -->",
      "### Flags: from what is live to this pull request",
      "",
      "```diff",
    ]);
    assert.deepEqual(lines.slice(-2), ["```", ""]);
    const shown = lines.slice(4, -2);
    assert.deepEqual(
      shown.map((line) => line.slice(0, 14).trim()),
      ["+ maintenance", "~ new-checkout", "- old-search", "3 different, 0"],
    );
    assert.match(shown[1] ?? "", /percentage 10% → 25%/);
  });

  test("after the merge the environment has the file's flags, and a second run changes nothing", async (t) => {
    const { newKey, flags, settings } = await newEnvironment();
    await flags.create({ key: "old-search", type: "boolean" });
    const command = `exec "${process.execPath}" "${commandFile}" "$@"`;
    const { folder, path } = prepare(t, command);
    const git = (...args: string[]) => execFileSync("git", args, { cwd: folder });
    git("init", "--quiet");
    git("add", "flags.yaml");
    const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    git(...author, "commit", "--quiet", "--message", "Open the checkout");

    const { jobs } = parse(read("examples/github-actions/.github/workflows/flag-apply.yaml")) as {
      jobs: { apply: { steps: { run?: string }[] } };
    };
    const line = jobs.apply.steps.flatMap(({ run }) => run ?? []).at(-1) ?? "";
    const HALYARD_API_KEY = await newKey("editor");
    const apply = () =>
      runExample(
        t,
        folder,
        { ...path, ...settings("admin"), HALYARD_API_KEY },
        "bash",
        "-ec",
        line,
      );
    assert.match(await apply(), /Done: 2 created/);
    const made = await flags.get("new-checkout");
    assert.ok(made.ok && made.value.enabled);
    const entries = await flags.history("new-checkout");
    assert.match(
      (entries.ok && entries.value[0]?.reason) || "",
      /^[0-9a-f]{7,} Open the checkout$/,
    );

    await flags.update("new-checkout", { enabled: false });
    assert.match(await apply(), /1 changed/);
    const again = await apply();
    assert.doesNotMatch(again, /Done/);
    const left = await flags.get("old-search");
    assert.ok(left.ok, "what the file does not name stays");
  });

  test("no comment is made of a failure", async (t) => {
    const { folder, path } = prepare(t, "exit 4");
    const program = startExample(t, folder, path, script, "flags.yaml");
    assert.equal(await program.ended, 4);
    assert.doesNotMatch(program.output(), /flag-diff/);
  });
});
