// The workflow of docs/environments.md, step by step against a server: a preview comes and goes.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { missing } from "../packages/sdk/test/support/guide.ts";
import { newFolder, startTestServer } from "../packages/server/test/support/server.ts";
import { blocksOf } from "./support/pages.ts";

interface Workflow {
  readonly jobs: { readonly preview: { readonly steps: readonly { readonly run?: string }[] } };
}

test("a pull request gets an environment, and its end deletes it", {
  skip: missing("curl", "--version") || missing("jq", "--version") || missing("bash", "--version"),
}, async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { newKey } = await server.environment();
  const owner = await newKey("owner");
  const production = server.firstKeys.find(({ environment }) => environment === "production");
  const flag = { key: "a", type: "boolean" };
  await server.api(production?.text ?? "")("POST", "/flags", flag);

  const block = blocksOf("docs/environments.md").find(({ language }) => language === "yaml");
  const { jobs } = parse(block?.text ?? "") as Workflow;
  const [open = "", close = ""] = jobs.preview.steps.flatMap(({ run }) => run ?? []);
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "deploy-preview.sh"), '#!/bin/sh\necho "$@" > deployed\n', {
    mode: 0o755,
  });
  const run = (script: string) =>
    promisify(execFile)("bash", ["-e", "-c", script], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        API: `${server.url}/api/v1/environments`,
        KEY: owner,
        NAME: "pr-7",
      },
    });
  await run(open);
  const [name, key = ""] = readFileSync(join(folder, "deployed"), "utf8").trim().split(" ");
  assert.equal(name, "pr-7");
  assert.equal((await server.api(key)("GET", "/flags/a")).status, 200);
  await run(close);
  assert.equal((await server.api(key)("GET", "/flags/a")).status, 401);
});
