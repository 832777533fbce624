// LaunchDarkly: return values of its SDK.
import type { Case, Json } from "./case.ts";

const user = (attributes: Json, value: unknown) =>
  [
    { kind: "user", key: "anna", ...attributes },
    { targetingKey: "anna", ...attributes },
    value,
  ] as const;
const account = (attributes: Json, value: unknown) =>
  [
    { kind: "account", key: "acme", ...attributes },
    { account: { key: "acme", ...attributes } },
    value,
  ] as const;
const both = (key: string, value: unknown) =>
  [
    { kind: "multi", user: { key }, account: { key: "acme" } },
    { targetingKey: key, account: { key: "acme" } },
    value,
  ] as const;

const launchDarkly = (clauses: readonly Json[], ...segments: readonly Json[]) => ({
  items: [
    {
      key: "flag",
      variations: [{ value: true }, { value: false }],
      environments: {
        production: {
          on: true,
          offVariation: 1,
          targets: [],
          contextTargets: [],
          rules: [{ clauses, variation: 0 }],
          fallthrough: { variation: 1 },
          prerequisites: [],
        },
      },
    },
    ...segments,
  ],
});
const ofLaunchDarkly = {
  product: "launchdarkly",
  environment: "production",
  flag: "flag",
} as const;

const kindNote =
  'uses contexts of the kind account: send them as "account": {"key": …} in the context';
const inSegment = { attribute: "", op: "segmentMatch", values: ["crew"] };
const crew = { key: "crew", rules: [], included: [], excluded: [] };
const dateNote = "exact only if joined is milliseconds or a time such as 2026-11-14T12:00:00Z";
const joinedBefore = (negate: boolean) =>
  launchDarkly([{ attribute: "joined", op: "before", values: [1_767_225_600_000], negate }]);

export const launchdarklyCases: readonly Case[] = [
  {
    ...ofLaunchDarkly,
    what: "a clause on the kind of context",
    document: launchDarkly([
      { attribute: "kind", op: "in", values: ["account"], contextKind: "user" },
    ]),
    note: kindNote,
    people: [user({}, false), account({}, true), both("anna", true), user({ kind: "user" }, false)],
  },
  {
    ...ofLaunchDarkly,
    what: "a clause on another kind than this",
    document: launchDarkly([
      { attribute: "kind", op: "in", values: ["account"], contextKind: "user", negate: true },
    ]),
    note: kindNote,
    people: [user({}, true), account({}, false), both("anna", false)],
  },
  {
    ...ofLaunchDarkly,
    what: "dates as milliseconds and as text",
    document: joinedBefore(false),
    note: dateNote,
    people: [
      user({ joined: 1_767_225_599_999 }, true),
      user({ joined: 1_767_225_600_000 }, false),
      user({ joined: "2025-12-31T23:59:59Z" }, true),
      user({ joined: "2026-01-01T00:00:00Z" }, false),
      user({}, false),
    ],
  },
  {
    ...ofLaunchDarkly,
    what: "dates that are not before",
    document: joinedBefore(true),
    note: dateNote,
    people: [
      user({ joined: 1_767_225_599_999 }, false),
      user({ joined: 1_767_225_600_000 }, true),
      user({ joined: "2026-01-01T00:00:00Z" }, true),
      user({}, false),
    ],
  },
  {
    ...ofLaunchDarkly,
    what: "included contexts before excluded users",
    document: launchDarkly([inSegment], {
      ...crew,
      excluded: ["anna"],
      includedContexts: [{ contextKind: "account", values: ["acme"] }],
    }),
    people: [both("anna", true), user({}, false), account({}, true)],
  },
  {
    ...ofLaunchDarkly,
    what: "a negated segment with included contexts",
    document: launchDarkly([{ ...inSegment, negate: true }], {
      ...crew,
      excluded: ["anna"],
      includedContexts: [{ contextKind: "account", values: ["acme"] }],
    }),
    people: [both("anna", false), user({}, true), account({}, false)],
  },
  {
    ...ofLaunchDarkly,
    what: "excluded contexts",
    document: launchDarkly([inSegment], {
      ...crew,
      excludedContexts: [{ contextKind: "account", values: ["acme"] }],
      rules: [{ clauses: [] }],
    }),
    people: [both("anna", false), user({}, true), account({}, false)],
  },
  {
    ...ofLaunchDarkly,
    what: "a negated list of users, without a user",
    document: launchDarkly([{ ...inSegment, negate: true }], { ...crew, included: ["anna"] }),
    people: [both("anna", false), both("ben", true), account({}, true)],
  },
  {
    ...ofLaunchDarkly,
    what: "versions with a leading v",
    document: launchDarkly([{ attribute: "app", op: "semVerGreaterThan", values: ["2"] }]),
    note: "exact only if app is a version such as 2.5.0",
    people: [
      user({ app: "2.5.0" }, true),
      user({ app: "v2.5.0" }, false),
      user({ app: "V2.5.0" }, false),
      user({ app: "2.0.0" }, false),
      user({}, false),
    ],
  },
  {
    ...ofLaunchDarkly,
    what: "a clause without values, negated",
    document: launchDarkly([
      { attribute: "app", op: "semVerEqual", values: ["v2.5.0"], negate: true },
    ]),
    people: [user({ app: "2.5.0" }, true), user({}, false)],
  },
];
