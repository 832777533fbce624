// Unleash's strategies and their variants: which users they match, and what percentage of them.
import type { FlagValue } from "@halyard/core/evaluate";
import type { Share } from "@halyard/core/targeting/split";
import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  parsedJson,
  textOf,
  writtenAs,
} from "../../loose-values.ts";
import { attributeOf, readConstraints } from "../conditions/unleash-constraints.ts";
import { equals, isSet, networkTest, targetingKey } from "../translate/leaves.ts";
import {
  always,
  attempt,
  CannotTranslate,
  every,
  exactIf,
  impossible,
  type Test,
} from "../translate/logic.ts";
import type { Outcome, OutlineRule } from "../translate/outline.ts";
import { notAPercentage, percentOf } from "../translate/percentage.ts";
import type { SegmentBook } from "../translate/segments.ts";
import { isForAll, sharesOf } from "../translate/split.ts";
import { typeOfAll, type Values } from "../translate/values.ts";

/** The strategies with a percentage: the parameter that contains it, and the stickiness. */
const rollouts: Readonly<Record<string, { share: string; stickiness: string | undefined }>> = {
  flexibleRollout: { share: "rollout", stickiness: undefined },
  gradualRolloutUserId: { share: "percentage", stickiness: "userId" },
  gradualRolloutSessionId: { share: "percentage", stickiness: "sessionId" },
  gradualRolloutRandom: { share: "percentage", stickiness: "random" },
};

/** The result of getVariant if there is none. */
export const noVariant = "disabled";

const nameOf = (strategy: Fields): string =>
  textOf(strategy.name) ?? textOf(strategy.strategyName) ?? "unnamed";

const kindOf = (strategy: Fields) => {
  const name = nameOf(strategy);
  return Object.hasOwn(rollouts, name) ? rollouts[name] : undefined;
};

const partsOf = (list: unknown): string[] =>
  writtenAs(list)
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** The users that the strategy matches, apart from its constraints. */
const ownTest = (strategy: Fields, { feature, people }: Place): Test => {
  const name = nameOf(strategy);
  const parameters = fieldsOf(strategy.parameters);
  if (name === "default" || kindOf(strategy) !== undefined) return always;
  if (name === "userWithId") return people(`${feature}-users`, partsOf(parameters.userIds));
  if (name === "remoteAddress") {
    // Unleash supports networks for IPv4 only, so an IPv6 network never matches.
    const networks = partsOf(parameters.IPs).filter(
      (each) => !(each.includes(":") && each.includes("/")),
    );
    return attempt(() => networkTest("remoteAddress", networks));
  }
  return impossible(`has the strategy ${name}`);
};

interface Rollout {
  readonly share: number;
  readonly by: string | undefined;
  readonly seed: string | undefined;
}

const stickyBy = (stickiness: string): string | undefined => {
  if (stickiness === "random") throw new CannotTranslate("decides at random for every request");
  return stickiness === "default" || stickiness === "userId" ? undefined : attributeOf(stickiness);
};

/** The field that the percentage is sticky by. */
const stickinessOf = (strategy: Fields): string | undefined => {
  const rollout = kindOf(strategy);
  return rollout && (rollout.stickiness ?? textOf(fieldsOf(strategy.parameters).stickiness));
};

/** Even at 100%, a strategy does not match a context without the field that it is sticky by. */
const isStickable = (strategy: Fields): Test => {
  const stickiness = stickinessOf(strategy) ?? "default";
  const { rollout, percentage } = fieldsOf(strategy.parameters);
  const isWhole = percentOf(rollout ?? percentage) === 100;
  if (!isWhole || stickiness === "default" || stickiness === "random") return always;
  const attribute = attributeOf(stickiness);
  return exactIf(isSet(attribute), attribute, { yes: "not empty" });
};

/** Undefined if the strategy reaches all users it matches. */
const rolloutOf = (strategy: Fields, feature: string): Rollout | undefined => {
  const rollout = kindOf(strategy);
  if (rollout === undefined) return undefined;
  const parameters = fieldsOf(strategy.parameters);
  const share = percentOf(parameters[rollout.share]);
  if (share === undefined) throw new CannotTranslate(notAPercentage(parameters[rollout.share]));
  const by = share === 100 ? undefined : stickyBy(stickinessOf(strategy) ?? "default");
  const group = textOf(parameters.groupId);
  return { share, by, seed: group === feature ? undefined : group };
};

interface Variants {
  readonly values: Values;
  readonly note: string;
}

const payloadOf = ({ payload }: Fields): unknown => {
  const { type, value } = fieldsOf(payload);
  if (type === "number") return Number(value);
  return type === "json" ? parsedJson(value) : value;
};

const emptyValues = { string: "", number: 0, object: {} } as const;

export const readVariants = (variants: readonly Fields[]): Variants | string => {
  const hasPayload = variants.some(({ payload }) => isFields(payload));
  const values = variants.map((variant) =>
    hasPayload ? payloadOf(variant) : String(variant.name),
  );
  const valueType = typeOfAll(values);
  if (valueType === undefined || valueType === "boolean") {
    return "has variants with payloads of several types, or without a payload";
  }
  const nothing = hasPayload ? emptyValues[valueType] : noVariant;
  const named = variants.map(({ name }, index) => [String(name), values[index]] as const);
  const all = Object.fromEntries([[noVariant, nothing], ...named]) as Record<string, FlagValue>;
  return {
    values: { valueType, variants: all, off: noVariant },
    note: `has variants: Halyard returns their ${hasPayload ? "payloads" : "names"}, and the variant ${noVariant} while the flag is off`,
  };
};

/** Without the field, Unleash decides at random. In Halyard, the application's own default applies. */
const neededBy = (shares: readonly Share[], by: string | undefined): readonly string[] =>
  isForAll(shares) ? [] : [`${by ?? targetingKey} is present`];

/** The variants of a strategy, for the percentage that it reaches. */
const splitVariants = (variants: readonly Fields[], rollout: Rollout | undefined): Outcome => {
  const weights = variants.map(({ name, weight }) => ({
    variant: String(name),
    weight: typeof weight === "number" ? weight : 0,
  }));
  const sticky = textOf(variants[0]?.stickiness);
  const by = sticky === undefined ? rollout?.by : stickyBy(sticky);
  if (rollout !== undefined && rollout.share < 100 && by !== rollout.by) {
    throw new CannotTranslate("splits users by one field and their variants by another");
  }
  const shares = sharesOf(weights, undefined, rollout?.share);
  return { shares, by, seed: rollout?.seed, exactIf: neededBy(shares, by) };
};

interface Place {
  readonly feature: string;
  /** Variants of the environment, for strategies without their own. */
  readonly shared: readonly Fields[];
  readonly segmentTest: (id: unknown) => Test;
  readonly people: SegmentBook["people"];
  readonly isVariant: boolean;
}

export const readStrategy = (strategy: Fields, place: Place): OutlineRule[] => {
  const { feature, shared, segmentTest, isVariant } = place;
  const own = listOf(strategy.variants).map(fieldsOf);
  const variants = own.length > 0 ? own : shared;
  const when = every([
    ownTest(strategy, place),
    isStickable(strategy),
    readConstraints(strategy.constraints),
    ...listOf(strategy.segments).map(segmentTest),
  ]);
  const name = textOf(strategy.title);
  const disabled = strategy.disabled === true;
  /** Serves one variant to the percentage that the strategy reaches. */
  const reached = (variant: string): Outcome => {
    const rollout = rolloutOf(strategy, feature);
    if (rollout === undefined) return variant;
    const { share, by, seed } = rollout;
    const shares = share > 0 ? [{ variant, share }] : [];
    return { shares, by, seed, exactIf: neededBy(shares, by) };
  };
  if (!isVariant) return [{ name, when, serve: () => reached("on"), disabled }];
  const overrides = variants.flatMap((variant) =>
    listOf(variant.overrides)
      .map(fieldsOf)
      .map(({ contextName, values }) => ({
        name: `override-${String(variant.name)}`,
        when: every([
          when,
          equals(attributeOf(String(contextName)), listOf(values).map(String), { loose: true }),
        ]),
        serve: () => reached(String(variant.name)),
        disabled,
      })),
  );
  const serve = () =>
    variants.length === 0
      ? reached(noVariant)
      : splitVariants(variants, rolloutOf(strategy, feature));
  return [...overrides, { name, when, serve, disabled }];
};
