// The command as `npm start` and `npx halyard` run it from the repository, on the project's Node version and an older one.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { spawnHalyard } from "../../server/test/support/halyard-process.ts";
import { newFolder } from "../../server/test/support/server.ts";

const bin = fileURLToPath(new URL("../bin/halyard.mjs", import.meta.url));

const old = ["/usr/bin/node", "/usr/local/bin/node"].find(
  (path) =>
    existsSync(path) &&
    Number(/\d+/.exec(execFileSync(path, ["--version"], { encoding: "utf8" }))) < 26,
);

const nodes = [
  ["this Node", process.execPath],
  ["an older Node, which finds the project's", old],
] as const;

for (const [name, node] of nodes) {
  const skip = node === undefined && "this machine has no older Node";
  suite(`the command of the repository on ${name}`, { skip }, () => {
    const run = (args: string[]) => spawnHalyard(args, {}, [node ?? "", bin]).ended;

    test("prints its version, and rejects unknown options", async () => {
      const { code, stdout, stderr } = await run(["--version"]);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
      assert.equal((await run(["frobnicate"])).code, 2);
    });

    test("serves with two workers", async () => {
      await using resources = new AsyncDisposableStack();
      const folder = newFolder();
      resources.defer(() => rmSync(folder, { recursive: true }));
      const settings = { PORT: "0", HALYARD_DATA: folder, HALYARD_WORKERS: "2" };
      const server = spawnHalyard(["serve"], settings, [node ?? "", bin]);
      await server.printed(/http:\/\/\S+/);
      server.kill("SIGTERM");
      assert.equal((await server.ended).code, 0);
    });
  });
}
