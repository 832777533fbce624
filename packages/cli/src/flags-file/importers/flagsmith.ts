// Reads what Flagsmith exports: the features of an environment, or the environment document that its SDKs use.

import { type Fields, fieldsOf, isFields, listOf, textOf } from "../loose-values.ts";
import type { Found, State } from "./convert.ts";
import { notAPercentage, percentOf } from "./percentage.ts";
import { type Importer, notFrom, type Source } from "./source.ts";

const hasValue = (value: unknown): boolean => value !== null && value !== undefined && value !== "";

const valueReasons = (value: unknown, variants: unknown): string[] => [
  ...(hasValue(value) ? ["has a value besides on and off"] : []),
  ...(listOf(variants).length > 0 ? ["has variants"] : []),
];

const readFeature = (entry: unknown): Found => {
  const feature = fieldsOf(entry);
  return {
    name: textOf(feature.name) ?? "",
    description: textOf(feature.description),
    state: { type: "boolean", enabled: feature.enabled === true },
    reasons: valueReasons(feature.value, feature.multivariate),
  };
};

const exportRemark =
  "An export of features does not contain segment overrides, which Flagsmith uses for rollouts: to import rollouts, use the environment document.";

/** The percentage of a segment that consists of a percentage split only; otherwise the reason. */
const splitOf = (segment: Fields): { share: unknown } | { reason: string } => {
  let rules = listOf(segment.rules).map(fieldsOf);
  let [rule] = rules;
  while (
    rules.length === 1 &&
    rule !== undefined &&
    rule.type !== "NONE" &&
    listOf(rule.conditions).length === 0
  ) {
    rules = listOf(rule.rules).map(fieldsOf);
    [rule] = rules;
  }
  const conditions = listOf(rule?.conditions).map(fieldsOf);
  const [condition] = conditions;
  const isSplit =
    rules.length === 1 &&
    rule?.type !== "NONE" &&
    listOf(rule?.rules).length === 0 &&
    conditions.length === 1 &&
    condition?.operator === "PERCENTAGE_SPLIT";
  if (!isSplit) return { reason: `uses the segment ${String(segment.name)}` };
  const property = textOf(condition.property_) ?? textOf(condition.property);
  return property === undefined || property === "$.identity.key"
    ? { share: condition.value }
    : { reason: `uses ${property} instead of the identity` };
};

interface Override {
  readonly segment: Fields;
  readonly state: Fields;
}

const readOverride = (
  base: boolean,
  { segment, state }: Override,
): { state: State; reasons: string[] } => {
  const plain = { type: "boolean", enabled: base } as const;
  const reasons = valueReasons(state.feature_state_value, state.multivariate_feature_state_values);
  const split = splitOf(segment);
  if ("reason" in split) return { state: plain, reasons: [split.reason, ...reasons] };
  if ((state.enabled === true) === base) return { state: plain, reasons };
  const share = percentOf(split.share);
  if (share === undefined) reasons.push(notAPercentage(split.share));
  // On for everyone except a percentage means on for the rest.
  const thousandths = Math.round((share ?? 0) * 1_000);
  const percentage = (base ? 100_000 - thousandths : thousandths) / 1_000;
  return { state: { type: "rollout", enabled: true, percentage }, reasons };
};

const readEnvironment = (value: Fields, states: readonly unknown[]): Found[] => {
  const overrides = listOf(fieldsOf(value.project).segments)
    .map(fieldsOf)
    .flatMap((segment) =>
      listOf(segment.feature_states).map((state) => ({ segment, state: fieldsOf(state) })),
    );
  const personal = new Set(
    listOf(value.identity_overrides)
      .flatMap((identity) => listOf(fieldsOf(identity).identity_features))
      .map((state) => fieldsOf(fieldsOf(state).feature).name),
  );
  return states.map((entry): Found => {
    const state = fieldsOf(entry);
    const name = textOf(fieldsOf(state.feature).name) ?? "";
    const base = state.enabled === true;
    const own = overrides.filter((override) => fieldsOf(override.state.feature).name === name);
    const [only] = own;
    const read =
      only === undefined || own.length > 1
        ? { state: { type: "boolean", enabled: base } as const, reasons: [] }
        : readOverride(base, only);
    const reasons = [
      ...valueReasons(state.feature_state_value, state.multivariate_feature_state_values),
      ...(own.length > 1 ? [`is overridden for ${own.length} segments`] : read.reasons),
      ...(personal.has(name) ? ["is overridden for single identities"] : []),
    ];
    return {
      name,
      description: textOf(fieldsOf(state.feature).description),
      state: read.state,
      reasons: [...new Set(reasons)],
    };
  });
};

const checkEnvironment = ({ environment }: Source): void => {
  if (environment === undefined) return;
  throw notFrom("Flagsmith", "its files contain one environment each: omit --environment");
};

export const readFlagsmith: Importer = (source) => {
  const { value } = source;
  if (Array.isArray(value)) {
    if (!value.every((entry) => isFields(entry) && typeof entry.name === "string")) {
      throw notFrom("Flagsmith", 'a list of features with "name" and "enabled" is expected');
    }
    checkEnvironment(source);
    return { found: value.map(readFeature), remarks: [exportRemark] };
  }
  if (isFields(value) && Array.isArray(value.feature_states)) {
    checkEnvironment(source);
    return { found: readEnvironment(value, value.feature_states) };
  }
  throw notFrom(
    "Flagsmith",
    'a list of features, or an environment document with "feature_states", is expected',
  );
};
