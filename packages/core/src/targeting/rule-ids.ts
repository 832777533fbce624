// Gives every rule an id, which history, usage and explanations refer to.
import { isObject } from "./mistakes.ts";

export const maxRules = 50;

/** Rules without an id get `rule-N`, with the smallest free N. */
export const withRuleIds = <Rule extends { readonly id?: string }>(
  rules: readonly Rule[],
): readonly (Rule & { readonly id: string })[] => {
  // An invalid value is reported later, with its place.
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
