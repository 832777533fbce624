// What keeps process.nextTick fast: an entry of its queue, built as those that come later, also after a garbage collection.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** The engine tells how an object is built only to those who ask in its own words, which only a process of its own may. */
const script = (module: string) => `
  import { executionAsyncResource } from "node:async_hooks";
  import { keepTicksFast } from ${JSON.stringify(module)};
  const entry = () => new Promise((resolve) => {
    process.nextTick(() => resolve(executionAsyncResource()), 1);
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const kept = await keepTicksFast();
  for (let round = 0; round < 3; round += 1) {
    await turn();
    globalThis.gc();
  }
  const later = await entry();
  console.log(JSON.stringify({
    isEntry: "callback" in kept && "args" in kept,
    isAnother: kept !== later,
    isBuiltAlike: %HaveSameMap(kept, later),
    isKept: kept === (await keepTicksFast()),
  }));
`;

test("an entry of the queue is kept, and later ones are built like it", async () => {
  const module = new URL("../src/process/fast-ticks.ts", import.meta.url).href;
  const flags = ["--expose-gc", "--allow-natives-syntax", "--input-type=module", "--eval"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script(module)]);
  assert.deepEqual(JSON.parse(stdout), {
    isEntry: true,
    isAnother: true,
    isBuiltAlike: true,
    isKept: true,
  });
});
