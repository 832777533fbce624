// Bucketing of arbitrary texts: the same hash as the plain reference, and the exact position of a key.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  bucketHash,
  bucketOf,
  bucketPrefix,
  hashFrom,
  hashLimit,
  isInRollout,
} from "@halyard/core/bucket";
import { assert as check, integer, property, string } from "fast-check";
import { keyWithHash } from "./support/key-with-hash.ts";
import { referenceHash, referenceInFrom, referenceIsIn } from "./support/reference.ts";

const flagKey = string({ unit: "binary-ascii", minLength: 1, maxLength: 20 });
// Independent code units, which include lone surrogates and random pairs.
const anyText = string({
  unit: integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const thousandths = integer({ min: 0, max: 100_000 });
const hashes = integer({ min: 0, max: 2 ** 32 - 1 });

suite("the hash equals the reference's", () => {
  for (const [what, texts] of [
    ["ASCII", string({ unit: "binary-ascii", maxLength: 40 })],
    ["all of Unicode", string({ unit: "binary", maxLength: 40 })],
    ["code units that need not be well formed", anyText],
  ] as const) {
    test(`for ${what}`, () => {
      check(
        property(flagKey, texts, (flag, key) => {
          for (const each of [flag, `${flag}a`, `${flag}ab`, `${flag}abc`]) {
            assert.equal(bucketHash(each, key), referenceHash(each, key));
          }
        }),
        { numRuns: 1_000 },
      );
    });
  }

  test("for flag keys that are not ASCII, although they are not valid", () => {
    check(
      property(anyText, anyText, (flag, key) => {
        assert.equal(bucketHash(flag, key), referenceHash(flag, key));
      }),
    );
  });

  for (const [what, key] of [
    ["a first half alone", "a\ud83d"],
    ["a second half alone", "\ude00a"],
    ["two first halves", "\ud83d\ud83d\ude00"],
    ["halves the wrong way round", "\ude00\ud83d"],
    ["a first half before a letter", "\ud83dz"],
  ] as const) {
    test(`for ${what}, which is U+FFFD`, () => {
      assert.equal(bucketHash("f", key), referenceHash("f", key.toWellFormed()));
    });
  }

  test("for concatenated and sliced texts", () => {
    const whole = Array.from({ length: 40 }, (_, index) => `part ${index}, `).join("");
    for (let from = 0; from < 8; from += 1) {
      const cut = whole.slice(from, 300 + from);
      const joined = `${cut}${from}${cut}`;
      assert.equal(bucketHash("f", cut), referenceHash("f", cut));
      assert.equal(bucketHash("f", joined), referenceHash("f", joined));
    }
  });
});

test("a prefix can be reused for any number of keys", () => {
  for (const flag of ["a", "ab", "abc", "abcd"]) {
    const prefix = Object.freeze(bucketPrefix(flag));
    for (const key of ["", "1", "22", "333", "4444", "55555", "é", "日本", "a😀"]) {
      assert.equal(hashFrom(prefix, key), referenceHash(flag, key), `${flag}:${key}`);
    }
  }
});

suite("in or out", () => {
  test("the limit equals the definition, for every hash and percentage", () => {
    check(
      property(hashes, thousandths, (hash, share) => {
        assert.equal(hash < hashLimit(share), referenceIsIn(hash, share));
      }),
    );
  });

  test("and also next to each of the 100,001 limits", () => {
    for (let share = 0; share <= 100_000; share += 1) {
      const limit = hashLimit(share);
      assert.ok(share === 0 ? limit === 0 : referenceIsIn(limit - 1, share));
      assert.ok(!referenceIsIn(limit, share));
    }
  });

  test("the position is the lowest percentage that includes the key", () => {
    check(
      property(flagKey, anyText, thousandths, (flag, key, share) => {
        const position = bucketOf(flag, key);
        assert.equal(isInRollout(flag, key, share), share >= position);
        assert.equal(isInRollout(flag, key, position), true);
        assert.equal(isInRollout(flag, key, position - 1), false);
      }),
    );
  });

  for (const hash of [0, 42_949, 42_950, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 42_950, 2 ** 32 - 1]) {
    test(`the position of the hash ${hash}`, () => {
      const key = keyWithHash("edge", hash);
      assert.equal(bucketHash("edge", key), hash);
      assert.equal(bucketOf("edge", key), referenceInFrom(hash));
    });
  }
});
