// The receivers of the guide in Python, PHP and Go.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, type TestContext, test } from "node:test";
import { block, folderOf, missing, startReceiver } from "./support/guide.ts";
import { check, refusesToStart, secret } from "./support/receivers.ts";

suite("receivers of the guide", () => {
  const run = async (context: TestContext, title: string, command: string, ...args: string[]) => {
    const folder = folderOf(context, { [title]: block(title) });
    await check(await startReceiver(context, folder, secret, command, ...args));
  };

  test("Python", { skip: missing("python3", "--version") }, (context) =>
    run(context, "receiver.py", "python3", "receiver.py"),
  );

  test("PHP", { skip: missing("php", "--version") }, (context) =>
    run(context, "receiver.php", "php", "-S", "127.0.0.1:{port}", "receiver.php"),
  );

  test("Go", { skip: missing("go", "version") }, async (context) => {
    const folder = folderOf(context, { "receiver.go": block("receiver.go") });
    // Built first: stopping `go run` would leave the program that it started.
    const build = ["build", "-o", "receiver", "receiver.go"];
    const built = spawnSync("go", build, { cwd: folder, timeout: 600_000 });
    assert.equal(built.status, 0, built.stderr.toString());
    await check(await startReceiver(context, folder, secret, `${folder}/receiver`));
  });

  test(
    "Python does not start without a secret",
    {
      skip: missing("python3", "--version"),
    },
    (context) => refusesToStart(context, "receiver.py", "python3"),
  );
});
