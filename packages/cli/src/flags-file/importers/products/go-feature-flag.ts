// Reads GO Feature Flag's files: variations, targeting by queries, percentages and a default rule.
import { type Fields, fieldsOf, isFields, listOf, parsedJson, textOf } from "../../loose-values.ts";
import { readQuery } from "../conditions/go-feature-flag-query.ts";
import { readLogic } from "../conditions/json-logic.ts";
import type { Found } from "../convert.ts";
import { type Importer, notFrom, refuseEnvironment } from "../source.ts";
import { pathTo } from "../translate/leaves.ts";
import { always, CannotTranslate, impossible, type Test } from "../translate/logic.ts";
import { assemble, notImported, type Outcome, type OutlineRule } from "../translate/outline.ts";
import { sharesOf } from "../translate/split.ts";
import { offValue, severalTypes, valuesOf, variantNamed } from "../translate/values.ts";

/** A query can also be JsonLogic. */
const queryOf = (query: unknown): Test => {
  const text = textOf(query)?.trim();
  if (text === undefined) return always;
  if (!text.startsWith("{")) return readQuery(text);
  const logic = parsedJson(text);
  return logic === undefined ? impossible("has a query that is not JSON") : readLogic(logic);
};

interface Choice {
  readonly variations: Fields;
  readonly by: string | undefined;
}

/** A finished rollout keeps its final state. A running one changes over time, which Halyard does not support. */
const readProgressive = (progressive: Fields, choice: Choice): Outcome => {
  const [initial, end] = [fieldsOf(progressive.initial), fieldsOf(progressive.end)];
  const isOver = Date.parse(String(end.date)) <= Date.now();
  if (!isOver) throw new CannotTranslate("changes its percentage over time (progressiveRollout)");
  const percent = Number(end.percentage ?? 0);
  const reached = percent <= 0 || percent > 100 ? 100 : percent;
  const weights = [
    { variant: variantNamed(end.variation, choice.variations), weight: reached },
    { variant: variantNamed(initial.variation, choice.variations), weight: 100 - reached },
  ];
  return { shares: sharesOf(weights, 100), by: choice.by };
};

const serveOf =
  (rule: Fields, choice: Choice): (() => Outcome) =>
  () => {
    if (isFields(rule.progressiveRollout)) return readProgressive(rule.progressiveRollout, choice);
    const percentages = Object.entries(fieldsOf(rule.percentage));
    if (percentages.length === 0) return variantNamed(rule.variation, choice.variations);
    const weights = percentages.map(([name, weight]) => ({
      variant: variantNamed(name, choice.variations),
      weight: Number(weight),
    }));
    return { shares: sharesOf(weights), by: choice.by };
  };

/** Settings that change the flag over time. */
const timesOf = (flag: Fields): string[] => [
  ...(listOf(flag.scheduledRollout).length > 0 ? ["changes at set times (scheduledRollout)"] : []),
  ...(isFields(flag.experimentation) ? ["is on only between two times (experimentation)"] : []),
];

const readFlag = ([name, flag]: [string, Fields]): Found => {
  const variations = fieldsOf(flag.variations);
  const metadata = fieldsOf(flag.metadata);
  const description = textOf(metadata.description) ?? textOf(flag.description);
  const defaultRule = fieldsOf(flag.defaultRule);
  const off = textOf(defaultRule.variation) ?? Object.keys(variations)[0] ?? "";
  const values = valuesOf(variations, off);
  if (values === undefined) return { name, description, ...notImported(severalTypes) };
  const bucketingKey = textOf(flag.bucketingKey);
  const by = bucketingKey === undefined ? undefined : pathTo(bucketingKey.split("."));
  const choice = { variations, by };
  const isDisabled = flag.disable === true;
  const rules = listOf(flag.targeting)
    .map(fieldsOf)
    .map(
      (rule): OutlineRule => ({
        name: textOf(rule.name),
        when: queryOf(rule.query),
        serve: serveOf(rule, choice),
        disabled: rule.disable === true,
      }),
    );
  const assembled = assemble({
    enabled: !isDisabled,
    values,
    rules,
    otherwise: serveOf(defaultRule, choice),
    owner: textOf(metadata.owner),
  });
  const asleep = isDisabled
    ? [
        `is disabled: GO Feature Flag then returns the default in the code, Halyard returns ${offValue(values)}`,
      ]
    : [];
  return {
    name,
    description,
    ...assembled,
    reasons: [...timesOf(flag), ...assembled.reasons],
    notes: [...assembled.notes, ...asleep],
  };
};

export const readGoFeatureFlag: Importer = (source) => {
  const flags = Object.entries(fieldsOf(source.value)).map(
    ([name, flag]) => [name, fieldsOf(flag)] as [string, Fields],
  );
  const isFile =
    flags.length > 0 && flags.every(([, flag]) => "variations" in flag && "defaultRule" in flag);
  if (!isFile) {
    throw notFrom(
      "GO Feature Flag",
      'flags by name, each with "variations" and "defaultRule", are expected',
    );
  }
  refuseEnvironment("GO Feature Flag", source, "its files have no environments");
  return { found: flags.map(readFlag) };
};
