// Formats the explanation of an evaluation as a tree of lines.
import { choiceOf } from "@halyard/core/flags/registry";
import { formatServe } from "@halyard/core/flags/variant";
import { thousandthsOf } from "@halyard/core/percentage";
import { isEveryone } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import type {
  ExplainedCondition,
  ExplainedRequirement,
  ExplainedRule,
  ShownTruth,
} from "@halyard/core/targeting/explain";
import type { Serve } from "@halyard/core/targeting/targeting";
import type { Management, Success } from "@halyard/sdk/management";
import { colored, inOneLine } from "./output.ts";
import { attributeText } from "./targeting-text.ts";

type Explained = Awaited<ReturnType<Management["flags"]["explain"]>>;
type FlagExplanation = Extract<Explained, Success<unknown>>["value"];
type Bucket = FlagExplanation["bucket"];

const styles = { true: "green", false: "red", unknown: "yellow" } as const;

const resultText = (result: ShownTruth): string => {
  const word = String(result) as keyof typeof styles;
  return colored(styles[word], word.padEnd(7));
};

const line = (depth: number, result: ShownTruth, text: string): string =>
  inOneLineWith(resultText(result), `${"  ".repeat(depth)}${text}`);

/** Results are colored on a terminal, but the rest of the line is not. */
const inOneLineWith = (result: string, text: string): string => `  ${result}  ${inOneLine(text)}`;

const foundText = (condition: AttributeCondition & { readonly found?: unknown }): string =>
  "found" in condition
    ? `${condition.attribute} is ${JSON.stringify(condition.found)}`
    : `${condition.attribute} is missing`;

const conditionLines = (condition: ExplainedCondition, depth: number): readonly string[] => {
  const { result } = condition;
  const inner = (each: readonly ExplainedCondition[]) =>
    each.flatMap((one) => conditionLines(one, depth + 1));
  if (isEveryone(condition)) return [line(depth, result, "everyone")];
  if ("all" in condition) return [line(depth, result, "all of"), ...inner(condition.all)];
  if ("any" in condition) return [line(depth, result, "any of"), ...inner(condition.any)];
  if ("not" in condition) return [line(depth, result, "not"), ...inner([condition.not])];
  if ("segment" in condition) {
    const [only, second] = condition.segment;
    if (only !== undefined && second === undefined) {
      return [line(depth, result, `segment ${only.key}`)];
    }
    const each = condition.segment.map(({ key, result: is }) => line(depth + 1, is, key));
    return [line(depth, result, "in a segment of"), ...each];
  }
  return [line(depth, result, `${attributeText(condition)}: ${foundText(condition)}`)];
};

/** Whether the split's shares include the bucket. */
const reaches = (serve: Serve, bucket: Bucket): boolean => {
  if (typeof serve === "string" || bucket.percentage === null) return true;
  const sum = serve.reduce((total, { share }) => total + thousandthsOf(share), 0);
  return sum >= thousandthsOf(bucket.percentage);
};

const ruleOutcome = ({ decided, disabled, when, serve }: ExplainedRule, bucket: Bucket) => {
  if (decided) return ", which decides";
  if (disabled === true) return ", disabled";
  const isMissed = when.result === true && !reaches(serve, bucket);
  return isMissed ? ", whose shares do not reach this bucket" : "";
};

const ruleLines = (rules: readonly ExplainedRule[], bucket: Bucket): readonly string[] =>
  rules.flatMap((rule) => [
    line(
      0,
      rule.when.result,
      `rule ${rule.id} → ${formatServe(rule.serve)}${ruleOutcome(rule, bucket)}`,
    ),
    ...conditionLines(rule.when, 1),
  ]);

const requirementLine = ({ flag, variant, found, met }: ExplainedRequirement): string => {
  const gives =
    found === null
      ? "there is no such flag"
      : "errorCode" in found
        ? found.errorDetails
        : `it is ${found.variant}`;
  return line(0, met, `requires ${flag} = ${variant}: ${gives}`);
};

const bucketLine = ({ by, seed, value, percentage }: Bucket): string =>
  inOneLine(
    value === null
      ? `  bucket   none: the context has no usable ${by}`
      : `  bucket   ${percentage}%, by ${by} ${JSON.stringify(value)} with the seed ${JSON.stringify(seed)}`,
  );

const reasons: Readonly<Record<string, string>> = {
  STATIC: "the same for everyone",
  DISABLED: "the flag is disabled",
  SPLIT: "by the bucket",
  TARGETING_MATCH: "by a rule",
  DEFAULT: "by the default rule",
  PREREQUISITE_FAILED: "a prerequisite is not met",
};

const headLine = (explained: FlagExplanation, forWhom: string): string => {
  const { key } = explained.flag;
  if ("errorCode" in explained) {
    return `${key} has no value${forWhom}: ${explained.errorCode}. ${explained.errorDetails}`;
  }
  const { value, variant, reason, rule } = explained;
  const shown = typeof value === "boolean" ? "" : `: ${JSON.stringify(value)}`;
  const why = `${reason}, ${reasons[reason] ?? "for another reason"}${rule === undefined ? "" : ` (${rule})`}`;
  return `${key} is ${variant}${forWhom}${shown}\n  reason   ${why}`;
};

export const explanationLines = (
  explained: FlagExplanation,
  whom: string | undefined,
): readonly string[] => {
  const { flag, requires, rules, bucket } = explained;
  const forWhom = whom === undefined ? "" : ` for ${whom}`;
  const usesBucket = flag.type === "rollout" || JSON.stringify(flag).includes('"share"');
  const otherwise = formatServe(choiceOf(flag).otherwise);
  return [
    ...headLine(explained, forWhom).split("\n").map(inOneLine),
    ...requires.map(requirementLine),
    ...ruleLines(rules, bucket),
    inOneLine(`  ${rules.length > 0 ? "otherwise" : "serves   "} ${otherwise}`),
    ...(usesBucket ? [bucketLine(bucket)] : []),
  ];
};
