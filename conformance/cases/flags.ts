// Cases of whole flags: rules and their order, three values, segments, requirements, splits, variants, attributes.
import type { Json, JsonObject, World } from "../reference/conditions.ts";

export interface FlagGroup {
  readonly name: string;
  readonly world: World;
  /** The flags to ask for. */
  readonly flags: readonly string[];
  readonly contexts: readonly JsonObject[];
}

const when = (attribute: string, ...values: readonly Json[]): JsonObject => ({
  attribute,
  op: "in",
  values,
});
const rule = (
  id: string,
  condition: JsonObject,
  serve: Json,
  more: JsonObject = {},
): JsonObject => ({ id, ...more, when: condition, serve });
const share = (variant: string, amount: number): JsonObject => ({ variant, share: amount });
const boolean = (key: string, more: JsonObject): JsonObject => ({
  key,
  type: "boolean",
  enabled: true,
  description: null,
  ...more,
});
const rollout = (key: string, percentage: number, more: JsonObject): JsonObject => ({
  key,
  type: "rollout",
  enabled: true,
  percentage,
  description: null,
  ...more,
});
const variant = (key: string, otherwise: Json, more: JsonObject = {}): JsonObject => ({
  key,
  type: "variant",
  valueType: "string",
  enabled: true,
  variants: { small: "S", medium: "M", large: "L" },
  off: "small",
  otherwise,
  description: null,
  ...more,
});
const worldOf = (flags: readonly JsonObject[], segments: readonly JsonObject[] = []): World => ({
  flags: Object.fromEntries(flags.map((flag) => [flag.key as string, flag])),
  segments: Object.fromEntries(segments.map((segment) => [segment.key as string, segment])),
});
const groupOf = (
  name: string,
  flags: readonly JsonObject[],
  contexts: readonly JsonObject[],
  segments: readonly JsonObject[] = [],
): FlagGroup => ({
  name,
  world: worldOf(flags, segments),
  flags: flags.map(({ key }) => key as string),
  contexts,
});

const people = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ targetingKey: `user-${index}` }));
const unknown = { attribute: "nobody-sends-it", op: "in", values: ["x"] };
const yes = { attribute: "targetingKey", op: "exists", value: true };
const no = { not: yes };

const truths: readonly JsonObject[] = [yes, no, unknown];
const threeValues = [
  ...truths.flatMap((one) =>
    truths.flatMap((other) => [{ all: [one, other] }, { any: [one, other] }]),
  ),
  ...truths.map((one) => ({ not: one })),
  ...truths.map((one) => ({ not: { not: one } })),
  { not: { all: [yes, unknown] } },
  { not: { any: [no, unknown] } },
  { any: [{ all: [yes, unknown] }, { not: no }] },
].map((condition, index) =>
  boolean(`logic-${index}`, { rules: [rule("it", condition, "on")], otherwise: "off" }),
);

const everyone = { all: [] };
const everyoneSegment = {
  key: "everyone-but",
  description: null,
  include: [],
  exclude: ["user-0"],
  when: everyone,
};
const forEveryone = [
  ...[
    everyone,
    { not: everyone },
    { all: [everyone, unknown] },
    { any: [unknown, everyone] },
    { segment: ["everyone-but"] },
  ].map((condition, index) =>
    boolean(`everyone-${index}`, { rules: [rule("it", condition, "on")], otherwise: "off" }),
  ),
  boolean("split", { rules: [rule("it", everyone, [share("on", 50)])], otherwise: "off" }),
  variant("split-of-variants", "small", {
    rules: [rule("it", everyone, [share("small", 50), share("large", 50)])],
  }),
];

const places: readonly JsonObject[] = [
  {},
  { company: { id: 7, "a/b": "slash", "m~n": "tilde", "": "empty" } },
  { company: { id: "7" } },
  { company: null },
  { company: "acme" },
  { company: [{ id: 7 }] },
  { "/company/id": 7 },
  { "company.id": 7 },
  { list: ["DE", "FR"] },
  { list: [] },
  { list: { 0: "DE" } },
  { "": "x" },
];
const pointers = [
  "/company/id",
  "/company/a~1b",
  "/company/m~0n",
  "/company/",
  "/company/0/id",
  "/list/0",
  "/list/00",
  "/list/-",
  "/list/2",
  "company.id",
  "/",
].map((attribute, index) =>
  boolean(`place-${index}`, {
    rules: [rule("found", { attribute, op: "exists", value: true }, "on")],
    otherwise: "off",
  }),
);

const segments: readonly JsonObject[] = [
  { key: "staff", description: null, include: ["ann", "bob"], exclude: [], when: null },
  { key: "nobody", description: null, include: [], exclude: [], when: null },
  { key: "pro", description: null, include: ["cy"], exclude: ["bob"], when: when("plan", "pro") },
  {
    key: "all-but",
    description: null,
    include: [],
    exclude: ["ann"],
    when: { attribute: "targetingKey", op: "exists", value: true },
  },
];
const members: readonly JsonObject[] = [
  {},
  { plan: "pro" },
  { targetingKey: "" },
  { targetingKey: 7, plan: "pro" },
  ...["ann", "bob", "cy", "dee", "Ann"].flatMap((targetingKey) => [
    { targetingKey },
    { targetingKey, plan: "pro" },
    { targetingKey, plan: "free" },
  ]),
];
const inSegments = ["staff", "nobody", "pro", "all-but", "missing"].flatMap((key) => [
  boolean(`in-${key}`, { rules: [rule("in", { segment: [key] }, "on")], otherwise: "off" }),
  boolean(`not-in-${key}`, {
    rules: [rule("out", { not: { segment: [key] } }, "on")],
    otherwise: "off",
  }),
]);

const chain = Array.from({ length: 6 }, (_, index) =>
  boolean(
    `chain-${index}`,
    index === 0 ? {} : { requires: [{ flag: `chain-${index - 1}`, variant: "on" }] },
  ),
).slice(0, 6);

export const flagGroups: readonly FlagGroup[] = [
  groupOf(
    "the first rule that is true decides",
    [
      boolean("order", {
        rules: [
          rule("first", when("plan", "pro"), "off"),
          rule("skipped", when("plan", "pro", "team"), "on", { disabled: true }),
          rule("second", when("plan", "pro", "team"), "on"),
        ],
        otherwise: "off",
      }),
      boolean("only-disabled", {
        rules: [rule("never", yes, "on", { disabled: true })],
        otherwise: "off",
      }),
      boolean("no-rules-left", { rules: [rule("never", no, "off")], otherwise: "on" }),
      boolean("disabled-flag", {
        enabled: false,
        rules: [rule("always", yes, "on")],
        otherwise: "on",
      }),
      rollout("by-percentage", 100, { rules: [rule("out", when("plan", "free"), "off")] }),
      rollout("by-no-percentage", 0, { rules: [rule("in", when("plan", "pro"), "on")] }),
    ],
    [
      {},
      { targetingKey: "u" },
      { plan: "pro" },
      { plan: "team" },
      { plan: "free" },
      { plan: ["team", "pro"] },
      { plan: null, targetingKey: "u" },
    ],
  ),
  groupOf("true, false and unknown", threeValues, [{}, { targetingKey: "u" }]),
  groupOf("everyone", forEveryone, [{}, ...people(8), { targetingKey: "" }], [everyoneSegment]),
  groupOf("attributes by name and by pointer", pointers, places),
  groupOf("segments", inSegments, members, segments),
  groupOf(
    "requirements",
    [
      ...chain,
      boolean("off-one", { enabled: false }),
      rollout("half", 50, {}),
      variant("size", "large", { rules: [rule("medium", when("plan", "pro"), "medium")] }),
      boolean("needs-off", { requires: [{ flag: "off-one", variant: "off" }] }),
      boolean("needs-on", { requires: [{ flag: "off-one", variant: "on" }] }),
      boolean("needs-half", { requires: [{ flag: "half", variant: "on" }] }),
      boolean("needs-medium", { requires: [{ flag: "size", variant: "medium" }] }),
      boolean("needs-missing", { requires: [{ flag: "nowhere", variant: "on" }] }),
      boolean("needs-two", {
        requires: [
          { flag: "chain-4", variant: "on" },
          { flag: "size", variant: "large" },
        ],
        rules: [rule("beta", when("plan", "beta"), "off")],
        otherwise: "on",
      }),
      variant("needs-and-is-off", "medium", { requires: [{ flag: "off-one", variant: "on" }] }),
    ],
    [{}, { plan: "pro" }, { plan: "beta" }, ...people(6)],
  ),
  groupOf(
    "splits",
    [
      rollout("quarter", 25, { rules: [rule("never", no, "on")] }),
      boolean("rule-split", { rules: [rule("some", yes, [share("on", 25)])], otherwise: "off" }),
      boolean("two-splits", {
        rules: [rule("one", yes, [share("on", 25)]), rule("two", yes, [share("on", 50)])],
        otherwise: "off",
      }),
      boolean("same-twice", {
        rules: [rule("some", yes, [share("on", 10), share("off", 80), share("on", 10)])],
        otherwise: "off",
      }),
      boolean("all-of-it", {
        rules: [rule("all", { not: no }, [share("on", 100)])],
        otherwise: "off",
      }),
      variant("thirds", [share("small", 33.333), share("medium", 33.333), share("large", 33.334)]),
      variant("tiny", [share("small", 0.001), share("large", 99.999)]),
      boolean("fixed-before-split", {
        rules: [
          rule("plan", when("plan", "pro"), "on"),
          rule("rest", { attribute: "plan", op: "exists", value: false }, [share("on", 50)]),
        ],
        otherwise: "off",
      }),
    ],
    [
      {},
      { targetingKey: "" },
      { targetingKey: 7 },
      { plan: "pro" },
      { plan: "free" },
      ...people(24),
    ],
  ),
  groupOf(
    "split by another attribute, with another seed",
    [
      rollout("by-company", 50, { bucketBy: "/company/id" }),
      rollout("by-number", 50, { bucketBy: "account" }),
      rollout("family-one", 50, { bucketSeed: "family" }),
      rollout("family-two", 50, { bucketSeed: "family" }),
      rollout("everyone-by", 100, { bucketBy: "/company/id" }),
    ],
    [
      ...people(8),
      ...[7, "7", 7.5, -7, 0, -0, 2 ** 53 - 1, 2 ** 53, "", null, true, [7], "acme"].map((id) => ({
        targetingKey: "u",
        company: { id },
        account: id,
      })),
    ],
  ),
];
