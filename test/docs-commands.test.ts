// The commands of the documents run, in their order, and print what stands there.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { serveOn } from "../packages/server/test/support/halyard-process.ts";
import { newFolder } from "../packages/server/test/support/server.ts";
import { assertPrinted } from "./support/compare-output.ts";
import { begins, longPlans, plans } from "./support/documented-commands.ts";
import { notRun } from "./support/not-run.ts";
import { blockTitled, pages } from "./support/pages.ts";
import { commandsOf } from "./support/shell-session.ts";
import { testCommands } from "./support/test-commands.ts";

test("every block of commands is run, or it is said why not", () => {
  const skipped: string[] = [];
  for (const page of pages) {
    for (const [{ text }] of commandsOf(page)) {
      const start = begins(page, text);
      if (start !== undefined) skipped.push(`${page}: ${start}`);
      else
        assert.ok(
          plans[page] ?? longPlans[page],
          `${page} has commands that nothing runs: ${text}`,
        );
    }
  }
  const listed = Object.entries(notRun).flatMap(([page, starts]) =>
    Object.keys(starts).map((start) => `${page}: ${start}`),
  );
  assert.deepEqual([...new Set(skipped)].toSorted(), listed.toSorted());
});

testCommands(plans);

test("a first start prints what docs/get-started.md shows", async (context) => {
  const folder = newFolder();
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const first = await serveOn({ HALYARD_DATA: folder, HALYARD_LOG_LEVEL: "silent" });
  context.after(() => first.kill("SIGKILL"));
  const [printed] = await first.printed(/Halyard is up\.[\s\S]*"boolean"\}'\n/);
  first.kill("SIGTERM");
  await first.ended;
  assertPrinted(printed.replaceAll(first.url, "http://127.0.0.1:4400"), {
    shown: blockTitled("docs/get-started.md", "first start"),
    isJson: false,
    what: "halyard serve",
  });
});
