// Reads the flag files of GO Feature Flag: variations, targeting by queries, percentages and a default rule.
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import { readQuery } from "../conditions/go-feature-flag-query.ts";
import { readLogic } from "../conditions/json-logic.ts";
import type { Found } from "../convert.ts";
import { type Importer, notFrom, refuseEnvironment } from "../source.ts";
import { pathTo } from "../translate/leaves.ts";
import { always, CannotTranslate, impossible, type Test } from "../translate/logic.ts";
import { assemble, type Outcome, type OutlineRule } from "../translate/outline.ts";
import { sharesOf } from "../translate/split.ts";
import { onOff, onOrOff, severalTypes, typeOfAll, type Values } from "../translate/values.ts";

/** A query may be JsonLogic as well. */
const queryOf = (query: unknown): Test => {
  const text = textOf(query)?.trim();
  if (text === undefined) return always;
  if (!text.startsWith("{")) return readQuery(text);
  try {
    return readLogic(JSON.parse(text));
  } catch {
    return impossible("has a query that is not JSON");
  }
};

interface Choice {
  readonly variations: Fields;
  readonly by: string | undefined;
}

const variantOf = (name: unknown, { variations }: Choice): string => {
  if (typeof name !== "string" || !Object.hasOwn(variations, name)) {
    throw new CannotTranslate(`names the variation ${String(name)}, which it does not have`);
  }
  return typeof variations[name] === "boolean" ? onOrOff(variations[name]) : name;
};

/** Finished ones stay as they ended; others change by themselves, which nothing in Halyard does. */
const readProgressive = (progressive: Fields, choice: Choice): Outcome => {
  const [initial, end] = [fieldsOf(progressive.initial), fieldsOf(progressive.end)];
  const isOver = Date.parse(String(end.date)) <= Date.now();
  if (!isOver) throw new CannotTranslate("raises its percentage by itself (progressiveRollout)");
  const percent = Number(end.percentage ?? 0);
  const reached = percent <= 0 || percent > 100 ? 100 : percent;
  const weights = [
    { variant: variantOf(end.variation, choice), weight: reached },
    { variant: variantOf(initial.variation, choice), weight: 100 - reached },
  ];
  return { shares: sharesOf(weights, 100), by: choice.by };
};

const serveOf =
  (rule: Fields, choice: Choice): (() => Outcome) =>
  () => {
    if (isFields(rule.progressiveRollout)) return readProgressive(rule.progressiveRollout, choice);
    const percentages = Object.entries(fieldsOf(rule.percentage));
    if (percentages.length === 0) return variantOf(rule.variation, choice);
    const weights = percentages.map(([name, weight]) => ({
      variant: variantOf(name, choice),
      weight: Number(weight),
    }));
    return { shares: sharesOf(weights), by: choice.by };
  };

/** What makes a flag change without anybody changing it. */
const timesOf = (flag: Fields): string[] => [
  ...(listOf(flag.scheduledRollout).length > 0
    ? ["changes by itself at set times (scheduledRollout)"]
    : []),
  ...(isFields(flag.experimentation) ? ["is on between two times only (experimentation)"] : []),
];

const readFlag = ([name, flag]: [string, Fields]): Found => {
  const variations = fieldsOf(flag.variations);
  const metadata = fieldsOf(flag.metadata);
  const description = textOf(metadata.description) ?? textOf(flag.description);
  const valueType = typeOfAll(Object.values(variations));
  if (valueType === undefined) {
    return {
      name,
      description,
      draft: { type: "boolean", enabled: false },
      reasons: [severalTypes],
    };
  }
  const bucketingKey = textOf(flag.bucketingKey);
  const by = bucketingKey === undefined ? undefined : pathTo(bucketingKey.split("."));
  const choice = { variations, by };
  const defaultRule = fieldsOf(flag.defaultRule);
  const off = textOf(defaultRule.variation) ?? Object.keys(variations)[0] ?? "";
  const values: Values =
    valueType === "boolean"
      ? onOff
      : {
          valueType,
          variants: variations as Extract<Values, { variants: object }>["variants"],
          off,
        };
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
  const gives = valueType === "boolean" ? "false" : off;
  const asleep = isDisabled
    ? [
        `is disabled: GO Feature Flag then returns the default in the code, Halyard returns ${gives}`,
      ]
    : [];
  return {
    name,
    description,
    draft: assembled.draft,
    isNarrower: assembled.isNarrower,
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
