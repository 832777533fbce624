// What is edited as the targeting of a flag: its rules and all else that decides who gets what, as the API has it.
import { memberOf } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import {
  choiceOf,
  type Flag,
  ownMembersOf,
  type PatchFlag,
  targetingMembersOf,
} from "@halyard/core/flags/registry";
import { isObject, type Members, type ValidationError } from "@halyard/core/targeting/mistakes";
import { withRuleIds } from "@halyard/core/targeting/rule-ids";

export interface TargetingDraft {
  /** Members that this page does not know are kept. */
  readonly members: Members;
  /** The JSON as it was typed, while that is not how the page would write it. */
  readonly typed?: string;
}

/** A rule as it is edited: anything may be missing or wrong. */
export interface DraftRule {
  readonly id?: string;
  readonly description?: string;
  readonly disabled?: boolean;
  readonly when?: unknown;
  readonly serve?: unknown;
}

/** They have forms of their own: JSON without them takes none of them away. */
const elsewhere: readonly string[] = ["requires", "tags", "owner"];

const namesOf = (type: string): readonly string[] => [
  ...ownMembersOf(type)
    .filter(([, { isOptional }]) => isOptional === true)
    .map(([name]) => name),
  ...targetingMembersOf(type)
    .map(([name]) => name)
    .filter((name) => !elsewhere.includes(name)),
];

export const readTargeting = (flag: Flag): TargetingDraft => ({
  members: Object.fromEntries(
    namesOf(flag.type)
      .map((name) => [name, memberOf(flag, name)] as const)
      .filter(([, value]) => value !== undefined),
  ),
});

/** What is not there is taken away. */
export const patchOf = (type: string, { members }: TargetingDraft): PatchFlag => ({
  ...Object.fromEntries(namesOf(type).map((name) => [name, null])),
  ...members,
});

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === "string";

const isRule = (value: unknown): value is DraftRule =>
  isObject(value) && isTextOrNone(value.id) && isTextOrNone(value.description);

/** Undefined when the JSON has something else than a list of rules. */
export const rulesOf = ({ rules = [] }: Members): readonly DraftRule[] | undefined =>
  Array.isArray(rules) && rules.every(isRule) ? rules : undefined;

/** What goes with the last rule goes too. */
export const withRules = (type: string, members: Members, rules: readonly DraftRule[]): Members => {
  if (rules.length > 0) return { ...members, rules };
  const gone = ownMembersOf(type)
    .filter(([, { onlyWith }]) => onlyWith === "rules")
    .map(([name]) => name);
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => name !== "rules" && !gone.includes(name)),
  );
};

/** Without the member, of a text that is empty. */
export const withText = (members: Members, name: string, text: string): Members => {
  const { [name]: _, ...rest } = members;
  return text === "" ? rest : { ...members, [name]: text };
};

export const variantsOf = (flag: Flag): readonly string[] => Object.keys(choiceOf(flag).variants);

export const newRule = (flag: Flag, rules: readonly DraftRule[]): DraftRule => {
  const { variants, off } = choiceOf(flag);
  const serve = Object.keys(variants).find((name) => name !== off) ?? off;
  const rule: DraftRule = { when: { attribute: "", op: "in", values: [] }, serve };
  return withRuleIds([...rules, rule]).at(-1) ?? rule;
};

/** With an id of its own. */
export const copyOf = (rule: DraftRule, rules: readonly DraftRule[]): DraftRule => {
  const taken = new Set(rules.map(({ id }) => id));
  const base = `${rule.id ?? "rule"}-copy`.slice(0, 120);
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base}-${number}`;
  return { ...rule, id };
};

/** As the server will say it. */
export const mistakesIn = (flag: Flag, draft: TargetingDraft): readonly ValidationError[] => {
  const changed = applyPatch(flag, patchOf(flag.type, draft));
  return changed.ok ? [] : changed.errors;
};

/** False of a flag that a newer version has written: then the server alone says what is right. */
export const isUnderstood = (flag: Flag): boolean =>
  mistakesIn(flag, readTargeting(flag)).length === 0;

const stepsOf = (place: string): readonly string[] =>
  place.split(/[.[\]]+/).filter((step) => step !== "");

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0);

/** Whether something stands at the place already; what is empty is only not filled in yet. */
export const isFilledIn = (members: Members, place: string): boolean => {
  let value: unknown = members;
  for (const step of stepsOf(place)) {
    value = typeof value === "object" && value !== null ? (value as Members)[step] : undefined;
  }
  return !isEmpty(value);
};

/** The rule that a place lies in. */
export const ruleAt = (place: string): number | undefined => {
  const index = /^rules\[(\d+)\]/.exec(place)?.[1];
  return index === undefined ? undefined : Number(index);
};

const wordsFor: Readonly<Record<string, string>> = {
  when: "condition",
  serve: "serve",
  id: "name",
  otherwise: "everyone else",
  op: "comparison",
};

/** "Rule beta, condition 2.1, values" of `rules[1].when.all[1].any[0].values`. */
export const nameOfPlace = (place: string, rules: readonly DraftRule[]): string => {
  const index = ruleAt(place);
  const rest = index === undefined ? place : place.replace(/^rules\[\d+\]\.?/, "");
  const numbers = [...rest.matchAll(/\b(?:all|any)\[(\d+)\]/g)].map(([, at]) => Number(at) + 1);
  const last = rest
    .replace(/\[\d+\]/g, "")
    .split(".")
    .filter((step) => !["when", "all", "any", "not", ""].includes(step));
  const isCondition = rest.startsWith("when");
  const condition = numbers.length > 0 ? `condition ${numbers.join(".")}` : "condition";
  const parts = [
    ...(index === undefined ? [] : [`rule ${rules[index]?.id ?? index + 1}`]),
    ...(isCondition ? [condition] : []),
    ...last.map((step) => wordsFor[step] ?? step),
  ];
  const text = parts.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
};
