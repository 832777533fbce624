// A flagd daemon (Go) evaluates our definition: it gives what core gives. FLAGD_BIN names the daemon.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, World } from "../../../conformance/reference/conditions.ts";
import { referenceAnswer } from "../../../conformance/reference/evaluate.ts";
import { noDaemon, startFlagd } from "../../server/test/support/flagd-daemon.ts";
import { until } from "../../server/test/support/until.ts";
import { compileFlagd, type FlagdContent } from "../src/flagd/index.ts";
import { promises } from "./support/flagd-engine.ts";
import { randomWorld } from "./support/random-world.ts";

/** Of eight flags, each with sixteen contexts. */
const worlds = 150;
/** How many percent of the conditions are of a kind that flagd does not know. */
const rare = 4;

/** How many were compared. */
const compareWorld = async (
  folder: string,
  world: World,
  contexts: readonly JsonObject[],
): Promise<number> => {
  const content = {
    flags: Object.values(world.flags),
    segments: Object.values(world.segments),
  } as unknown as FlagdContent;
  const { flags, text } = compileFlagd(content, "production");
  const file = join(folder, "flags.json");
  writeFileSync(file, text);
  const isPromised = promises(world);
  const daemon = await startFlagd("--uri", `file:${file}`);
  let compared = 0;
  try {
    const present = flags.find((each) => each.class !== "left-out");
    // It listens before it has read the file.
    if (present !== undefined) {
      const isRead = async () => (await daemon.ask(present.key)).errorCode !== "FLAG_NOT_FOUND";
      await until("the definition", isRead);
    }
    for (const told of flags) {
      for (const context of contexts.filter((each) => isPromised(told, each))) {
        const expected = referenceAnswer(world.flags[told.key] as JsonObject, context, world);
        const found = await daemon.ask(told.key, context);
        const place = `${JSON.stringify(world.flags[told.key])} for ${JSON.stringify(context)}`;
        if ("errorCode" in expected) assert.ok(found.errorCode !== undefined, place);
        else {
          const { value, variant } = found;
          assert.deepEqual([value, variant], [expected.value, expected.variant], place);
        }
        compared += 1;
      }
    }
  } finally {
    await daemon.stop();
  }
  return compared;
};

test("a flagd daemon gives the same for random flags and contexts", {
  skip: noDaemon,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-test-flagd-"));
  t.after(() => rmSync(folder, { recursive: true }));
  let compared = 0;
  for (let seed = 1; seed <= worlds; seed += 1) {
    const { world, contexts } = randomWorld(seed, { rare });
    compared += await compareWorld(folder, world, contexts);
  }
  t.diagnostic(`${compared} evaluations of the daemon are the same as ours`);
  assert.ok(compared > worlds * 8, `${compared} compared`);
});
