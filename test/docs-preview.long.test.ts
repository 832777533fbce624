// The workflow of docs/environments.md, step by step against a server: a preview is created, updated by each push, and deleted.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { missing } from "../packages/sdk/test/support/guide.ts";
import type { Api } from "../packages/server/test/support/api.ts";
import { newFolder, startTestServer } from "../packages/server/test/support/server.ts";
import { blocksOf } from "./support/pages.ts";

interface Step {
  readonly run?: string;
  readonly if?: string;
}
interface Workflow {
  readonly on: { readonly pull_request: { readonly types: readonly string[] } };
  readonly jobs: {
    readonly preview: {
      readonly steps: readonly Step[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
}

const block = blocksOf("docs/environments.md").find(({ language }) => language === "yaml");
const workflow = parse(block?.text ?? "") as Workflow;
const { preview } = workflow.jobs;
const notClosed = "github.event.action != 'closed'";

const isOn = async (api: Api): Promise<boolean> =>
  ((await api("GET", "/flags/a")).body as { readonly enabled: boolean }).enabled;

/** GitHub's part: it fills the variables, runs the steps in a new folder each time, and stops at the first that fails. */
const preparePreview = async (t: TestContext) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { newKey } = await server.environment();
  const owner = await newKey("owner");
  const { text = "" } =
    server.firstKeys.find(({ environment }) => environment === "production") ?? {};
  const production = server.api(text);
  assert.equal((await production("POST", "/flags", { key: "a", type: "boolean" })).status, 201);

  const start = async (
    event: string,
    { number = 7, run, attempt = 1 }: { number?: number; run: number; attempt?: number },
    deploy = 'echo "$@" > deployed',
  ) => {
    assert.ok(workflow.on.pull_request.types.includes(event), event);
    const cwd = newFolder();
    t.after(() => rmSync(cwd, { recursive: true, force: true }));
    writeFileSync(join(cwd, "deploy-preview.sh"), `#!/bin/sh\n${deploy}\n`, { mode: 0o755 });
    const known: Readonly<Record<string, string>> = {
      "vars.HALYARD_URL": server.url,
      "secrets.HALYARD_OWNER_KEY": owner,
      "github.event.number": String(number),
      "github.run_id": String(run),
      "github.run_attempt": String(attempt),
    };
    const env = Object.fromEntries(
      Object.entries(preview.env).map(([name, value]) => [
        name,
        value.replace(/\$\{\{ (\S+) \}\}/g, (_, what: string) => known[what] ?? assert.fail(what)),
      ]),
    );
    for (const step of preview.steps) {
      if (step.run === undefined) continue;
      assert.ok(
        step.if === undefined || step.if === notClosed,
        "an if that this test does not know",
      );
      if (step.if !== undefined && event === "closed") continue;
      await promisify(execFile)("bash", ["-e", "-c", step.run], {
        cwd,
        env: { PATH: process.env.PATH, ...env },
      });
    }
    if (event === "closed") return server.api("");
    const [name, key = ""] = readFileSync(join(cwd, "deployed"), "utf8").trim().split(" ");
    assert.equal(name, env.NAME);
    return server.api(key);
  };
  const names = async () => {
    const { body } = await server.api(owner)("GET", "/environments");
    const all = body as { readonly name: string; readonly expiresAt: string | null }[];
    const previews = all.filter((each) => each.name.startsWith("pr-"));
    assert.ok(previews.every(({ expiresAt }) => expiresAt !== null));
    return previews.map(({ name }) => name);
  };
  return { start, names };
};

suite("the preview of a pull request", {
  skip: missing("curl", "--version") || missing("jq", "--version") || missing("bash", "--version"),
}, () => {
  test("a push and a re-run keep what was changed in it, and each gets a key that works", async (t) => {
    const { start, names } = await preparePreview(t);
    const opened = await start("opened", { run: 100 });
    assert.equal((await opened("PATCH", "/flags/a", { enabled: true })).status, 200);

    const pushed = await start("synchronize", { run: 101 });
    assert.equal(await isOn(pushed), true);
    assert.equal((await opened("GET", "/flags/a")).status, 401);
    assert.deepEqual(await names(), ["pr-7-101-1"]);

    const again = await start("synchronize", { run: 101, attempt: 2 });
    assert.equal(await isOn(again), true);
    assert.deepEqual(await names(), ["pr-7-101-2"]);
  });

  test("a failed deployment leaves the preview as it was, and its re-run works", async (t) => {
    const { start, names } = await preparePreview(t);
    const opened = await start("opened", { run: 100 });
    await opened("PATCH", "/flags/a", { enabled: true });
    await assert.rejects(start("synchronize", { run: 101 }, "exit 1"));
    assert.equal((await opened("GET", "/flags/a")).status, 200);
    const again = await start("synchronize", { run: 101, attempt: 2 });
    assert.equal(await isOn(again), true);
    assert.deepEqual(await names(), ["pr-7-101-2"]);
  });

  test("closing a pull request deletes its environments and no others; reopening starts over", async (t) => {
    const { start, names } = await preparePreview(t);
    const opened = await start("opened", { run: 100 });
    await opened("PATCH", "/flags/a", { enabled: true });
    await start("opened", { number: 77, run: 102 });
    await assert.rejects(start("synchronize", { run: 103 }, "exit 1"));
    await start("closed", { run: 104 });
    assert.equal((await opened("GET", "/flags/a")).status, 401);
    assert.deepEqual(await names(), ["pr-77-102-1"]);

    const reopened = await start("reopened", { run: 105 });
    assert.equal(await isOn(reopened), false);
  });
});
