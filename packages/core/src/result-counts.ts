// Counts how often a flag returned each of its variants, and how often each of its rules decided.
import type { EvaluatedFlag } from "./evaluate.ts";

/** Maximum variants, and maximum rules, in a report. A flag has fewer, but can change between reports. */
export const maxReportedNames = 60;

export type Counts = Readonly<Record<string, number>>;

/** Empty fields are left out. */
export interface ResultCounts {
  readonly variants?: Counts;
  readonly rules?: Counts;
}

/** Each count is an object, so that increasing it takes one lookup instead of two. */
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

/** Counts by name, so that they survive changes of the flag. */
export class ResultCounter {
  /** Counts by result until they are taken. A flag returns one object per result, which takes one lookup instead of two. */
  readonly #results = new Map<EvaluatedFlag, { count: number }>();
  readonly #variants: Cells = new Map();
  readonly #rules: Cells = new Map();

  /** For results that the flag returns as the same object every time. */
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

  /** Takes up to `max` of each name, and up to `maxNames` names of each kind. The rest remains. */
  take(max: number, maxNames = Number.POSITIVE_INFINITY): ResultCounts {
    this.#sort();
    const variants = takeFrom(this.#variants, max, maxNames);
    const rules = takeFrom(this.#rules, max, maxNames);
    return { ...(variants && { variants }), ...(rules && { rules }) };
  }
}
