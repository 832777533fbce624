// npm run conformance: writes the cases of bucketing and evaluation, with expected values that core has no part in.
import { writeFileSync } from "node:fs";
import { targetingGroups } from "../conformance/cases/targeting.ts";
import { keyWithHash } from "../packages/core/test/support/key-with-hash.ts";
import {
  type ReferenceFlag,
  referenceEvaluate,
  referenceHash,
  referenceInFrom,
  referenceIsIn,
} from "../packages/core/test/support/reference.ts";

type Text = string | { readonly repeat: string; readonly times: number };

const write = (text: Text): string =>
  typeof text === "string" ? text : text.repeat.repeat(text.times);

const bucketingCase = (name: string, flagKey: string, targetingKey: Text) => {
  const hash = referenceHash(flagKey, write(targetingKey));
  const inFrom = referenceInFrom(hash);
  const tried = [0, 1, 500, 25_000, 50_000, 99_999, 100_000, inFrom - 1, inFrom];
  const reached = Object.fromEntries(
    tried.map((thousandths) => [thousandths, referenceIsIn(hash, thousandths)]),
  );
  return { name, flagKey, targetingKey, hash, inFrom, in: reached };
};

/** The hashes on either side of where the percentage ends. */
const edgesOf = (thousandths: number): [hash: number, side: string][] => {
  const firstOut = Number((BigInt(thousandths) * (1n << 32n) + 99_999n) / 100_000n);
  return [
    [firstOut - 1, "last in"],
    [firstOut, "first out"],
  ];
};
// 1.001 × 1000 is a little under 1001 in doubles and 2.007 × 1000 a little over 2007: thousandths are rounded to the nearest.
const edges = [
  1, 2, 10, 500, 1_000, 1_001, 2_007, 12_345, 25_000, 33_333, 50_000, 66_667, 75_000, 99_000,
  99_998, 99_999,
];

const flagKeys = ["a", "ab", "abc", "new-checkout", "Billing.v2_Search-9", "k".repeat(128)];

const users = [
  "1",
  "42",
  "user-1",
  "user-2",
  "3f2c8f0e-6a54-4d0b-9a37-0c6b1f0e7d11",
  "ann@example.org",
];

const unusual: [name: string, targetingKey: Text][] = [
  ["empty, for the hash alone: an evaluation asks for a key", ""],
  ["a space", " "],
  ["spaces are not cut off", " user-1 "],
  ["a colon", ":"],
  ["colons", "tenant:7:user:9"],
  ["a line feed", "a\nb"],
  ["a zero byte", "\u0000"],
  ["zero bytes at the end count", "abc\u0000\u0000"],
  ["the last of ASCII", "\u007f"],
  ["the first of two bytes", "\u0080"],
  ["two bytes", "é"],
  ["two bytes, composed", "Jos\u00e9"],
  ["the same letters, not composed", "Jose\u0301"],
  ["Greek", "Ελένη"],
  ["Cyrillic", "Наташа"],
  ["Arabic", "ليلى"],
  ["the last of two bytes", "\u07ff"],
  ["the first of three bytes", "\u0800"],
  ["Japanese", "日本語"],
  ["Hindi", "नमस्ते"],
  ["the replacement character", "\ufffd"],
  ["a byte order mark at the beginning counts", "\ufeffuser-1"],
  ["the last of three bytes", "\uffff"],
  ["the first of four bytes", "\u{10000}"],
  ["emoji", "😀"],
  ["emoji of several code points", "👩‍👩‍👧"],
  ["a flag emoji", "🇨🇭"],
  ["the last of four bytes", "\u{10ffff}"],
  ["ASCII around two bytes", "aéb"],
  ["ASCII around three bytes", "ab日cd"],
  ["ASCII around four bytes", "abc😀d"],
  ["one to four bytes a character", "aé日😀"],
  ["upper case is another key", "USER-1"],
];

const long: [name: string, targetingKey: Text][] = [
  ["255 characters", { repeat: "x", times: 255 }],
  ["256 characters", { repeat: "x", times: 256 }],
  ["1,001 characters", { repeat: "0123456789a", times: 91 }],
  ["10,000 characters", { repeat: "0123456789", times: 1_000 }],
  ["10,000 characters of two bytes", { repeat: "é", times: 10_000 }],
  ["10,000 characters of three bytes", { repeat: "日", times: 10_000 }],
  ["5,000 characters of four bytes", { repeat: "😀", times: 5_000 }],
  ["9,999 characters, the last bytes of a group among them", { repeat: "aé日", times: 3_333 }],
];

const bucketing = () => [
  ...flagKeys.flatMap((flagKey) =>
    users.map((user) => bucketingCase("an everyday key", flagKey, user)),
  ),
  ...["f", "fl", "fla", "flag"].flatMap((flagKey) =>
    Array.from({ length: 9 }, (_, length) =>
      bucketingCase(
        `${flagKey.length} and ${length} characters`,
        flagKey,
        "abcdefgh".slice(0, length),
      ),
    ),
  ),
  ...["f", "fl", "new-checkout"].flatMap((flagKey) =>
    unusual.map(([name, key]) => bucketingCase(name, flagKey, key)),
  ),
  ...["f", "new-checkout"].flatMap((flagKey) =>
    long.map(([name, key]) => bucketingCase(name, flagKey, key)),
  ),
  ...edges.flatMap((thousandths) =>
    edgesOf(thousandths).map(([hash, side]) =>
      bucketingCase(
        `${side} at ${thousandths} thousandths`,
        `edge-${thousandths}`,
        keyWithHash(`edge-${thousandths}`, hash),
      ),
    ),
  ),
  ...[0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1].map((hash) =>
    bucketingCase(`the hash ${hash}`, "extreme", keyWithHash("extreme", hash)),
  ),
  bucketingCase("a colon in the key does not make it another flag's", "a", "b:c"),
];

const boolean = (enabled: boolean): ReferenceFlag => ({
  key: "dark-mode",
  type: "boolean",
  enabled,
  description: null,
});
const rollout = (enabled: boolean, percentage: number, key = "new-checkout"): ReferenceFlag => ({
  key,
  type: "rollout",
  enabled,
  percentage,
  description: enabled ? "The new checkout" : null,
});

const flags = [
  boolean(true),
  boolean(false),
  rollout(false, 0),
  rollout(false, 50),
  rollout(false, 100),
  ...[0, 0.001, 0.5, 10, 25, 33.333, 50, 51.929, 51.93, 99.999, 100].map((percentage) =>
    rollout(true, percentage),
  ),
];

const contexts: [name: string, context: Readonly<Record<string, unknown>>][] = [
  ["nothing", {}],
  ["a targetingKey of null", { targetingKey: null }],
  ["an empty targetingKey", { targetingKey: "" }],
  ["a number as targetingKey", { targetingKey: 42 }],
  ["true as targetingKey", { targetingKey: true }],
  ["an empty list as targetingKey", { targetingKey: [] }],
  ["an object as targetingKey", { targetingKey: { key: "user-1" } }],
  ["the name in another case", { targetingkey: "user-1" }],
  ["an identity under other names", { key: "user-1", userId: "user-1" }],
  ["user-1", { targetingKey: "user-1" }],
  ["user-2", { targetingKey: "user-2" }],
  ["other attributes, which change nothing", { targetingKey: "user-1", plan: "pro", age: 7 }],
  ["a single space, which is a key", { targetingKey: " " }],
  ["the text null", { targetingKey: "null" }],
  ["two bytes a character", { targetingKey: "Jos\u00e9" }],
  ["three bytes a character", { targetingKey: "日本語" }],
  ["four bytes a character", { targetingKey: "😀" }],
];

const describe = ({ type, enabled, percentage }: ReferenceFlag): string =>
  `${type}, ${enabled ? "on" : "off"}${percentage === undefined ? "" : `, ${percentage} %`}`;

const evaluationCase = (
  name: string,
  flag: ReferenceFlag,
  context: Readonly<Record<string, unknown>>,
) => ({ name, flag, context, expected: referenceEvaluate(flag, context) });

const evaluation = () => [
  ...flags.flatMap((flag) =>
    contexts.map(([name, context]) => evaluationCase(`${describe(flag)}: ${name}`, flag, context)),
  ),
  ...edges.flatMap((thousandths) =>
    edgesOf(thousandths).map(([hash, side]) => {
      const flag = rollout(true, thousandths / 1_000, `edge-${thousandths}`);
      const targetingKey = keyWithHash(flag.key, hash);
      return evaluationCase(`${describe(flag)}: the ${side}`, flag, { targetingKey });
    }),
  ),
];

/** ASCII alone, so that no program reads the file in a wrong encoding and nothing in it is invisible. */
const ascii = (json: string): string =>
  json.replace(/[^ -~\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const asciiJson = (value: unknown): string => ascii(JSON.stringify(value, null, 2));

/** There are many cases: one line for each flag, segment and case. */
const inLines = (items: readonly unknown[]): string =>
  items.length === 0 ? "[]" : `[\n${items.map((item) => JSON.stringify(item)).join(",\n")}\n]`;
const targetingText = (): string => {
  const groups = targetingGroups().map(
    ({ name, flags, segments, cases }) =>
      `{"name":${JSON.stringify(name)},\n"flags":${inLines(flags)},\n"segments":${inLines(segments)},\n"cases":${inLines(cases)}}`,
  );
  return ascii(`{"groups":[\n${groups.join(",\n")}\n]}\n`);
};

/** Every file that is written, with its text. */
export const conformanceFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ["conformance/bucketing.json", `${asciiJson({ cases: bucketing() })}\n`],
    ["conformance/evaluation.json", `${asciiJson({ cases: evaluation() })}\n`],
    ["conformance/targeting.json", targetingText()],
  ]);

if (import.meta.main) {
  for (const [path, text] of conformanceFiles()) {
    writeFileSync(path, text);
    console.log(`${path}: ${text.match(/"expected":|"hash":/g)?.length ?? 0} cases`);
  }
}
