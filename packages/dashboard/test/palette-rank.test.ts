// How the palette ranks names for what is typed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fits, matcher, prepare, ranked } from "../src/palette/rank.ts";

const cases: readonly [typed: string, name: string, fit: keyof typeof fits | undefined][] = [
  ["checkout", "checkout", "exact"],
  ["New Checkout", "new-checkout", "exact"],
  ["new_checkout", "newCheckout", "exact"],
  ["check", "checkout-v2", "prefix"],
  ["checkout v", "checkout-v2", "prefix"],
  ["v2 check", "checkout-v2", "wordStart"],
  ["check", "new.checkout", "wordStart"],
  ["out", "checkout", "inside"],
  ["co", "new-checkout-old", "shortened"],
  ["nwchk", "new-checkout", "shortened"],
  ["pasport", "passport-upload", "shortened"],
  ["chekcout", "checkout", "oneTypo"],
  ["chackout", "new-checkout", "oneTypo"],
  ["passsport", "passport", "oneTypo"],
  ["chek", "checkout", "shortened"],
  ["chwck", "checkout", "oneTypo"],
  ["recomendatoins", "recommendations-carousel", "twoTypos"],
  ["chekcoutt", "checkout", "twoTypos"],
  ["pasport uplaod", "passport-upload-v2", "oneTypo"],
  // One or two typos, not more, and none in a short word.
  ["chakcout", "new-checkout-basket", "twoTypos"],
  ["shakcout", "checkout", undefined],
  ["cheese", "checkout", undefined],
  ["abd", "abc", undefined],
  // Every word counts.
  ["checkout basket", "checkout-v2", undefined],
  // Letters anywhere are not meant.
  ["eko", "checkout", undefined],
  ["outch", "checkout", undefined],
  ["hooks flags", "https://example.com/hooks/flags", "wordStart"],
  ["grün", "GRÜN-flag", "prefix"],
  ["---", "checkout", "prefix"],
  [`${"a".repeat(62)}b`, Array.from({ length: 64 }, () => "a").join("-"), undefined],
];

for (const [typed, name, fit] of cases) {
  test(`"${typed}" for ${name.slice(0, 40)}: ${fit ?? "no"}`, () => {
    const found = matcher(typed)(prepare(name));
    assert.equal(found, fit === undefined ? undefined : fits[fit]);
  });
}

test("the best comes first, and equals stay in their order", () => {
  const keys = [
    "old-chekcout",
    "rechecking",
    "checkout-z",
    "old-checkout",
    "checkout-a",
    "checkout",
    "search",
  ];
  const entries = keys.map((key) => ({ key, name: prepare(key) }));
  const found = (typed: string) => ranked(typed, entries).map(({ key }) => key);
  assert.deepEqual(found("checkout"), [
    "checkout",
    "checkout-z",
    "checkout-a",
    "old-checkout",
    "old-chekcout",
  ]);
  assert.deepEqual(found("check"), [
    "checkout-z",
    "checkout-a",
    "checkout",
    "old-checkout",
    "rechecking",
    "old-chekcout",
  ]);
  assert.deepEqual(found("zebra"), []);
});
