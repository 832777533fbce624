// A rule as one sentence: "If plan is pro or team and not in segment embargoed, serve on to 25%."
// The command line shows conditions in the short form that it takes; this is for reading only.
import { type Condition, isEveryone } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import { isObject } from "@halyard/core/targeting/mistakes";
import { formatPercent } from "../format.ts";
import { labelOfOperator } from "./operator-labels.ts";
import { isServe, sharesOf, sumOf } from "./split/shares.ts";

/** More are counted. */
const shownValues = 5;

const isOddText = /^$|^\s|\s$|["(),]/;
/** Where numbers and booleans can stand too. */
const isLikeOther = /^(-?\d+(\.\d+)?|true|false)$/;

/** Texts that could be read as something else stand in quotation marks. */
const scalar = (value: unknown, isTyped = false): string => {
  const isPlain =
    typeof value === "string" && !isOddText.test(value) && !(isTyped && isLikeOther.test(value));
  return isPlain ? value : (JSON.stringify(value) ?? "…");
};

/** "pro, team or free"; the dots stand for what is not filled in yet. */
const listed = (values: unknown, word: string, isTyped = false): string => {
  if (!Array.isArray(values) || values.length === 0) return "…";
  const shown = values.length > shownValues ? values.slice(0, shownValues - 1) : values;
  const texts: string[] = shown.map((value) => scalar(value, isTyped));
  const more = values.length - shown.length;
  if (more > 0) texts.push(`${more} more`);
  const last = texts.pop() ?? "";
  return texts.length === 0 ? last : `${texts.join(", ")} ${word} ${last}`;
};

const attributePhrase = (condition: AttributeCondition): string => {
  const { op, value, values, ignoreCase, as } = condition;
  const name = condition.attribute === "" ? "…" : condition.attribute;
  if (op === "exists") return `${name} is ${value === false ? "not known" : "known"}`;
  const more = ignoreCase === true ? " (in any case)" : as === "number" ? " (as a number)" : "";
  const isSingle = Array.isArray(values) && values.length === 1;
  if (op === "in") return `${name} is ${listed(values, "or", true)}${more}`;
  if (op === "notIn") {
    return isSingle
      ? `${name} is not ${listed(values, "or", true)}${more}`
      : `${name} is none of ${listed(values, "and", true)}${more}`;
  }
  const what = values === undefined ? (value === undefined ? "…" : scalar(value)) : undefined;
  return `${name} ${labelOfOperator(op)} ${what ?? listed(values, "or")}${more}`;
};

const listOf = (value: unknown): readonly Condition[] => (Array.isArray(value) ? value : []);

type Place = "alone" | "in all" | "in any";

const phrase = (condition: unknown, place: Place): string => {
  if (!isObject(condition)) return "…";
  if (isEveryone(condition)) return "everyone";
  const known = condition as Condition;
  if ("not" in known) {
    const inner = phrase(known.not, "alone");
    const isPlain = isObject(known.not) && "segment" in known.not;
    return isPlain ? `not ${inner}` : `not (${inner})`;
  }
  if ("segment" in known) {
    const text = `in segment ${listed(known.segment, "or")}`;
    return place === "in any" && text.includes(" or ") ? `(${text})` : text;
  }
  if ("attribute" in known) {
    const text = attributePhrase(known);
    return place === "in any" && text.includes(" or ") ? `(${text})` : text;
  }
  if (!("all" in known || "any" in known)) return "something that this page does not know";
  const [each, word] = "all" in known ? [listOf(known.all), "and"] : [listOf(known.any), "or"];
  const [only, second] = each;
  if (only === undefined) return "…";
  if (second === undefined) return phrase(only, place);
  const text = each.map((one) => phrase(one, word === "and" ? "in all" : "in any"));
  const joined = text.join(` ${word} `);
  return place === "alone" ? joined : `(${joined})`;
};

export const conditionPhrase = (condition: unknown): string => phrase(condition, "alone");

/** "on", or "on to 25% and off to 75%". Of each variant the shares together. */
export const servePhrase = (serve: unknown): string => {
  if (!isServe(serve) || serve.length === 0) return "…";
  if (typeof serve === "string") return serve;
  const parts = Object.entries(sharesOf(serve)).map(
    ([variant, share]) => `${variant} to ${formatPercent(share)}`,
  );
  const last = parts.pop() ?? "…";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
};

export interface SentenceRule {
  readonly when?: unknown;
  readonly serve?: unknown;
  readonly disabled?: boolean;
}

export const ruleSentence = ({ when, serve, disabled }: SentenceRule): string => {
  const isPartial = isServe(serve) && typeof serve !== "string" && sumOf(sharesOf(serve)) < 100;
  const rest = isPartial ? "; the others go on" : "";
  const whom = isEveryone(when) ? "Everyone:" : `If ${conditionPhrase(when)},`;
  const text = `${whom} serve ${servePhrase(serve)}${rest}.`;
  return disabled === true ? `Disabled: ${text}` : text;
};
