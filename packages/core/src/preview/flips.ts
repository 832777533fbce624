// Counts changed evaluations of one flag: the result for each context before a change and after it.
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

/** The result of a flag: a value, or an error. */
export type Outcome =
  | {
      readonly variant: string;
      /** Absent if it is long. */
      readonly value?: FlagValue;
      /** Null if no rule decided. */
      readonly rule: string | null;
      readonly reason: Reason;
    }
  | { readonly errorCode: string };

/** In percent, with a 95% confidence interval; null without a sample. */
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
  /** The indexes of the first contexts. */
  readonly examples: number[];
}

/** Maximum characters of JSON. Longer values are distinguished by their variant. */
const longestValue = 1_024;

/** Shown as an error, but compared as a value. */
interface AbsentResult extends EvaluatedFlag {
  readonly errorCode: "FLAG_NOT_FOUND";
}

/** A missing flag. Programs then use their own default, which is nearly always the off value. */
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

/** Compares values only: a different reason alone changes nothing for users. */
const isChange = (from: Evaluation, to: Evaluation): boolean =>
  !isSameValue(comparable(from), comparable(to));

export const shown = (evaluation: Evaluation): Outcome => {
  if ("errorCode" in evaluation) return { errorCode: evaluation.errorCode };
  const { variant, value, rule = null, reason } = evaluation;
  const isLong = typeof value !== "boolean" && JSON.stringify(value).length > longestValue;
  return { variant, ...(!isLong && { value }), rule, reason };
};

/** Finds the pair of two results. Evaluations return the same few objects repeatedly. */
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
