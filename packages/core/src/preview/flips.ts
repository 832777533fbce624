// Counts the flips of one flag: what each context got before a change, and what it gets after it.
import { isSameValue } from "../difference.ts";
import {
  type EvaluatedFlag,
  type Evaluation,
  type FlagValue,
  fixedFlag,
  type PreparedFlag,
  type Reason,
} from "../evaluate.ts";
import { choiceOf, type Flag } from "../flags/registry.ts";
import { intervalOf } from "./interval.ts";

/** What a flag gives: a value, or an error. */
export type Outcome =
  | {
      readonly variant: string;
      /** Absent when it is long. */
      readonly value?: FlagValue;
      /** Null when no rule decided. */
      readonly rule: string | null;
      readonly reason: Reason;
    }
  | { readonly errorCode: string };

/** In percent, with the interval in which it lies in 95 of 100 samples; null without a sample. */
export interface Shares {
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

const none: Shares = { share: null, low: null, high: null };
export const sharesOf = (count: number, of: number): Shares => intervalOf(count, of) ?? none;

/** Contexts with the same results on both sides. */
export interface Pair {
  readonly from: Evaluation;
  readonly to: Evaluation;
  readonly isChange: boolean;
  count: number;
  /** Of the first contexts. */
  readonly examples: number[];
}

/** So many characters of JSON: longer values are told apart by their variant. */
const longestValue = 1_024;

/** Shown as an error, and compared as a value. */
interface AbsentResult extends EvaluatedFlag {
  readonly errorCode: "FLAG_NOT_FOUND";
}

/** A flag that is not there. Programs have their own default then, which is nearly always the value while it is off. */
export const absentFlag = (other: Flag): PreparedFlag => {
  const { variants, off } = choiceOf(other);
  const result: AbsentResult = {
    value: variants[off] ?? false,
    variant: off,
    reason: "DEFAULT",
    errorCode: "FLAG_NOT_FOUND",
  };
  return fixedFlag(result);
};

const comparable = (evaluation: Evaluation): unknown =>
  "value" in evaluation ? { value: evaluation.value } : { errorCode: evaluation.errorCode };

/** The value counts: another reason alone changes nothing for anybody. */
const isChange = (from: Evaluation, to: Evaluation): boolean =>
  !isSameValue(comparable(from), comparable(to));

export const shown = (evaluation: Evaluation): Outcome => {
  if ("errorCode" in evaluation) return { errorCode: evaluation.errorCode };
  const { variant, value, rule = null, reason } = evaluation;
  const isLong = typeof value !== "boolean" && JSON.stringify(value).length > longestValue;
  return { variant, ...(!isLong && { value }), rule, reason };
};

/** Finds the pair of two results. Evaluations give the same few objects again and again. */
export const createPairs = () => {
  const pairs = new Map<Evaluation, Map<Evaluation, Pair>>();
  return {
    of(from: Evaluation, to: Evaluation): Pair {
      let row = pairs.get(from);
      if (row === undefined) {
        row = new Map();
        pairs.set(from, row);
      }
      let pair = row.get(to);
      if (pair === undefined) {
        pair = { from, to, isChange: isChange(from, to), count: 0, examples: [] };
        row.set(to, pair);
      }
      return pair;
    },
    all: (): readonly Pair[] => [...pairs.values()].flatMap((row) => [...row.values()]),
  };
};
export type Pairs = ReturnType<typeof createPairs>;
