// halyard flagd check.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();
const post = async (path: string, body: object) => {
  const { status, text } = await on.environment.admin("POST", path, body);
  assert.equal(status, 201, text);
};

const ruleOf = (when: object) => ({
  type: "boolean",
  otherwise: "off",
  rules: [{ when, serve: "on" }],
});

interface Checked {
  readonly environment: string;
  readonly counts: object;
  readonly flags: readonly { readonly key: string; readonly reasons: readonly string[] }[];
}

suite("flagd check", () => {
  test("shows the class of each flag, and fails only with --strict", async () => {
    const { halyard, environment } = on;
    await post("/segments", { key: "beta", include: ["ann"] });
    await post("/flags", { key: "banner", ...ruleOf({ segment: ["beta"] }) });
    await post("/flags", { key: "checkout", type: "rollout", percentage: 25 });
    await halyard.succeed("flags", "enable", "checkout");
    await halyard.succeed("flags", "enable", "banner");
    const strict = await halyard.succeed("flagd", "check", "--strict");
    assert.match(
      strict,
      /^exact +banner\nascii +checkout\n +A split needs bucketing values in ASCII/,
    );
    const seen = { attribute: "seen", op: "before", value: "2026-01-01T00:00:00Z" };
    await post("/flags", { key: "early", ...ruleOf(seen) });
    await halyard.succeed("flags", "enable", "early");
    const text = await halyard.succeed("flagd", "check");
    assert.match(
      text,
      /left-out {2}early\n +before compares moments, which flagd doesn't support\.\n/,
    );
    assert.ok(
      text.endsWith(`3 flags of ${environment.name}: 1 exact, 1 ascii, 1 left-out.\n`),
      text,
    );
    const { counts, flags } = await halyard.read<Checked>("flagd", "check");
    assert.deepEqual(counts, { exact: 1, ascii: 1, "left-out": 1 });
    assert.deepEqual(flags[2], {
      key: "early",
      class: "left-out",
      reasons: ["before compares moments, which flagd doesn't support."],
    });
    const failed = await halyard.run("flagd", "check", "--strict");
    assert.equal(failed.code, 1);
  });
});
