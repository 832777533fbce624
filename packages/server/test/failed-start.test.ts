// What a start opens is closed again: by a start that fails half-way, and by a close() of which a step fails.
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, type TestContext, test } from "node:test";
import { parseConfig, startServer } from "@halyard/server";
import { createLog } from "../src/process/log.ts";
import { composeInstance } from "../src/server.ts";
import { newFolder } from "./support/server.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const newConfig = () => {
  const folder = newFolder();
  folders.push(folder);
  const config = parseConfig({ HALYARD_DATA: folder, HALYARD_LOG_LEVEL: "silent", PORT: "0" });
  return { folder, config };
};

/** Counts the timers that are started and not cleared. */
const watchTimers = (t: TestContext) => {
  const started = t.mock.method(globalThis, "setInterval");
  const cleared = t.mock.method(globalThis, "clearInterval");
  return () => {
    const done = new Set(cleared.mock.calls.map(({ arguments: [timer] }) => timer));
    return {
      started: started.mock.callCount(),
      running: started.mock.calls.filter(({ result }) => !done.has(result)).length,
    };
  };
};

/** SQLite removes the log with the last connection. */
const isOpen = (folder: string): boolean => existsSync(join(folder, "halyard.db-wal"));

test("a start fails: on a store that cannot be read", async (t) => {
  const { folder, config } = newConfig();
  await (await startServer(config)).close();
  const database = new DatabaseSync(join(folder, "halyard.db"));
  database.exec("pragma foreign_keys = off; drop table flags");
  database.close();
  const timers = watchTimers(t);
  await assert.rejects(startServer(config), /no such table: flags/);
  const { started, running } = timers();
  assert.ok(started > 0);
  assert.deepEqual([running, isOpen(folder)], [0, false]);
});

test("a start fails: after everything in memory was loaded", async (t) => {
  const { folder, config } = newConfig();
  const timers = watchTimers(t);
  // Where the dashboard's folder should be is a file.
  const overrides = { dashboardFolder: import.meta.filename };
  await assert.rejects(composeInstance(config, createLog(config), overrides), /ENOTDIR/);
  const { started, running } = timers();
  assert.ok(started >= 4, String(started));
  assert.deepEqual([running, isOpen(folder)], [0, false]);
});

test("close() goes on when a step fails, and says so at the end", async (t) => {
  const { folder, config } = newConfig();
  const timers = watchTimers(t);
  const instance = await composeInstance(config, createLog(config));
  instance.app.addHook("onClose", () => Promise.reject(new Error("this step fails")));
  await instance.app.ready();
  assert.equal(isOpen(folder), true);
  await assert.rejects(instance.close(), /this step fails/);
  assert.deepEqual([timers().running, isOpen(folder)], [0, false]);
});
