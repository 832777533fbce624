// What is kept of the store is given only after a look that succeeded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Reader } from "../src/ports.ts";
import { rememberWhileUnchanged } from "../src/store/sqlite/read-cache.ts";

const reader = (committed: { revision: number }): Reader =>
  ({ revision: async () => committed.revision }) as Partial<Reader> as Reader;

test("known at once while nothing has changed, read again when something has", async () => {
  const committed = { revision: 1 };
  const kept = rememberWhileUnchanged(reader(committed), () => committed.revision);
  assert.equal(await kept.revision(1), 1);
  assert.equal(kept.revision(1), 1, "without asking");
  committed.revision = 2;
  await nextTurn();
  assert.equal(await kept.revision(1), 2);
});

test("a look that fails does not do for those who ask after it", async () => {
  const committed = { revision: 1 };
  let fails = false;
  const kept = rememberWhileUnchanged(reader(committed), () => {
    if (!fails) return committed.revision;
    fails = false;
    throw new Error("not to be read just now");
  });
  assert.equal(await kept.revision(1), 1);
  await nextTurn();
  committed.revision = 2;
  fails = true;
  assert.throws(() => kept.revision(1), /not to be read/);
  assert.equal(await kept.revision(1), 2, "asked in the same breath");
});
