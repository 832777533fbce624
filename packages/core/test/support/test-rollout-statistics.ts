// Over very many keys a percentage reaches that share of them, and flags choose independently of each other. The keys are fixed.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bucketOf } from "@halyard/core/bucket";
import { evaluate } from "@halyard/core/evaluate";
import { prepare } from "@halyard/core/flags/registry";
import { fromThousandths } from "@halyard/core/percentage";

const sigmas = 5;

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");
const kinds: readonly [what: string, keyOf: (index: number) => string][] = [
  ["numbers", (index) => String(index)],
  ["e-mail addresses", (index) => `person.${index}@example.org`],
  [
    "hexadecimal digits",
    (index) => `${hex(Math.imul(index, 0x9e3779b1))}-${hex(Math.imul(index, 0x85ebca77))}`,
  ],
  ["names that are not ASCII", (index) => `usuária-${index}`],
];

const prepared = (key: string, thousandths: number) =>
  prepare({
    key,
    type: "rollout",
    enabled: true,
    percentage: fromThousandths(thousandths),
    description: null,
  });
const isOn = (flag: ReturnType<typeof prepared>, key: string): boolean => {
  const evaluation = evaluate(flag, { targetingKey: key });
  return "value" in evaluation && evaluation.value === true;
};

export const testRolloutStatistics = ({ total }: { readonly total: number }): void => {
  suite(`${total} keys`, () => {
    const shares = [1, 10, 500, 1_000, 10_000, 33_333, 50_000, 90_000, 99_500, 99_999];
    for (const [what, keyOf] of kinds) {
      test(`of ${what}: every percentage reaches its share`, () => {
        const counted = shares.map((share) => ({ share, count: 0 }));
        const half = prepared("new-checkout", 50_000);
        let contradictions = 0;
        for (let index = 0; index < total; index += 1) {
          const key = keyOf(index);
          const position = bucketOf("new-checkout", key);
          for (const each of counted) if (position <= each.share) each.count += 1;
          if (isOn(half, key) !== position <= 50_000) contradictions += 1;
        }
        assert.equal(contradictions, 0);
        for (const { share, count } of counted) {
          const chance = share / 100_000;
          const deviation = Math.sqrt(total * chance * (1 - chance));
          const distance = Math.abs(count - total * chance) / deviation;
          assert.ok(distance < sigmas, `${fromThousandths(share)} %: ${distance.toFixed(1)} sigma`);
        }
      });
    }

    test("are spread evenly over a thousand parts", () => {
      const parts = new Uint32Array(1_000);
      for (let index = 0; index < total; index += 1) {
        const part = Math.floor((bucketOf("new-checkout", `user-${index}`) - 1) / 100);
        parts[part] = (parts[part] ?? 0) + 1;
      }
      const expected = total / parts.length;
      const chiSquare = parts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      const freedom = parts.length - 1;
      const distance = Math.abs(chiSquare - freedom) / Math.sqrt(2 * freedom);
      assert.ok(distance < sigmas, `${distance.toFixed(1)} sigma`);
    });
  });

  /** How far two choices among the same keys are from being independent: chi-square of one degree of freedom. */
  const dependence = (one: Uint8Array, other: Uint8Array): number => {
    const size = one.length;
    let both = 0;
    let inOne = 0;
    let inOther = 0;
    for (let index = 0; index < size; index += 1) {
      const first = one[index] ?? 0;
      const second = other[index] ?? 0;
      both += first & second;
      inOne += first;
      inOther += second;
    }
    const cross = both * (size - inOne - inOther + both) - (inOne - both) * (inOther - both);
    return (size * cross ** 2) / (inOne * inOther * (size - inOne) * (size - inOther));
  };

  suite("flags are independent", () => {
    const keys = Array.from({ length: 50_000 }, (_, index) => `user-${index}`);
    const choice = (flagKey: string, share: number): Uint8Array => {
      const flag = prepared(flagKey, share);
      return Uint8Array.from(keys, (key) => Number(isOn(flag, key)));
    };

    for (const share of [50_000, 10_000]) {
      test(`every pair of forty flags at ${fromThousandths(share)} %, with names alike`, () => {
        const choices = Array.from({ length: 40 }, (_, index) => choice(`flag-${index}`, share));
        const found = choices.flatMap((one, index) =>
          choices.slice(index + 1).map((other) => dependence(one, other)),
        );
        assert.equal(found.length, 780);
        const worst = Math.max(...found);
        assert.ok(worst < sigmas ** 2, `the worst pair has chi-square ${worst.toFixed(1)}`);
        const sum = found.reduce((all, value) => all + value, 0);
        const distance = Math.abs(sum - found.length) / Math.sqrt(2 * found.length);
        assert.ok(distance < sigmas, `together: ${distance.toFixed(1)} sigma`);
      });
    }

    test("a choice that depends on another one would be noticed", () => {
      const one = choice("flag-1", 50_000);
      const other = choice("flag-2", 50_000);
      const mixed = one.map((value, index) => (index % 40 === 0 ? value : (other[index] ?? 0)));
      assert.ok(dependence(one, one) > sigmas ** 2);
      assert.ok(dependence(one, mixed) > sigmas ** 2);
    });
  });
};
