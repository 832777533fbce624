// deploy/halyard.service: systemd understands it, and the server runs under its restriction of sockets.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { missing } from "../packages/sdk/test/support/guide.ts";
import { until } from "../packages/server/test/support/until.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const unit = readFileSync(join(root, "deploy/halyard.service"), "utf8");

test("the server runs with HOST=0.0.0.0 under the unit's restriction of sockets", {
  skip: missing("python3", "--version") || (process.platform !== "linux" && "seccomp is Linux's"),
}, async (t) => {
  const [, families = ""] = /^RestrictAddressFamilies=(.+)$/m.exec(unit) ?? [];
  const data = mkdtempSync(join(tmpdir(), "halyard-unit-"));
  const restrict = [join(root, "test/fixtures/restrict-address-families.py"), families];
  const serve = [process.execPath, join(root, "packages/cli/bin/halyard.mjs"), "serve"];
  const child = spawn("python3", [...restrict, ...serve], {
    env: { ...process.env, HOST: "0.0.0.0", PORT: "0", HALYARD_DATA: data },
  });
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, "exit");
    rmSync(data, { recursive: true, force: true });
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const port = await until("the server is up", () => {
    assert.equal(child.exitCode, null, output);
    return /http:\/\/0\.0\.0\.0:(\d+)\/api/.exec(output)?.[1];
  });
  assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  t.diagnostic(
    "not applied here: SystemCallFilter, whose groups only systemd knows, and the protections of files and namespaces, which systemd sets up before it starts the program",
  );
});

test("systemd understands the unit", {
  skip: spawnSync("systemd-analyze", ["--version"]).status !== 0 && "systemd-analyze is not here",
}, () => {
  const { stderr } = spawnSync(
    "systemd-analyze",
    ["verify", "--man=no", join(root, "deploy/halyard.service")],
    { encoding: "utf8" },
  );
  const complaints = stderr
    .split("\n")
    // The program is not installed on the machine of the test.
    .filter((line) => line.includes("halyard.service") && !line.includes("is not executable"));
  assert.deepEqual(complaints, []);
});
