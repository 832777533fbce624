// halyard flags errors: which evaluations fail, and in which clients.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandSuite } from "./support/command-suite.ts";

const suite = commandSuite();

test("failed evaluations are listed with their clients and the author of the deletion", async () => {
  const { environment, halyard } = suite;
  const empty = await halyard.run("flags", "errors", "--days", "1");
  assert.equal(empty.code, 0);
  assert.equal(empty.stderr, "No evaluation failed in the last day.\n");
  await halyard.succeed("flags", "create", "size");
  await halyard.succeed("flags", "create", "old-checkout");
  await halyard.succeed("flags", "delete", "old-checkout", "--yes");
  const report = async (name: string, count: number) => {
    const response = await environment.server("POST", "/usage", {
      evaluations: [
        { key: "old-checkout", on: 0, off: 0, errors: { FLAG_NOT_FOUND: count } },
        { key: "typo", on: 0, off: 0, errors: { FLAG_NOT_FOUND: count } },
        { key: "size", on: 0, off: 0, errors: { TYPE_MISMATCH: count } },
      ],
      client: { id: "0123456789", name, sdk: "js/0.1.0", revision: "0-0" },
    });
    assert.equal(response.status, 204);
  };
  await report("checkout-api", 120);
  await report("shop \u202e2", 3);
  const table = await halyard.succeed("flags", "errors");
  const ago = "less than a minute ago";
  const deleted = `deleted ${ago} by admin`;
  const lines = table.split("\n").map((line) => line.replaceAll(/ {2,}/g, "|").trimEnd());
  assert.deepEqual(lines, [
    "KEY|PROBLEM|CLIENT|EVALUATIONS|LAST SEEN",
    `old-checkout|${deleted}|checkout-api|120|${ago}`,
    `old-checkout|${deleted}|shop|2|3|${ago}`,
    `size|different type|checkout-api|120|${ago}`,
    `size|different type|shop|2|3|${ago}`,
    `typo|no such flag|checkout-api|120|${ago}`,
    `typo|no such flag|shop|2|3|${ago}`,
    "",
  ]);
  const json = JSON.parse(await halyard.succeed("flags", "errors", "--days=30", "--json"));
  assert.deepEqual(json, (await environment.server("GET", "/usage/errors?hours=720")).body);
  const wrong = await halyard.run("flags", "errors", "--days", "31");
  assert.equal(wrong.code, 2);
});
