// The registry of flag types: new flags, patches, differences, rows, levels.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  changeableMembers,
  difference,
  formatMember,
  isSameFlag,
  patchBetween,
} from "@halyard/core/difference";
import { evaluate } from "@halyard/core/evaluate";
import { applyPatch, newFlag } from "@halyard/core/flags/change";
import {
  type Flag,
  flagTypeNames,
  isFlag,
  levelOf,
  membersOf,
  type PatchFlag,
  prepare,
  reachOf,
} from "@halyard/core/flags/registry";
import { fromStored, toStored } from "@halyard/core/flags/stored";
import fc from "fast-check";

const plain = { noNullPrototype: true } as const;
const flags: fc.Arbitrary<Flag> = fc.oneof(
  fc.record(
    {
      key: fc.constant("a"),
      type: fc.constant("boolean" as const),
      enabled: fc.boolean(),
      description: fc.option(fc.string()),
    },
    plain,
  ),
  fc.record(
    {
      key: fc.constant("a"),
      type: fc.constant("rollout" as const),
      enabled: fc.boolean(),
      percentage: fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1_000),
      description: fc.option(fc.string()),
    },
    plain,
  ),
);
const changed = (result: ReturnType<typeof newFlag>): Flag => {
  assert.ok(result.ok);
  return result.flag;
};
const wrong = (result: ReturnType<typeof newFlag>): string => {
  assert.ok(!result.ok);
  return result.errors.map(({ place, message }) => `${place} ${message}`).join("; ");
};
const rollout: Flag = {
  key: "a",
  type: "rollout",
  enabled: true,
  percentage: 25,
  description: null,
};

suite("every flag", () => {
  test("of every type survives a database row, with its fields in order", () => {
    fc.assert(
      fc.property(flags, (flag) => {
        const back = fromStored(flag.key, toStored(flag));
        assert.deepEqual(back, flag);
        assert.deepEqual(Object.keys(back), Object.keys(flag));
      }),
    );
  });

  test("becomes another flag of its type by the patch between them", () => {
    fc.assert(
      fc.property(flags, flags, (before, after) => {
        if (before.type !== after.type) return;
        const patch = patchBetween(before, after);
        const result = changed(applyPatch(before, patch));
        assert.deepEqual(result, after);
        assert.deepEqual(Object.keys(result), Object.keys(after));
        assert.ok(isSameFlag(result, after));
        assert.equal(isSameFlag(before, after), Object.keys(patch).length === 0);
        assert.deepEqual(
          difference(before, after).map(({ member }) => member),
          Object.keys(patch),
        );
      }),
    );
  });

  test("that is new is off, with the initial value of each field", () => {
    const required = { valueType: "number", variants: { a: 1 }, off: "a", otherwise: "a" } as const;
    for (const type of flagTypeNames) {
      const flag = changed(newFlag({ key: "a", type, ...(type === "variant" && required) }));
      assert.ok(isFlag(flag), type);
      assert.equal(flag.enabled, false);
      assert.equal(flag.description, null);
      const optional = membersOf(type).filter(([, { isOptional }]) => isOptional === true);
      assert.deepEqual(
        changeableMembers(type).filter((name) => !optional.some(([each]) => each === name)),
        Object.keys(flag).filter((name) => name !== "key" && name !== "type"),
      );
    }
  });
});

suite("invalid fields", () => {
  test("of another type, or with an invalid value", () => {
    assert.equal(
      wrong(newFlag({ key: "a", type: "boolean", percentage: 5 })),
      "percentage applies to flags of type rollout only; a boolean flag is either on or off for everyone",
    );
    for (const percentage of [-0.001, 100.001, 0.0005, Number.NaN, "5" as unknown as number]) {
      assert.equal(
        wrong(applyPatch(rollout, { percentage })),
        "percentage must be a number from 0 to 100 with at most three decimals",
      );
    }
  });

  test("a negative zero is zero", () => {
    const flag = changed(applyPatch(rollout, { percentage: -0 }));
    assert.ok(Object.is((flag as { percentage: number }).percentage, 0));
  });

  test("a percentage that cannot be stored is never rounded silently", () => {
    assert.throws(() => toStored({ ...rollout, percentage: 0.0005 }), /cannot be stored/);
  });
});

suite("unknown to this version", () => {
  const newer = { ...rollout, schedule: [{ id: "staff" }], limits: ["x"] } as Flag;
  const unknown = { ...rollout, type: "layer", parts: { a: 1 } } as unknown as Flag;

  test("fields survive a patch and a row", () => {
    for (const flag of [newer, unknown]) {
      const patched = changed(applyPatch(flag, { enabled: false }));
      assert.deepEqual(patched, { ...flag, enabled: false });
      assert.deepEqual(fromStored(patched.key, toStored(patched)), patched);
    }
  });

  test("a field called __proto__ remains a field, and adds no others to the flag", () => {
    const definition = '{"__proto__":{"rules":[]},"other":1}';
    const flag = fromStored("new-checkout", { ...toStored(rollout), definition });
    assert.equal(JSON.stringify(toStored(flag).definition), JSON.stringify(definition));
    assert.equal(flag.rules, undefined);
  });

  test("a type or level is not evaluated; a field at a known level is ignored", () => {
    const isError = (flag: Flag, level?: number) =>
      "errorCode" in evaluate(prepare(flag, level), { targetingKey: "u" });
    assert.ok(isError(unknown));
    assert.ok(isError(newer, 3));
    assert.ok(isError({ ...newer, enabled: false }, 3));
    assert.ok(!isError(newer, 1));
    assert.ok(!isError(newer));
    assert.ok(!isFlag(unknown));
    assert.ok(isFlag(newer));
  });

  test("a level is kept, and a known one is computed", () => {
    assert.equal(levelOf(newer, 3), 3);
    assert.equal(levelOf(rollout, 1), undefined);
    assert.equal(levelOf(rollout), undefined);
  });

  test("fields of an unknown type are rejected in a patch", () => {
    const patch = { percentage: 5 } as PatchFlag;
    assert.match(wrong(applyPatch(unknown, patch)), /this version does not support the type/);
  });
});

test("display values", () => {
  assert.equal(formatMember("rollout", "percentage", 12.5), "12.5%");
  assert.equal(formatMember("rollout", "enabled", true), "on");
  assert.equal(formatMember("boolean", "enabled", false), "off");
  assert.equal(formatMember("boolean", "description", null), "none");
  assert.equal(formatMember("boolean", "description", 'a "b"'), '"a \\"b\\""');
});

test("the reach of a flag in 100,000 users", () => {
  assert.equal(reachOf(rollout), 25_000);
  assert.equal(reachOf({ ...rollout, enabled: false }), 0);
  assert.equal(reachOf({ key: "a", type: "boolean", enabled: true, description: null }), 100_000);
});

test("a description that exceeds the current limit is kept, even if it is sent again", () => {
  const description = "\u0001".repeat(2_000);
  const flag: Flag = { key: "a", type: "boolean", enabled: false, description };
  const kept = { ok: true, flag: { ...flag, enabled: true } };
  assert.deepEqual(applyPatch(flag, { enabled: true }), kept);
  assert.deepEqual(applyPatch(flag, { enabled: true, description }), kept);
  assert.equal(applyPatch({ ...flag, description: "other" }, { description }).ok, false);
});
