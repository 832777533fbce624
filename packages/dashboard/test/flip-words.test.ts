// What the page says about whom a change changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "@halyard/core/preview/flips";
import type { ChangePreview } from "@halyard/sdk/management";
import { boundOf, headlineOf, largestShare, unknownOf } from "../src/flips/flip-words.ts";

/** Times are written with a space that does not break. */
const plain = (text: string | undefined) => text?.replaceAll("\u202f", " ");

const off: Outcome = { variant: "off", value: false, rule: null, reason: "DEFAULT" };
const beta: Outcome = { variant: "on", value: true, rule: "beta", reason: "SPLIT" };
const staff: Outcome = { ...beta, rule: "staff", reason: "TARGETING_MATCH" };
const shares = { share: 12.3, low: 11.3, high: 13.4 };

interface Told extends Partial<ChangePreview> {
  readonly to?: readonly Outcome[];
  readonly exactShare?: number;
}

const previewOf = ({ to = [beta], exactShare, ...rest }: Told): ChangePreview => ({
  revision: 812,
  sample: {
    contexts: 4_213,
    since: new Date(2026, 10, 16, 13, 2).toISOString(),
    until: new Date(2026, 10, 16, 14, 30).toISOString(),
    fromClientKeys: 0,
  },
  changed: 518,
  unchanged: 3_695,
  unknown: 0,
  ...shares,
  shareAsSampled: null,
  unknownAttributes: [],
  flags: [
    {
      key: "new-checkout",
      changed: 518,
      unknown: 0,
      ...shares,
      ...(exactShare !== undefined && { exactShare }),
      flips: to.map((outcome) => ({ from: off, to: outcome, count: 259, ...shares })),
      flipsLeftOut: 0,
    },
  ],
  flagsLeftOut: 0,
  contextsLeftOut: 0,
  ...rest,
});
const sample = previewOf({}).sample;
const rounded: Told = { rounded: true, sample: sample && { ...sample, contexts: 4_210 } };
const nobody = { changed: 0, flags: [], share: 0, low: 0 };

const headlines: readonly (readonly [says: string, told: Told])[] = [
  [
    "Of 4,213 people seen since 1:02 PM, about 12% (11–13%) change from off (default rule) to on (rule beta).",
    {},
  ],
  [
    "Of 4,213 people seen since 1:02 PM, about 12% (11–13%) change from off to on.",
    { to: [beta, staff] },
  ],
  [
    "Of 4,213 people seen since 1:02 PM, about 3.2% (2.8–3.8%) get another value.",
    { to: [beta, { errorCode: "TARGETING_KEY_MISSING" }], share: 3.21, low: 2.79, high: 3.75 },
  ],
  [
    "None of the 4,213 people seen since 1:02 PM gets another value, so at most 0.1% of all people do.",
    { ...nobody, high: 0.09 },
  ],
  [
    "Of 4,118 of 4,213 people seen since 1:02 PM, about 12% (11–13%) change from off (default rule) to on (rule beta).",
    { unknown: 95 },
  ],
  [
    "None of 497 of 4,213 people seen since 1:02 PM gets another value, so at most 1% of all people like them do.",
    { ...nobody, high: 0.96, unknown: 3_716 },
  ],
  [
    "It is not known for any of the 4,213 people seen since 1:02 PM.",
    { ...nobody, share: null, low: null, high: null, unknown: 4_213 },
  ],
  [
    "Exactly 20% of all people change from off (default rule) to on (rule beta): 518 of 4,213 seen since 1:02 PM.",
    { exactShare: 20 },
  ],
  [
    "Of about 4,210 people seen since 1:02 PM, about 12% (11–14%) change from off (default rule) to on (rule beta).",
    { ...rounded, share: 12, low: 11, high: 14 },
  ],
  [
    "Fewer than 20 of about 4,210 people seen since 1:02 PM get another value.",
    { ...rounded, ...nobody, high: 1 },
  ],
  [
    "Exactly 20% of all people change from off (default rule) to on (rule beta): about 520 of about 4,210 seen since 1:02 PM.",
    { ...rounded, changed: 520, exactShare: 20 },
  ],
  ["Nobody gets another value.", { exactShare: 0, to: [], changed: 0, share: 0 }],
  [
    "All people get another value. No traffic was seen yet.",
    { exactShare: 100, to: [], ...(sample && { sample: { ...sample, contexts: 0 } }), share: null },
  ],
  [
    "No traffic was seen yet, so there is nobody to count.",
    { to: [], ...(sample && { sample: { ...sample, contexts: 0 } }), share: null },
  ],
];

test("one sentence says how many change, how sure that is, and since when", () => {
  for (const [says, told] of headlines) assert.equal(plain(headlineOf(previewOf(told))), says);
});

test("what cannot be known is said, with the reason", () => {
  assert.equal(unknownOf(previewOf({})), undefined);
  assert.equal(
    unknownOf(previewOf({ unknown: 1, unknownAttributes: ["country"] })),
    "Not known for 1 person: nobody who was seen has the attribute country.",
  );
  assert.equal(
    unknownOf(previewOf({ unknown: 95, unknownAttributes: ["country", "plan"] })),
    "Not known for 95 people: nobody who was seen has the attributes country, plan.",
  );
});

test("what is confirmed is a little more than what was shown, by the larger of the two shares", () => {
  const bounds: readonly (readonly [bound: number, share: number | null, exactShare?: number])[] = [
    [13, 12.3],
    [35, 34],
    [36, 34.9],
    [100, 99.9],
    [21, 12.3, 20],
    [51, null, 50],
    [1, 0],
  ];
  for (const [bound, share, exactShare] of bounds) {
    const told = previewOf({ share, ...(exactShare !== undefined && { exactShare }) });
    assert.equal(boundOf(told), bound);
    assert.ok(boundOf(told) >= largestShare(told));
  }
  // A rounded share can be too low; the end of its interval allows for that.
  assert.equal(boundOf(previewOf({ ...rounded, share: 12, high: 14 })), 15);
});
