// The steps of deploy/Dockerfile without an engine: the package is made from what the Dockerfile copies, and runs as it says. The
// dependencies are those of the repository.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../packages/server/test/support/until.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");

test("what the Dockerfile copies is enough to make the package, and its command serves", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-image-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const inFolder = (text: string) => text.replaceAll(/ \/(?=source|packages|app)/g, ` ${folder}/`);
  const source = join(folder, "source");
  const ignored = new Set(["node_modules", "test", "dist"]);
  const stages = dockerfile.split(/^FROM /m);
  for (const [, names = "", target = ""] of stages
    .slice(0, -1)
    .join("\n")
    .matchAll(/^COPY (?!--)(.+) (\S+)$/gm)) {
    for (const name of names.split(" ")) {
      const place = target === "./" ? join(source, name) : join(source, target);
      cpSync(join(root, name), place, {
        recursive: true,
        filter: (path) => !ignored.has(basename(path)),
      });
    }
  }
  const modules = join(source, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@halyard") symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  symlinkSync(join(source, "packages"), join(modules, "@halyard"));
  const [, pack = ""] = /^RUN (node scripts\/pack\.ts .+)$/m.exec(dockerfile) ?? [];
  assert.notEqual(pack, "");
  execFileSync("sh", ["-c", inFolder(pack)], { cwd: source, stdio: "pipe" });

  const [, entry = "[]"] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
  const [, command = "[]"] = /^CMD (.+)$/m.exec(dockerfile) ?? [];
  const words = [...(JSON.parse(entry) as string[]), ...(JSON.parse(command) as string[])];
  assert.equal(words.shift(), "node");
  mkdirSync(join(folder, "data"));
  const child = spawn(
    process.execPath,
    inFolder(` ${words.join(" ")}`)
      .trim()
      .split(" "),
    {
      cwd: join(folder, "app"),
      env: { NODE_ENV: "production", PORT: "0", HALYARD_DATA: join(folder, "data") },
    },
  );
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, "exit");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const url = await until("the server is up", () => {
    assert.equal(child.exitCode, null, output);
    return /API +(http:\S+)\/api/.exec(output)?.[1];
  });
  for (const path of ["/healthz", "/", "/docs"]) {
    assert.equal((await fetch(url + path)).status, 200, path);
  }
});
