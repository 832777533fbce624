// Caches work for one context: case folding, parsed strings, indexed lists, and decided segments and prerequisites.
import type { Evaluation } from "../evaluation.ts";
import { KnownList } from "./conditions/known-list.ts";
import { foldCase } from "./conditions/texts.ts";
import type { Truth } from "./conditions/truth.ts";

type Parse<T> = (text: string) => T;

/** Parsing shorter strings is faster than a lookup. */
const shortText = 16;

/** For one evaluation, or for all flags and one context, which must not change meanwhile. */
export class Turn {
  /** The current depth of prerequisites, and the number of flags that one flag may still evaluate. */
  depth = 0;
  left = 0;
  /** By flag key. */
  readonly evaluations = new Map<string, Evaluation>();
  #parsed: Map<Parse<unknown>, Map<string, unknown>> | undefined;
  #lists: Map<readonly unknown[], KnownList> | undefined;
  #segments: Map<object, Truth> | undefined;

  parse<T>(parse: Parse<T>, text: string): T {
    if (text.length <= shortText) return parse(text);
    this.#parsed ??= new Map();
    let results = this.#parsed.get(parse);
    if (results === undefined) {
      results = new Map();
      this.#parsed.set(parse, results);
    }
    if (!results.has(text)) results.set(text, parse(text));
    return results.get(text) as T;
  }

  fold(text: string): string {
    return this.parse(foldCase, text);
  }

  list(values: readonly unknown[]): KnownList {
    this.#lists ??= new Map();
    let list = this.#lists.get(values);
    if (list === undefined) {
      list = new KnownList(values);
      this.#lists.set(values, list);
    }
    return list;
  }

  /** `test` decides membership of the segment. */
  segment(test: object, decide: () => Truth): Truth {
    this.#segments ??= new Map();
    let truth = this.#segments.get(test);
    if (truth === undefined) {
      truth = decide();
      this.#segments.set(test, truth);
    }
    return truth;
  }
}

/** Folds or parses a string of the context, once per turn. */
export const parsed = <T>(parse: (text: string) => T, text: string, turn: Turn | undefined): T =>
  turn === undefined ? parse(text) : turn.parse(parse, text);
