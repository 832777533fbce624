// Bodies about flags with rules and about segments, as somebody who knows the rules writes them, and as nobody should.
import fc, { type Arbitrary } from "fast-check";

const key = (kind: string) => fc.nat(11).map((number) => `${kind}-${number}`);
const person = fc.nat(200).map((number) => `user-${number}`);
const attribute = fc.constantFrom("plan", "country", "/company/id", "age", "app", "email");

const leaf: Arbitrary<object> = fc.oneof(
  fc.record({ attribute, op: fc.constant("exists"), value: fc.boolean() }),
  fc.record({
    attribute,
    op: fc.constantFrom("in", "notIn", "startsWith", "endsWith", "contains"),
    values: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 9 }), {
      minLength: 1,
      maxLength: 9,
    }),
  }),
  fc.record({ attribute, op: fc.constantFrom("lt", "lte", "gt", "gte"), value: fc.integer() }),
  fc.record({
    attribute,
    op: fc.constantFrom("semverEq", "semverLt", "semverGte"),
    value: fc.constantFrom("1.2.3", "v2", "1.0.0-rc.1"),
  }),
  fc.record({
    attribute,
    op: fc.constantFrom("before", "after"),
    value: fc.constantFrom("2026-01-01T00:00:00Z", "2026-06-01T12:00:00+02:00"),
  }),
  fc.record({
    attribute,
    op: fc.constant("inCidr"),
    values: fc.subarray(["10.0.0.0/8", "::1/128", "192.168.0.0/16"], { minLength: 1 }),
  }),
);

const conditionWith = (leaves: Arbitrary<object>): Arbitrary<object> =>
  fc.letrec<{ condition: object; leaf: object }>((tie) => ({
    leaf: leaves,
    condition: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      tie("leaf"),
      fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie("condition").map((not) => ({ not })),
    ),
  })).condition;

const ofSegment = fc
  .uniqueArray(key("segment"), { minLength: 1, maxLength: 3 })
  .map((segment) => ({ segment }));
const condition = conditionWith(fc.oneof(leaf, ofSegment));
/** Segments do not name others. */
const plainCondition = conditionWith(leaf);

const serveOf = (...variants: readonly string[]): Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom(...variants),
    fc.array(
      fc.record({ variant: fc.constantFrom(...variants), share: fc.constantFrom(0.001, 5, 12.5) }),
      { minLength: 1, maxLength: 6 },
    ),
  );

const rulesOf = (...variants: readonly string[]) =>
  fc.array(
    fc.record(
      { when: condition, serve: serveOf(...variants), disabled: fc.boolean() },
      {
        requiredKeys: ["when", "serve"],
      },
    ),
    { minLength: 1, maxLength: 4 },
  );

const common = {
  bucketBy: attribute,
  bucketSeed: fc.string({ minLength: 1, maxLength: 20 }),
  tags: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 9 }), { maxLength: 4 }),
  owner: fc.string({ minLength: 1, maxLength: 20 }),
};
const optional = (fields: Record<string, Arbitrary<unknown>>) =>
  fc.record({ ...fields, ...common }, { requiredKeys: Object.keys(fields) as never[] });

const members = fc.oneof(
  optional({ type: fc.constant("boolean") }),
  optional({
    type: fc.constant("boolean"),
    rules: rulesOf("on", "off"),
    otherwise: fc.constantFrom("on", "off"),
  }),
  optional({ type: fc.constant("rollout"), rules: rulesOf("on", "off") }),
  optional({
    type: fc.constant("variant"),
    valueType: fc.constant("string"),
    variants: fc.constant({ a: "A", b: "B" }),
    off: fc.constantFrom("a", "b"),
    otherwise: fc.constantFrom("a", "b"),
    rules: rulesOf("a", "b"),
  }),
);

const newKey = fc.integer({ min: 100, max: 999_999 }).map((number) => `new-${number}`);
const created = fc.tuple(newKey, members).map(([name, rest]) => ({ key: name, ...rest }));

/** Odd numbers are rollouts, even ones boolean flags: see furnish.ts. */
const patch = fc.oneof(
  fc.record({ enabled: fc.boolean() }),
  fc.record(common, { requiredKeys: [] }),
  fc.record({ rules: rulesOf("on", "off"), otherwise: fc.constantFrom("on", "off") }),
  fc.record({ rules: rulesOf("on", "off") }),
  fc.record({ rules: fc.constant(null), requires: fc.constant([]) }),
  fc.record({
    requires: fc.uniqueArray(
      fc.record({ flag: key("flag"), variant: fc.constantFrom("on", "off") }),
      { minLength: 1, maxLength: 3, selector: ({ flag }) => flag },
    ),
  }),
);

/** Operations of change requests and previews. */
export const flagPatches = fc.record({
  kind: fc.constant("flag"),
  key: key("flag"),
  action: fc.constant("patch"),
  body: patch,
});

const deep = (depth: number): object =>
  Array.from({ length: depth }).reduce<object>((inner) => ({ not: inner }), {
    attribute: "a",
    op: "exists",
    value: true,
  });
/** Deep, wide, huge. */
const hostile: Arbitrary<unknown> = fc.constantFrom<unknown>(
  { rules: [{ when: deep(15), serve: "on" }], otherwise: "on" },
  { rules: [{ when: deep(5_000), serve: "on" }], otherwise: "on" },
  { rules: [{ when: { any: Array.from({ length: 9_000 }, () => ({})) }, serve: "on" }] },
  { rules: Array.from({ length: 20_000 }, () => ({})) },
  { rules: [{ when: { attribute: "a", op: "in", values: Array(60_000).fill(1) }, serve: "on" }] },
  { requires: Array.from({ length: 10_000 }, () => ({ flag: "flag-1", variant: "on" })) },
  { tags: Array.from({ length: 50_000 }, () => "x") },
  { bucketBy: "/".repeat(100_000) },
  {
    rules: [{ when: { attribute: "constructor", op: "exists", value: true }, serve: "__proto__" }],
  },
);

const list = fc.uniqueArray(person, { maxLength: 20 });
const lists = { include: list, exclude: list };
const segmentMembers = {
  description: fc.option(fc.string({ maxLength: 40 })),
  when: fc.option(plainCondition),
  ...lists,
};
const parts = fc.record({ add: list, remove: list }, { requiredKeys: [] });

const manifestValue = fc.oneof(
  fc.record({ type: fc.constant("boolean"), defaultValue: fc.constant(false) }),
  fc.record({ type: fc.constant("string"), defaultValue: fc.string() }),
  fc.record({ type: fc.constant("integer"), defaultValue: fc.integer() }),
  fc.record({ type: fc.constant("object"), defaultValue: fc.dictionary(fc.string(), fc.nat()) }),
);
const onOrOff = { type: fc.constant("boolean"), description: fc.string({ maxLength: 40 }) };

/** By the name of the operation. */
export const targetingBodies: Readonly<Record<string, Arbitrary<unknown>>> = {
  "POST /api/v1/flags": created,
  "POST /openfeature/v0/manifest/flags": fc
    .tuple(newKey, manifestValue)
    .map(([name, rest]) => ({ key: name, ...rest })),
  // The path has the same key: see furnish.ts.
  "PUT /openfeature/v0/manifest/flags/{key}": fc.record({
    key: fc.oneof({ weight: 3, arbitrary: fc.constant("flag-0") }, key("flag")),
    ...onOrOff,
  }),
  "PATCH /api/v1/flags/{key}": fc.oneof(
    { weight: 9, arbitrary: patch },
    { weight: 1, arbitrary: hostile },
  ),
  "POST /api/v1/changes": fc
    .uniqueArray(fc.record({ flag: key("flag"), patch }), {
      minLength: 1,
      maxLength: 4,
      selector: ({ flag }) => flag,
    })
    .map((changes) => ({ changes })),
  "POST /api/v1/flags/{key}/explain": fc.record(
    {
      context: fc.record(
        { targetingKey: person, plan: fc.constantFrom("pro", "free"), company: fc.object() },
        { requiredKeys: [] },
      ),
      revision: fc.nat(40),
    },
    { requiredKeys: ["context"] },
  ),
  "POST /api/v1/flags/{key}/preview": fc.record({ patch }),
  "POST /api/v1/segments/{key}/preview": fc.oneof(
    fc.record({ patch: fc.record(segmentMembers, { requiredKeys: [] }) }),
    fc.record({ members: fc.record({ include: parts }) }),
  ),
  "POST /api/v1/preview": fc
    .array(flagPatches, { minLength: 1, maxLength: 4 })
    .map((operations) => ({ operations })),
  "POST /api/v1/segments": fc
    .tuple(newKey, fc.record(segmentMembers, { requiredKeys: [] }))
    .map(([name, rest]) => ({ key: name, ...rest })),
  "PATCH /api/v1/segments/{key}": fc.record(segmentMembers, { requiredKeys: [] }),
  "POST /api/v1/segments/{key}/members": fc.oneof(
    fc.record({ include: parts }),
    fc.record({ include: parts, exclude: parts }),
  ),
};
