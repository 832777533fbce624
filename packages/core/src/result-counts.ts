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

/** One lookup for each count: to set the number anew would take a second one. */
type Cells = Map<string, { count: number }>;

const increase = (cells: Cells, name: string, by: number): void => {
  const cell = cells.get(name);
  if (cell === undefined) cells.set(name, { count: by });
  else cell.count += by;
};

const takeFrom = (cells: Cells, max: number, maxNames: number): Counts | undefined => {
  if (cells.size === 0) return undefined;
  const taken: Record<string, number> = {};
  let names = 0;
  for (const [name, cell] of cells) {
    names += 1;
    if (names > maxNames) break;
    taken[name] = Math.min(cell.count, max);
    cell.count -= max;
    if (cell.count <= 0) cells.delete(name);
  }
  return taken;
};

/** By name, so that counts outlive a change of the flag. */
export class ResultCounter {
  /** Until they are taken: a flag has one object for each result, and finding it is one lookup instead of two. */
  readonly #results = new Map<EvaluatedFlag, { count: number }>();
  readonly #variants: Cells = new Map();
  readonly #rules: Cells = new Map();

  /** Of a result that the flag gives again and again as the same object. */
  count(result: EvaluatedFlag): void {
    const cell = this.#results.get(result);
    if (cell === undefined) this.#results.set(result, { count: 1 });
    else cell.count += 1;
  }

  #sort(): void {
    for (const [{ variant, rule }, { count }] of this.#results) {
      increase(this.#variants, variant, count);
      if (rule !== undefined) increase(this.#rules, rule, count);
    }
    this.#results.clear();
  }

  add({ variants = {}, rules = {} }: ResultCounts): void {
    for (const name of Object.keys(variants)) increase(this.#variants, name, variants[name] ?? 0);
    for (const name of Object.keys(rules)) increase(this.#rules, name, rules[name] ?? 0);
  }

  clear(): void {
    this.#results.clear();
    this.#variants.clear();
    this.#rules.clear();
  }

  /** At most `max` of each name, and at most so many names of each kind; the rest stays. */
  take(max: number, maxNames = Number.POSITIVE_INFINITY): ResultCounts {
    this.#sort();
    const variants = takeFrom(this.#variants, max, maxNames);
    const rules = takeFrom(this.#rules, max, maxNames);
    return { ...(variants && { variants }), ...(rules && { rules }) };
  }
}
