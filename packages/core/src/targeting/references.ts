// The flags and segments that a flag references, each with its place.
import type { Condition } from "./conditions/condition.ts";
import { isObject } from "./mistakes.ts";
import type { Rule, Serve, Targeting } from "./targeting.ts";

const listOf = <T>(value: readonly T[]): readonly T[] => (Array.isArray(value) ? value : []);

export interface Named {
  readonly key: string;
  /** Such as `rules[0].when.not.segment[1]`. */
  readonly place: string;
}

/** Accepts conditions that a newer version wrote. Unknown ones have no references. */
const segmentsIn = (condition: Condition, place: string): readonly Named[] => {
  if (!isObject(condition)) return [];
  const inEach = (list: readonly Condition[], name: string) =>
    listOf(list).flatMap((each, index) => segmentsIn(each, `${place}.${name}[${index}]`));
  if ("all" in condition) return inEach(condition.all, "all");
  if ("any" in condition) return inEach(condition.any, "any");
  if ("not" in condition) return segmentsIn(condition.not, `${place}.not`);
  if (!("segment" in condition)) return [];
  return listOf(condition.segment).map((key, index) => ({
    key,
    place: `${place}.segment[${index}]`,
  }));
};

/** The segments that the flag references. */
export const namedSegments = ({ rules = [] }: Targeting): readonly Named[] =>
  rules.flatMap(({ when }, index) => segmentsIn(when, `rules[${index}].when`));

/** The ids of the rules that reference the segment. Accepts flags that a newer version wrote. */
export const rulesNaming = ({ rules = [] }: Targeting, segment: string): readonly string[] =>
  listOf(rules)
    .filter((rule: Rule) => isObject(rule))
    .filter(({ when }) => segmentsIn(when, "").some(({ key }) => key === segment))
    .map(({ id }) => id);

const serves = (serve: Serve, variant: string): boolean =>
  typeof serve === "string" ? serve === variant : serve.some((each) => each.variant === variant);

/** Where the flag serves the variant, such as `rules[1].serve`. */
export const placesServing = (
  { rules = [] }: Targeting,
  rest: Readonly<Record<string, Serve>>,
  variant: string,
): readonly string[] => [
  ...Object.keys(rest).filter((name) => serves(rest[name] ?? "", variant)),
  ...rules.flatMap(({ serve }, index) => (serves(serve, variant) ? [`rules[${index}].serve`] : [])),
];
