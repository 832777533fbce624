// Rules, variants and prerequisites on the command line.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isInRollout } from "@halyard/core/bucket";
import { commandSuite } from "./support/command-suite.ts";
import { meddlingProxy } from "./support/meddling-proxy.ts";

const on = commandSuite();
const where = () => `in ${on.environment.name} at ${on.server.url}`;
const flag = async (key: string) =>
  (await on.environment.admin("GET", `/flags/${key}`)).body as Readonly<Record<string, unknown>>;
const post = async (path: string, body: object) => {
  const { status, text } = await on.environment.admin("POST", path, body);
  assert.equal(status, 201, text);
};

const plan = (...values: readonly string[]) => ({ attribute: "plan", op: "in", values });

suite("rules", () => {
  test("are added, listed, moved, turned off and on, and removed", async () => {
    const { halyard } = on;
    await post("/flags", { key: "rules", type: "boolean" });
    await halyard.refuse(
      ["flags", "rules", "add", "rules", "--when", "plan in pro", "--serve", "on"],
      2,
      /"rules" needs a default for users that match no rule: add --otherwise on/,
    );
    const added = await halyard.succeed(
      ...["flags", "rules", "add", "rules", "--id", "staff", "--when", "email endsWith @acme.com"],
      ...["--when", "not plan in free", "--serve", "on", "--otherwise", "off"],
    );
    assert.equal(
      added,
      `rules: rule staff is number 1 of 1: email endsWith @acme.com and not plan in free → on ${where()} (version 2).\n`,
    );
    const second = await halyard.read<{ rules: unknown; before: unknown; version: number }>(
      ...["flags", "rules", "add", "rules", "--when", "plan in pro", "--at", "1"],
      ...["--serve", "on=25,off=75", "--description", "A quarter"],
    );
    const staff = {
      id: "staff",
      when: {
        all: [{ attribute: "email", op: "endsWith", values: ["@acme.com"] }, { not: plan("free") }],
      },
      serve: "on",
    };
    const quarter = {
      id: "rule-1",
      description: "A quarter",
      when: plan("pro"),
      serve: [
        { variant: "on", share: 25 },
        { variant: "off", share: 75 },
      ],
    };
    assert.deepEqual(second.rules, [quarter, staff]);
    assert.deepEqual([second.before, second.version], [{ rules: [staff] }, 3]);
    assert.equal(
      await halyard.succeed("flags", "rules", "rules"),
      `#  RULE       WHEN                                           SERVES           DESCRIPTION
1  rule-1     plan in pro                                    on 25%, off 75%  A quarter
2  staff      email endsWith @acme.com and not plan in free  on
   otherwise                                                 off
`,
    );
    await halyard.succeed("flags", "rules", "move", "rules", "staff", "--at", "1");
    const off = await halyard.succeed("flags", "rules", "disable", "rules", "staff");
    assert.match(off, /rule staff is number 1 of 2: .* → on \(disabled\)/);
    assert.deepEqual((await flag("rules")).rules, [{ ...staff, disabled: true }, quarter]);
    await halyard.succeed("flags", "rules", "enable", "rules", "staff");
    assert.deepEqual((await flag("rules")).rules, [staff, quarter]);
    await halyard.refuse(
      ["flags", "rules", "remove", "rules", "gone"],
      3,
      /has no rule "gone"; it has staff, rule-1/,
    );
    const gone = await halyard.succeed("flags", "rules", "remove", "rules", "staff");
    assert.match(gone, /rule staff is removed, one rule is left/);
    // Previously unset fields are printed too, and rules one by one.
    const changes = (text: string) => text.split("\n").filter((line) => line.startsWith("      "));
    const history = changes(await halyard.succeed("flags", "history", "rules"));
    assert.deepEqual(
      [history[0], history.at(-1)],
      [
        "      rules        -staff",
        "      rules        +staff: email endsWith @acme.com and not plan in free → on",
      ],
    );
    assert.ok(history.includes("      otherwise    none → off"));
    assert.match(
      await halyard.succeed("flags", "update", "rules", "--set", "owner=team-shop"),
      /^rules: owner none → team-shop /,
    );
    await halyard.refuse(
      ["flags", "rules", "add", "rules", "--when", "plan is pro", "--serve", "on"],
      2,
      /"is" is not an operator: the attribute must be followed by one of/,
    );
  });
});

test("a rule that is added concurrently is kept", async (context) => {
  const { admin } = on.environment;
  await post("/flags", { key: "both", type: "rollout" });
  const theirs = { id: "theirs", when: plan("team"), serve: "on" };
  const url = await meddlingProxy(context, on.server.url, async (method, path) => {
    const isFirst = method === "PATCH" && (await flag("both")).rules === undefined;
    if (isFirst && path === "/flags/both") await admin("PATCH", path, { rules: [theirs] });
    return undefined;
  });
  const { rules } = await on.halyard
    .with({ HALYARD_URL: url })
    .read<{ rules: { id: string }[] }>(
      ...[
        "flags",
        "rules",
        "add",
        "both",
        "--id",
        "ours",
        "--when",
        "plan in pro",
        "--serve",
        "on",
      ],
    );
  assert.deepEqual(
    rules.map(({ id }) => id),
    ["theirs", "ours"],
  );
});

suite("variants", () => {
  test("are created, shown, split with the fewest users moving, and evaluated", async () => {
    const { halyard } = on;
    await halyard.refuse(
      ["flags", "create", "color", "--variant", "red=#f00"],
      2,
      /A variant flag needs --value-type and at least one --variant/,
    );
    await halyard.refuse(
      ["flags", "create", "n", "--value-type", "number", "--variant", "a=lots"],
      2,
      /The variant "a" must be a number, not lots/,
    );
    const created = await halyard.succeed(
      ...["flags", "create", "color", "--type", "variant", "--value-type", "string"],
      ...["--variant", "red=#f00", "--variant", "blue=#00f", "--split", "red=50,blue=50"],
      ...["--tag", "shop", "--tag", "ui", "--owner", "team-shop", "--enabled"],
    );
    assert.equal(created, `Created color ${where()}: on serving red 50%, blue 50%.\n`);
    const rule = {
      id: "staff",
      when: { attribute: "email", op: "exists", value: true },
      serve: "blue",
    };
    assert.deepEqual(await flag("color"), {
      key: "color",
      type: "variant",
      enabled: true,
      valueType: "string",
      variants: { red: "#f00", blue: "#00f" },
      off: "red",
      otherwise: [
        { variant: "red", share: 50 },
        { variant: "blue", share: 50 },
      ],
      description: null,
      tags: ["shop", "ui"],
      owner: "team-shop",
    });
    const split = await halyard.succeed("flags", "split", "color", "red=25", "blue=75");
    assert.equal(
      split,
      `color: red 50%, blue 50% → red 25%, blue 75% ${where()} (version 3). 25% of users move from red to blue.\n`,
    );
    await on.environment.admin("PATCH", "/flags/color", { rules: [rule] });
    const { moves } = await halyard.read<{ moves: unknown }>(
      ...["flags", "split", "color", "red=10,blue=90", "--rule", "staff"],
    );
    assert.deepEqual(moves, [{ from: "blue", to: "red", share: 10 }]);
    const shown = await halyard.succeed("flags", "get", "color");
    assert.match(
      shown,
      new RegExp(
        [
          "^color",
          "  type            variant \\(string\\)",
          "  state           on",
          "  reach           1 rule, otherwise red 25%, blue 75%",
          '  variants        red = "#f00"',
          '                  blue = "#00f"',
          "  off             red",
          "  rules           1. staff: email exists → blue 90%, red 10%",
          "  otherwise       red 25%, blue 75%",
          "  tags            shop, ui",
          "  owner           team-shop",
          "  description     none",
        ].join("\n"),
      ),
    );
    const list = await halyard.succeed("flags", "list", "--tag", "ui", "--owner", "team-shop");
    assert.equal(
      list,
      `KEY    STATE  REACH                                SETTINGS                        DESCRIPTION
color  on     1 rule, otherwise red 25%, blue 75%  tags shop, ui, owner team-shop
`,
    );
    const evaluated = await halyard.succeed(
      ...["evaluate", "color", "--targeting-key", "u1", "--context", '{"email":"a@b.c"}'],
    );
    assert.equal(evaluated, 'color is blue for u1: "#00f" (by the shares of the rule staff).\n');
    const answer = await halyard.read<{ rule: string }>(
      ...["evaluate", "color", "--targeting-key", "u1", "--context", '{"email":"a@b.c"}'],
    );
    assert.deepEqual(answer, {
      key: "color",
      value: "#00f",
      variant: "blue",
      reason: "SPLIT",
      rule: "staff",
    });
  });
});

test("a list shows who gets a boolean flag if no rule matches", async () => {
  const rules = [
    { id: "staff", when: { attribute: "plan", op: "exists", value: true }, serve: "on" },
  ];
  await post("/flags", { key: "reach-everyone", type: "boolean", rules, otherwise: "on" });
  await post("/flags", { key: "reach-none", type: "boolean", rules, otherwise: "off" });
  await post("/flags", { key: "reach-plain", type: "boolean" });
  const list = await on.halyard.succeed("flags", "list", "--search", "reach-");
  assert.match(list, /^reach-everyone +off +1 rule, otherwise everyone$/m);
  assert.match(list, /^reach-none +off +1 rule, otherwise no one$/m);
  assert.match(list, /^reach-plain +off +everyone$/m);
});

suite("prerequisites and bucketing", () => {
  test("are set and removed", async () => {
    const { halyard } = on;
    await post("/flags", { key: "base", type: "boolean" });
    await post("/flags", { key: "top", type: "rollout", percentage: 5 });
    assert.equal(
      await halyard.succeed("flags", "require", "top", "base=on"),
      `top now requires base = on ${where()} (version 2).\nUsers without these variants get off.\n`,
    );
    await halyard.refuse(["flags", "require", "top"], 2, /or pass --none/);
    await halyard.refuse(["flags", "require", "top", "gone=on"], 2, /must be a flag that exists/);
    await halyard.succeed("flags", "bucket", "top", "--by", "/company/id", "--seed", "family");
    assert.deepEqual(await flag("top"), {
      key: "top",
      type: "rollout",
      enabled: false,
      percentage: 5,
      description: null,
      requires: [{ flag: "base", variant: "on" }],
      bucketBy: "/company/id",
      bucketSeed: "family",
    });
    const people = Array.from({ length: 200 }, (_, index) => `company-${index}`);
    const sample = join(on.server.folder, "companies.txt");
    writeFileSync(sample, people.join("\n"));
    const counted = await halyard.read<{ in: number }>("rollout", "top", "--sample", sample);
    assert.equal(counted.in, people.filter((who) => isInRollout("family", who, 5_000)).length);
    await halyard.succeed("flags", "bucket", "top", "--by", "", "--seed", "");
    await halyard.succeed("flags", "require", "top", "--none");
    assert.deepEqual(Object.keys(await flag("top")).slice(4), ["description"]);
  });
});
