// Reads GrowthBook's features: definitions for its SDKs, or pages of its REST API.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import {
  attributeOf,
  type ConditionReader,
  conditionReader,
} from "../conditions/growthbook-conditions.ts";
import type { Found } from "../convert.ts";
import { type Importer, notFrom } from "../source.ts";
import { equals, isSet, listTypesOf, targetingKey } from "../translate/leaves.ts";
import {
  always,
  CannotTranslate,
  every,
  exactIf,
  impossible,
  never,
  opposite,
  type Test,
} from "../translate/logic.ts";
import {
  assemble,
  notImported,
  type Outcome,
  type OutlineRule,
  type Prerequisites,
} from "../translate/outline.ts";
import { createSegmentBook, type SegmentBook } from "../translate/segments.ts";
import { isForAll, sharesOf } from "../translate/split.ts";
import {
  nameValues,
  offValue,
  onOff,
  onOrOff,
  severalTypes,
  typeOfAll,
  type Values,
} from "../translate/values.ts";
import { type Feature, readFile } from "./growthbook-api.ts";

/** The saved groups of a file. Each becomes a segment for each attribute that it is used with. */
const groupReader = (groups: Fields, book: SegmentBook) => {
  const made = new Map<string, Test>();
  const testOf = (id: string, attribute: string): Test => {
    const place = `${id} ${attribute}`;
    const before = made.get(place);
    if (before !== undefined) return before;
    const group = groups[id];
    const values = Array.isArray(group) ? group : fieldsOf(group).values;
    if (!Array.isArray(values))
      return impossible(`uses the saved group ${id}, whose values are not in the file`);
    const isFirst = ![...made.keys()].some((known) => known.startsWith(`${id} `));
    const name = textOf(fieldsOf(group).name) ?? id;
    const scalars = values as Scalar[];
    const among = exactIf(equals(attribute, scalars), attribute, { no: listTypesOf(scalars) });
    const isKeys = attribute === targetingKey;
    const test = book.add({
      name: isFirst ? name : `${name}-${attribute}`,
      include: isKeys ? values.map(String) : [],
      when: isKeys ? never : among,
    });
    // A context without the attribute is not in the group.
    const whole = { ...among, yes: test.yes, no: opposite(among).yes };
    made.set(place, whole);
    return whole;
  };
  return testOf;
};

interface Choice {
  readonly values: Values;
  readonly nameOf: (value: unknown) => string;
}

const valuesIn = ({ definition }: Feature): unknown[] => [
  definition.defaultValue,
  ...listOf(definition.rules)
    .map(fieldsOf)
    .flatMap((rule) => ["force" in rule ? [rule.force] : [], listOf(rule.variations)])
    .flat(),
];

/** Undefined if the values are of several types. */
const readChoice = (feature: Feature): Choice | undefined => {
  const values = valuesIn(feature);
  const valueType = typeOfAll(values);
  if (valueType === undefined) return undefined;
  if (valueType === "boolean") return { values: onOff, nameOf: onOrOff };
  const { variants, names } = nameValues(values);
  const texts = values.map((value) => JSON.stringify(value));
  const nameOf = (value: unknown) => names[texts.indexOf(JSON.stringify(value))] ?? "";
  return { values: { valueType, variants, off: nameOf(feature.definition.defaultValue) }, nameOf };
};

const isFraction = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= 1;

/** Adjacent hash ranges that start at zero are equivalent to weights. */
const weightsFrom = (ranges: readonly unknown[]): number[] => {
  let end = 0;
  return ranges.map((range) => {
    const [from, to] = listOf(range);
    if (from !== end || !isFraction(to)) throw new CannotTranslate("has ranges with gaps");
    const weight = to - end;
    end = to;
    return Math.round(weight * 1e6) / 1e6;
  });
};

const serveOf =
  (rule: Fields, id: string, { nameOf }: Choice): (() => Outcome) =>
  () => {
    const by = attributeOf(textOf(rule.hashAttribute) ?? "id");
    const bucket = { by: by === targetingKey ? undefined : by };
    const coverage = isFraction(rule.coverage) ? rule.coverage : 1;
    const percent = Math.round(coverage * 1e5) / 1e3;
    if ("force" in rule) {
      const variant = nameOf(rule.force);
      const [share] = Array.isArray(rule.range) ? weightsFrom([rule.range]) : [coverage];
      if (share === 1) return variant;
      const seed = textOf(rule.seed);
      return {
        shares: sharesOf([{ variant, weight: share ?? 0 }], 1),
        ...bucket,
        exactIf: [`${by} is present`],
        seed: seed === id ? undefined : seed,
      };
    }
    const variations = listOf(rule.variations);
    if (listOf(rule.meta).some((meta) => fieldsOf(meta).passthrough === true)) {
      throw new CannotTranslate("excludes users from other rules (holdout)");
    }
    // GrowthBook skips such a rule.
    if (variations.length < 2) return { shares: [] };
    const given = listOf(rule.weights).map(Number);
    const sum = given.reduce((all, weight) => all + weight, 0);
    const isValid = given.length === variations.length && sum >= 0.99 && sum <= 1.01;
    const even = variations.map(() => 1 / variations.length);
    const isRanged = Array.isArray(rule.ranges);
    const weights = isRanged ? weightsFrom(listOf(rule.ranges)) : isValid ? given : even;
    const shares = sharesOf(
      variations.map((value, index) => ({ variant: nameOf(value), weight: weights[index] ?? 0 })),
      1,
      isRanged ? 100 : percent,
    );
    const seed = textOf(rule.seed) ?? textOf(rule.key);
    const exactIf = isForAll(shares) ? [] : [`${by} is present`];
    return { shares, ...bucket, seed: seed === id ? undefined : seed, exactIf };
  };

/** The value that a prerequisite requires, if the condition is nothing else. */
const wantedValue = (condition: unknown): unknown => {
  const { value, ...others } = fieldsOf(condition);
  if (Object.keys(others).length > 0) return undefined;
  return isFields(value) && Object.keys(value).join() === "$eq" ? value.$eq : value;
};

interface Whole {
  readonly features: readonly Feature[];
  readonly readCondition: ConditionReader;
}

/** Prerequisites of the whole feature. */
const readGates = (rules: readonly Fields[], { features }: Whole): Prerequisites => {
  const { requires, reasons }: Prerequisites = { requires: [], reasons: [] };
  for (const { id, condition } of rules.flatMap((rule) =>
    listOf(rule.parentConditions).map(fieldsOf),
  )) {
    const flag = String(id);
    const parent = features.find((feature) => feature.id === flag);
    const choice = parent && readChoice(parent);
    const value = wantedValue(condition);
    if (parent === undefined || choice === undefined) {
      reasons.push(`requires ${flag}, which is not imported`);
      continue;
    }
    const variant = value === undefined || isFields(value) ? "" : choice.nameOf(value);
    if (variant === "") reasons.push(`requires ${flag} by a condition other than one value`);
    else if (variant === choice.values.off) {
      reasons.push(`requires ${flag} to be on and to return its off value`);
    } else requires.push({ flag, variant });
  }
  return { requires, reasons };
};

const isGate = (rule: Fields): boolean =>
  listOf(rule.parentConditions).some((parent) => fieldsOf(parent).gate === true);

/** Even with 100% coverage, a rule does not match a context without the hashed attribute. */
const isHashable = (rule: Fields): Test => {
  const isSplit = "variations" in rule || rule.coverage !== undefined || Array.isArray(rule.range);
  const isPartial = isFraction(rule.coverage) && rule.coverage < 1;
  if (!isSplit || isPartial || !isForEveryone(rule)) return always;
  const attribute = attributeOf(textOf(rule.hashAttribute) ?? "id");
  return exactIf(isSet(attribute), attribute, { yes: "not empty, zero or false" });
};

const isForEveryone = ({ range, weights, force }: Fields): boolean => {
  if (force !== undefined) return !Array.isArray(range) || (range[0] === 0 && range[1] === 1);
  return listOf(weights).includes(1);
};

const readRule = (
  rule: Fields,
  id: string,
  choice: Choice,
  { readCondition }: Whole,
): OutlineRule => {
  const isOpen = listOf(rule.parentConditions).length > 0;
  const isLimited = listOf(rule.filters).length > 0 || Array.isArray(rule.namespace);
  return {
    name: textOf(rule.id),
    disabled: rule.disabled === true,
    when: every([
      typeof rule.problem === "string" ? impossible(rule.problem) : always,
      isOpen
        ? impossible("applies only if another flag returns a value (parentConditions)")
        : always,
      isLimited ? impossible("is limited to an experiment namespace") : always,
      isHashable(rule),
      isFields(rule.condition) ? readCondition(rule.condition) : always,
    ]),
    serve: serveOf(rule, id, choice),
  };
};

const readFeature = (feature: Feature, whole: Whole): Found => {
  const { id: name, description, definition, enabled, tags, owner } = feature;
  const base = { name, description };
  const choice = readChoice(feature);
  if (feature.archived) return { ...base, archived: true, ...notImported("is archived") };
  if (feature.reason !== undefined) return { ...base, ...notImported(feature.reason) };
  if (choice === undefined) return { ...base, ...notImported(severalTypes) };
  const rules = listOf(definition.rules).map(fieldsOf);
  // Gates are only supported before all other rules. A later gate stops only users that earlier rules did not match.
  const first = rules.findIndex((rule) => !isGate(rule));
  const gates = first < 0 ? rules : rules.slice(0, first);
  const { requires, reasons } = readGates(gates, whole);
  const assembled = assemble({
    enabled,
    values: choice.values,
    requires,
    rules: [
      // A gate can also serve a value.
      ...gates
        .filter((rule) => "force" in rule || "variations" in rule)
        .map((rule) => ({ ...rule, parentConditions: [] })),
      ...rules.slice(gates.length),
    ].map((rule) => readRule(rule, name, choice, whole)),
    otherwise: choice.nameOf(definition.defaultValue),
    tags,
    owner,
  });
  const gives = offValue(choice.values);
  const gated =
    requires.length > 0
      ? [`returns the default in the code if a prerequisite is not met; Halyard returns ${gives}`]
      : [];
  const asleep = enabled
    ? []
    : [`is off: GrowthBook then returns the default in the code, Halyard returns ${gives}`];
  return {
    ...base,
    ...assembled,
    reasons: [...reasons, ...assembled.reasons],
    notes: [...assembled.notes, ...gated, ...asleep],
  };
};

export const readGrowthBook: Importer = (source) => {
  const file = readFile(source);
  if (file === undefined) {
    throw notFrom("GrowthBook", '"features" is expected, from its SDK endpoint or its REST API');
  }
  const book = createSegmentBook();
  const readCondition = conditionReader(file.groups, groupReader(file.groups, book));
  const whole = { features: file.features, readCondition };
  const found = file.features.map((feature) => readFeature(feature, whole));
  return { found, segments: book.found, remarks: book.remarks };
};
