// What a start loads: each of these takes time and memory of every server, and is needed by none or few of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { newFolder } from "./support/server.ts";

const program = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  const { parseConfig, startServer } = await import("@halyard/server");
  const config = parseConfig({ PORT: "0", HALYARD_LOG_LEVEL: "silent", HALYARD_DATA: process.argv[1] });
  const server = await startServer(config, {});
  await server.close();
  console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

test("a server on SQLite loads neither TypeBox nor PostgreSQL nor Node's fetch", (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true }));
  const args = ["--input-type=module", "-e", program, folder];
  const printed = execFileSync(process.execPath, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  const loaded = JSON.parse(printed) as string[];
  assert.ok(loaded.some((name) => name.includes("/kysely/")));
  for (const name of ["/node_modules/typebox/", "/node_modules/pg/", "internal/deps/undici"]) {
    assert.deepEqual(
      loaded.filter((each) => each.includes(name)),
      [],
    );
  }
});
