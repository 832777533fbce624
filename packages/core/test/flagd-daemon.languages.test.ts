// A flagd daemon (Go) returns the same results for our definitions as core. FLAGD_BIN is the path of the daemon.
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

/** Worlds of eight flags, each with sixteen contexts. */
const worlds = 150;
/** Percentage of conditions that flagd does not support. */
const rare = 4;

/** The number of compared results. */
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
    // The daemon listens before it has read the file.
    if (present !== undefined) {
      const isRead = async () => (await daemon.ask(present.key)).errorCode !== "FLAG_NOT_FOUND";
      await until("the definition", isRead);
    }
    for (const report of flags) {
      for (const context of contexts.filter((each) => isPromised(report, each))) {
        const expected = referenceAnswer(world.flags[report.key] as JsonObject, context, world);
        const found = await daemon.ask(report.key, context);
        const place = `${JSON.stringify(world.flags[report.key])} for ${JSON.stringify(context)}`;
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

test("a flagd daemon returns the same results for random flags and contexts", {
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
