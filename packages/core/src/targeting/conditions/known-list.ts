// A list of a context, indexed once, so that values are found without scanning it.
import { asJson } from "./attribute.ts";
import { foldCase, isShortText, longestList, longestListText } from "./texts.ts";

/** The values that a condition looks for in a list, all of one type. */
export interface Wanted {
  readonly type: string;
  readonly folds: boolean;
  readonly list: readonly unknown[];
  /** Undefined for a short list. */
  readonly set: ReadonlySet<unknown> | undefined;
}

/** Binary search in a sorted list. A hash table would be vulnerable to crafted collisions. */
const hasNumber = (numbers: Float64Array, wanted: number): boolean => {
  let [low, high] = [0, numbers.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = numbers[middle] as number;
    if (found === wanted) return true;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
};

export class KnownList {
  /** With too many elements or characters, conditions on the list are unknown. */
  readonly isTooLong: boolean;
  readonly #length: number;
  /** The number of strings that are short enough to compare. */
  #textCount = 0;
  readonly #texts = new Set<string>();
  #folded: Set<string> | undefined;
  #numbers: Float64Array = new Float64Array();
  readonly #booleans: boolean[] = [];

  constructor(values: readonly unknown[]) {
    this.#length = values.length;
    let isTooLong = values.length > longestList;
    if (!isTooLong) {
      let characters = 0;
      const numbers: number[] = [];
      for (let index = 0; index < values.length; index += 1) {
        const value = asJson(values[index], index);
        if (typeof value === "string") {
          characters += value.length;
          if (!isShortText(value)) continue;
          this.#textCount += 1;
          this.#texts.add(value);
        } else if (typeof value === "number") numbers.push(value);
        else if (typeof value === "boolean") this.#booleans.push(value);
      }
      isTooLong = characters > longestListText;
      this.#numbers = Float64Array.from(numbers).sort();
    }
    this.isTooLong = isTooLong;
  }

  /** Whether every element has this type and is short enough to compare. */
  hasOnly(type: string): boolean {
    const counts = { string: this.#textCount, number: this.#numbers.length };
    return (
      (type in counts ? counts[type as keyof typeof counts] : this.#booleans.length) ===
      this.#length
    );
  }

  /** Whether the list contains one of these values. */
  hasAny({ type, folds, list, set }: Wanted): boolean {
    if (type === "number") return list.some((each) => hasNumber(this.#numbers, each as number));
    if (type === "boolean") return list.some((each) => this.#booleans.includes(each as boolean));
    if (folds) this.#folded ??= new Set([...this.#texts].map(foldCase));
    const texts = folds ? (this.#folded as Set<string>) : this.#texts;
    if (set === undefined || list.length <= texts.size) {
      return list.some((each) => texts.has(each as string));
    }
    for (const text of texts) if (set.has(text)) return true;
    return false;
  }
}
