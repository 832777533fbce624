// The lines for OpenFeature that the dashboard shows, with packages of registries.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { snippetsFor } from "../packages/dashboard/src/flags/snippets.ts";
import { createManagement } from "../packages/sdk/src/management.ts";
import { folderOf } from "../packages/sdk/test/support/guide.ts";
import { startTestServer } from "../packages/server/test/support/server.ts";

const run = promisify(execFile);

test("the lines for OpenFeature are installed and run", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { keys } = await server.environment();
  const { flags } = createManagement({ url: server.url, key: keys.admin });
  await flags.create({ key: "shown", type: "boolean" });
  assert.ok((await flags.update("shown", { enabled: true })).ok);
  const shown = { key: "shown", usesTargetingKey: true, url: server.url };
  const snippet = snippetsFor(shown).find(({ name }) => name === "Node, OpenFeature");
  assert.ok(snippet?.install);
  const code = snippet.code.replace("// on", 'console.log("it is on");');
  const cwd = folderOf(t, {
    "package.json": '{"private":true,"type":"module"}',
    "shown.js": `const user = { id: "user-7" };\n${code}\nprocess.exit();`,
  });
  try {
    await run("sh", ["-c", snippet.install], { cwd });
  } catch (error) {
    t.skip(`its packages cannot be installed here: ${(error as Error).message}`);
    return;
  }
  const env = { ...process.env, HALYARD_API_KEY: keys.server };
  assert.equal((await run(process.execPath, ["shown.js"], { cwd, env })).stdout, "it is on\n");
});
