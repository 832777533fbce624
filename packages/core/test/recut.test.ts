// recut: produces the wanted shares, and moves the fewest users.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { recut, type Share } from "../src/targeting/split.ts";

/** The variant of every thousandth of a percent; undefined outside the split. */
const people = (shares: readonly Share[]): (string | undefined)[] => {
  const all = shares.flatMap(({ variant, share }) =>
    Array<string | undefined>(Math.round(share * 10)).fill(variant),
  );
  return [...all, ...Array<undefined>(1_000 - all.length).fill(undefined)];
};
const sums = (shares: readonly Share[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { variant, share } of shares) {
    found[variant] = Math.round(((found[variant] ?? 0) + share) * 10) / 10;
  }
  return found;
};

/** Shares in tenths of a percent with a sum of at most 100%. */
const tenths = fc
  .array(fc.integer({ min: 0, max: 500 }), { minLength: 3, maxLength: 3 })
  .filter((parts) => parts.reduce((a, b) => a + b, 0) <= 1_000);
const split = fc
  .array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: 120 })), {
    maxLength: 8,
  })
  .map((parts): Share[] => parts.map(([variant, share]) => ({ variant, share: share / 10 })));

test("any split can get any shares, and no user moves without need", () => {
  fc.assert(
    fc.property(split, tenths, (current, parts) => {
      const wanted = { a: (parts[0] ?? 0) / 10, b: (parts[1] ?? 0) / 10, c: (parts[2] ?? 0) / 10 };
      const made = recut(current, wanted);
      const expected = Object.fromEntries(Object.entries(wanted).filter(([, share]) => share > 0));
      assert.deepEqual({ ...sums(made) }, { ...expected, ...sums(made) });
      assert.deepEqual(Object.keys(sums(made)).sort(), Object.keys(expected).sort());
      const [before, after] = [people(current), people(made)];
      const total = parts.reduce((a, b) => a + b, 0);
      // Each variant keeps as many users as both its old and its new share allow.
      const stay = ["a", "b", "c"].reduce((sum, variant, index) => {
        const had = before.slice(0, total).filter((each) => each === variant).length;
        return sum + Math.min(had, parts[index] ?? 0);
      }, 0);
      const stayed = after.slice(0, total).filter((each, at) => each === before[at]).length;
      assert.equal(stayed, stay);
      made.forEach(({ variant }, index) => {
        assert.notEqual(variant, made[index + 1]?.variant, "neighbors are merged");
      });
    }),
    { numRuns: 500 },
  );
});

test("raising a share removes no user", () => {
  const first = recut([], { a: 10, b: 20 });
  const second = recut(first, { a: 25, b: 30, c: 5 });
  const [before, after] = [people(first), people(second)];
  assert.ok(before.every((variant, at) => variant === undefined || after[at] === variant));
  assert.deepEqual(first, [
    { variant: "a", share: 10 },
    { variant: "b", share: 20 },
  ]);
  assert.deepEqual(recut(first, { a: 10, b: 20 }), first);
});
