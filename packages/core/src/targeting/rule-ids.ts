// Every rule has an id, so that history, usage and explanations can name it.
import { isObject } from "./mistakes.ts";

export const maxRules = 50;

/** The rules with an id each: those without get `rule-N`, the smallest free N. */
export const withRuleIds = <Rule extends { readonly id?: string }>(
  rules: readonly Rule[],
): readonly (Rule & { readonly id: string })[] => {
  // What is not a list of rules is refused later, with its place.
  if (rules.length > maxRules || !rules.every(isObject)) return rules as never;
  const taken = new Set(rules.map(({ id }) => id));
  let next = 1;
  return rules.map((rule) => {
    if (rule.id !== undefined) return { ...rule, id: rule.id };
    while (taken.has(`rule-${next}`)) next += 1;
    const id = `rule-${next}`;
    taken.add(id);
    return { id, ...rule };
  });
};
