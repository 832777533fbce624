// Flipt: random segments, rollouts and rules, evaluated with its client-side Node SDK.
import type { EvaluationContext } from "@halyard/core/context";
import type { Person, Trial } from "./compare.ts";
import { attributes, keys, pools, type Random } from "./random.ts";

type Json = Record<string, unknown>;

// Flipt's client-side SDK lacks some features of its server: parts of numbers, `notcontains`, dates without a time.

/** Values in Flipt's contexts are strings. */
const textsOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(pools).map(([name, values]) => [name, values.map(String)])),
  age: ["0", "17", "18", "65", "-3", " 18", "abc", ""],
  beta: ["true", "false", "TRUE", "1", "t", "yes", ""],
};

const constraint = (random: Random): Json => {
  const { pick, some } = random;
  const base = (type: string, property: string, operator: string, value: unknown = "") => ({
    type: `${type}_COMPARISON_TYPE`,
    property,
    operator,
    value,
  });
  const list = (name: string) => JSON.stringify(some(textsOf[name] ?? [], 3));
  switch (pick(["entity", "text", "text", "text", "number", "boolean", "date"])) {
    case "entity":
      return pick([
        base("ENTITY_ID", "entity", pick(["eq", "neq"]), pick(keys)),
        base("ENTITY_ID", "entity", pick(["isoneof", "isnotoneof"]), JSON.stringify(some(keys, 2))),
      ]);
    case "number": {
      const name = pick(["age", "level"]);
      const one = pick(["eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent"]);
      return pick([
        base("NUMBER", name, one, pick(["18", "0", "7"])),
        base("NUMBER", name, pick(["isoneof", "isnotoneof"]), JSON.stringify([18, 7])),
      ]);
    }
    case "boolean":
      return base("BOOLEAN", "beta", pick(["true", "false", "present", "notpresent"]));
    case "date":
      return base(
        "DATETIME",
        "joined",
        pick(["eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent"]),
        pick(["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"]),
      );
    default: {
      const name = pick(attributes);
      const value = pick(textsOf[name] ?? []);
      return pick([
        base("STRING", name, pick(["eq", "neq", "prefix", "suffix", "contains"]), value),
        base("STRING", name, pick(["empty", "notempty"])),
        base("STRING", name, pick(["isoneof", "isnotoneof"]), list(name)),
      ]);
    }
  }
};

const segmentKeys = ["one", "two", "three"] as const;

const flag = (random: Random, index: number): Json => {
  const { chance, pick, some, below } = random;
  const key = `flag-${index}`;
  const inSegments = () => ({
    keys: [...new Set(some(segmentKeys, 2))],
    operator: pick(["OR_SEGMENT_OPERATOR", "AND_SEGMENT_OPERATOR"]),
  });
  const count = below(4);
  if (index % 2 === 0) {
    const rollouts = Array.from({ length: count }, () =>
      chance(75)
        ? { segment: { ...inSegments(), value: chance(60) } }
        : { threshold: { percentage: pick([0, 100]), value: chance(50) } },
    );
    return { key, name: key, type: "BOOLEAN_FLAG_TYPE", enabled: chance(50), rollouts };
  }
  const variants = ["red", "blue"].map((name) => ({ key: name, name, default: false }));
  if (chance(60)) pick(variants).default = true;
  const rules = Array.from({ length: count }, () => ({
    segment: inSegments(),
    distributions: [{ variant: pick(["red", "blue"]), rollout: 100 }],
  }));
  return { key, name: key, type: "VARIANT_FLAG_TYPE", enabled: chance(90), variants, rules };
};

const document = (random: Random) => ({
  version: "1.4",
  namespace: "default",
  flags: Array.from({ length: 12 }, (_, index) => flag(random, index)),
  segments: segmentKeys.map((key) => ({
    key,
    name: key,
    match_type: random.pick(["ALL_MATCH_TYPE", "ANY_MATCH_TYPE"]),
    constraints: Array.from({ length: random.below(3) }, () => constraint(random)),
  })),
});

/** The state of a namespace, as the server returns it to the client. */
const snapshotOf = ({ flags, segments }: { flags: Json[]; segments: Json[] }): Json => {
  const times = { createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" };
  const segmentsOf = (named: Json) =>
    (named.keys as string[]).map((key) => {
      const {
        match_type: matchType,
        constraints,
        ...rest
      } = segments.find((one) => one.key === key) ?? {};
      const own = (constraints as Json[]).map((one, at) => ({
        id: String(at),
        ...one,
        type: String(one.type).replace("_COMPARISON", "_CONSTRAINT_COMPARISON"),
      }));
      return {
        ...rest,
        description: "",
        matchType: String(matchType).replace("_MATCH", "_SEGMENT_MATCH"),
        ...times,
        constraints: own,
      };
    });
  return {
    namespace: { key: "default" },
    flags: flags.map(({ rollouts = [], rules = [], variants = [], ...rest }) => {
      const fallback = (variants as Json[]).find((one) => one.default);
      return {
        ...rest,
        description: "",
        ...times,
        rollouts: (rollouts as { segment?: Json; threshold?: Json }[]).map(
          ({ segment, threshold }, rank) =>
            segment
              ? {
                  type: "SEGMENT_ROLLOUT_TYPE",
                  rank: rank + 1,
                  segment: {
                    value: segment.value,
                    segmentOperator: segment.operator,
                    segments: segmentsOf(segment),
                  },
                }
              : { type: "THRESHOLD_ROLLOUT_TYPE", rank: rank + 1, threshold },
        ),
        rules: (rules as { segment: Json; distributions: Json[] }[]).map(
          ({ segment, distributions }, rank) => ({
            id: String(rank),
            rank: rank + 1,
            segmentOperator: segment.operator,
            segments: segmentsOf(segment),
            distributions: distributions.map(({ variant, rollout }) => ({
              ruleId: String(rank),
              variantId: variant,
              variantKey: variant,
              variantAttachment: "",
              rollout,
            })),
          }),
        ),
        ...(fallback && {
          defaultVariant: { id: fallback.key, key: fallback.key, attachment: "" },
        }),
      };
    }),
  };
};

const person = (random: Random): Person => {
  const { chance, pick } = random;
  const context: Record<string, string> = {};
  for (const name of attributes) {
    if (!chance(15)) context[name] = pick(textsOf[name] ?? []);
  }
  const entityId = pick(keys);
  return {
    theirs: { entityId, context },
    ours: { ...context, targetingKey: entityId } as EvaluationContext,
  };
};

interface Client {
  evaluateBoolean(request: object): { enabled: boolean };
  evaluateVariant(request: object): { variantKey: string };
  close(): void;
}
interface Sdk {
  FliptClient: { init(options: object): Promise<Client> };
}

export const flipt: Trial = {
  product: "flipt",
  packageName: "@flipt-io/flipt-client-js",
  version: "0.5.1",
  document,
  person,
  async load(value, sdk) {
    const { FliptClient } = sdk("@flipt-io/flipt-client-js/node") as Sdk;
    const whole = value as { flags: Json[]; segments: Json[] };
    const client = await FliptClient.init({
      namespace: "default",
      // The SDK needs no server.
      fetcher: async () => Response.json(snapshotOf(whole)),
      updateInterval: 0,
    });
    const types = new Map(whole.flags.map(({ key, type }) => [key, type]));
    return {
      evaluate(key, theirs) {
        const request = { flagKey: key, ...(theirs as object) };
        return types.get(key) === "BOOLEAN_FLAG_TYPE"
          ? client.evaluateBoolean(request).enabled
          : client.evaluateVariant(request).variantKey;
      },
      close: () => client.close(),
    };
  },
};
