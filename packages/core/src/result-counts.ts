// How often a flag gave each of its variants, and how often each of its rules decided.
import type { EvaluatedFlag } from "./evaluate.ts";

/** Of variants, and of rules, in a report: more than a flag has, as it may have changed since the last one. */
export const maxReportedNames = 60;

export type Counts = Readonly<Record<string, number>>;

/** A member that would be empty is left out. */
export interface ResultCounts {
  readonly variants?: Counts;
  readonly rules?: Counts;
}

const increase = (counts: Map<string, number>, name: string, by: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + by);
};

const takeFrom = (
  counts: Map<string, number>,
  max: number,
  maxNames: number,
): Counts | undefined => {
  if (counts.size === 0) return undefined;
  const taken: Record<string, number> = {};
  let names = 0;
  for (const [name, count] of counts) {
    names += 1;
    if (names > maxNames) break;
    taken[name] = Math.min(count, max);
    if (count > max) counts.set(name, count - max);
    else counts.delete(name);
  }
  return taken;
};

/** By name and not by result, so that counts outlive a change of the flag. */
export class ResultCounter {
  readonly #variants = new Map<string, number>();
  readonly #rules = new Map<string, number>();

  count({ variant, rule }: EvaluatedFlag): void {
    increase(this.#variants, variant, 1);
    if (rule !== undefined) increase(this.#rules, rule, 1);
  }

  add({ variants = {}, rules = {} }: ResultCounts): void {
    for (const name of Object.keys(variants)) increase(this.#variants, name, variants[name] ?? 0);
    for (const name of Object.keys(rules)) increase(this.#rules, name, rules[name] ?? 0);
  }

  /** At most `max` of each name, and at most so many names of each kind; the rest stays. */
  take(max: number, maxNames = Number.POSITIVE_INFINITY): ResultCounts {
    const variants = takeFrom(this.#variants, max, maxNames);
    const rules = takeFrom(this.#rules, max, maxNames);
    return { ...(variants && { variants }), ...(rules && { rules }) };
  }
}
