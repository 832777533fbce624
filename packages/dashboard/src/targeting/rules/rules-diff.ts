// What changed in the rules and requirements of a flag, one line for each rule by its id and each requirement by its flag.

import { isSameValue } from "@halyard/core/difference";
import { isObject } from "@halyard/core/targeting/mistakes";
import type { Requirement, Rule } from "@halyard/core/targeting/targeting";
import { ruleSentence } from "../sentence.ts";

export interface LineChange {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The longest part of the list that is in order already: what is not in it has moved. */
const inOrder = (positions: readonly number[]): ReadonlySet<number> => {
  let best: readonly number[] = [];
  const endingAt = positions.map((): readonly number[] => []);
  for (const [index, position] of positions.entries()) {
    let longest: readonly number[] = [];
    for (let earlier = 0; earlier < index; earlier += 1) {
      const chain = endingAt[earlier] ?? [];
      if ((positions[earlier] ?? 0) < position && chain.length > longest.length) longest = chain;
    }
    endingAt[index] = [...longest, position];
    if (longest.length + 1 > best.length) best = [...longest, position];
  }
  return new Set(best);
};

const describe = (rule: Rule | undefined): string | undefined => rule && ruleSentence(rule);

const ruleChange = (
  id: string,
  before: Rule | undefined,
  after: Rule | undefined,
): LineChange[] => {
  const field = `rule ${id}`;
  if (isSameValue(before, after)) return [];
  const [was, is] = [describe(before), describe(after)];
  const [wasText, isText] = [before?.description, after?.description];
  const lines = was === is ? [] : [{ field, before: was, after: is }];
  if (wasText !== isText) {
    lines.push({ field: `${field}, description`, before: wasText, after: isText });
  }
  // What this page has no words for.
  return lines.length > 0
    ? lines
    : [{ field, before: JSON.stringify(before), after: JSON.stringify(after) }];
};

/** What a newer version has written may be anything. */
const listOf = <T>(value: readonly T[] | undefined): readonly T[] =>
  Array.isArray(value) ? value.filter((each: T) => isObject(each)) : [];

export const rulesDiff = (
  rulesBefore: readonly Rule[] | undefined,
  rulesAfter: readonly Rule[] | undefined,
): readonly LineChange[] => {
  const [before, after] = [listOf(rulesBefore), listOf(rulesAfter)];
  const old = new Map(before.map((rule, index) => [rule.id, { rule, index }]));
  const ids = new Set(after.map(({ id }) => id));
  const stays = after.flatMap(({ id }) => old.get(id)?.index ?? []);
  const unmoved = inOrder(stays);
  const current = after.flatMap((rule, index) => {
    const was = old.get(rule.id);
    const changes = ruleChange(rule.id, was?.rule, rule);
    if (was === undefined || unmoved.has(was.index)) return changes;
    const move: LineChange = {
      field: `rule ${rule.id}, place`,
      before: `${was.index + 1} of ${before.length}`,
      after: `${index + 1} of ${after.length}`,
    };
    return [...changes, move];
  });
  const removed = before.filter(({ id }) => !ids.has(id));
  return [...current, ...removed.flatMap((rule) => ruleChange(rule.id, rule, undefined))];
};

export const requirementsDiff = (
  requiredBefore: readonly Requirement[] | undefined,
  requiredAfter: readonly Requirement[] | undefined,
): readonly LineChange[] => {
  const [before, after] = [listOf(requiredBefore), listOf(requiredAfter)];
  const variantIn = (list: readonly Requirement[], flag: string) =>
    list.find((each) => each.flag === flag)?.variant;
  const flags = new Set([...before, ...after].map(({ flag }) => flag));
  return [...flags]
    .map((flag) => ({
      field: `requires ${flag}`,
      before: variantIn(before, flag),
      after: variantIn(after, flag),
    }))
    .filter((change) => change.before !== change.after);
};
