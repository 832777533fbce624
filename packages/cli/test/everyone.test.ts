// A rule for everyone on the command line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();
const where = () => `in ${on.environment.name} at ${on.server.url}`;
const rulesOf = async (key: string) =>
  ((await on.environment.admin("GET", `/flags/${key}`)).body as { rules: unknown }).rules;

test("a rule for everyone splits a boolean flag, and is printed in the form that the command line accepts", async () => {
  const { halyard } = on;
  await on.environment.admin("POST", "/flags", { key: "half", type: "boolean" });
  await halyard.refuse(
    ["flags", "split", "half", "on=50", "off=50"],
    2,
    /split everyone with halyard flags rules add half --everyone --serve on=25,off=75/,
  );
  const add = ["flags", "rules", "add", "half", "--serve", "on=50"];
  await halyard.refuse(add, 2, /Pass --when or --everyone\./);
  await halyard.refuse(
    [...add, "--everyone", "--when", "plan in pro"],
    2,
    /'--everyone' cannot be used with option '--when <condition>'/,
  );
  assert.equal(
    await halyard.succeed(...add, "--everyone", "--otherwise", "off"),
    `half: rule rule-1 is number 1 of 1: everyone → on 50% ${where()} (version 2).\n`,
  );
  const rule = { id: "rule-1", when: { all: [] }, serve: [{ variant: "on", share: 50 }] };
  assert.deepEqual(await rulesOf("half"), [rule]);
  await halyard.succeed(...add, "--when", "not everyone");
  assert.deepEqual(await rulesOf("half"), [
    rule,
    { ...rule, id: "rule-2", when: { not: { all: [] } } },
  ]);
  await halyard.succeed("flags", "enable", "half");
  assert.match(
    await halyard.succeed("explain", "half", "user-1"),
    /true {5}rule rule-1 .*\n {2}true {7}everyone\n/,
  );
  await halyard.succeed("segments", "create", "all", "--when", "everyone");
  const { when } = (await on.environment.admin("GET", "/segments/all")).body as { when: unknown };
  assert.deepEqual(when, { all: [] });
  assert.match(await halyard.succeed("segments", "show", "all"), /when +everyone/);
});
