// What keeps process.nextTick fast: an entry of its queue, built as those that come later, also after a garbage collection.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { newFolder } from "./support/server.ts";

/** Only a process of its own may collect garbage, and ask the engine in its own words how an object is built. */
const tell = async (script: string): Promise<unknown> => {
  const flags = ["--expose-gc", "--allow-natives-syntax", "--input-type=module", "--eval"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
  return JSON.parse(stdout);
};
const moduleAt = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
/** Collects until it is done, or until nothing more is to be hoped for: what is just under way still holds its entries. */
const collect = `
  const collect = async (isDone = () => false) => {
    for (let round = 0; round < 100 && !(round >= 5 && isDone()); round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      globalThis.gc();
    }
  };
`;

test("an entry of the queue is kept, and later ones are built like it", async () => {
  const told = await tell(`
    import { executionAsyncResource } from "node:async_hooks";
    import { keepNextTickFast } from ${moduleAt("../src/process/next-tick-workaround.ts")};
    ${collect}
    const kept = await keepNextTickFast();
    await collect(() => true);
    const later = await new Promise((resolve) => {
      process.nextTick(() => resolve(executionAsyncResource()), 1);
    });
    console.log(JSON.stringify({
      isEntry: "callback" in kept && "args" in kept,
      isAnother: kept !== later,
      isBuiltAlike: %HaveSameMap(kept, later),
      isKept: kept === (await keepNextTickFast()),
    }));
  `);
  const expected = { isEntry: true, isAnother: true, isBuiltAlike: true, isKept: true };
  assert.deepEqual(told, expected);
});

test("a server that has started keeps exactly one", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const told = await tell(`
    import { createHook } from "node:async_hooks";
    import { parseConfig, startServer } from ${moduleAt("../src/index.ts")};
    ${collect}
    const entries = [];
    const hook = createHook({
      init: (_id, type, _by, resource) => {
        if (type === "TickObject") entries.push(new WeakRef(resource));
      },
    });
    const settings = { PORT: "0", HALYARD_LOG_LEVEL: "silent", HALYARD_DATA: ${JSON.stringify(folder)} };
    hook.enable();
    const server = await startServer(parseConfig(settings));
    hook.disable();
    const kept = () => entries.filter((entry) => entry.deref() !== undefined).length;
    await collect(() => kept() <= 1);
    console.log(JSON.stringify({ hadSome: entries.length > 1, kept: kept() }));
    await server.close();
  `);
  assert.deepEqual(told, { hadSome: true, kept: 1 });
});
