// Estimates the impact of a change: evaluates sampled contexts before and after it, and counts those whose value changes.
import type { EvaluationContext } from "../context.ts";
import { type Evaluation, evaluate } from "../evaluate.ts";
import { maxCountedWork, sliceWork, someOf, workOnBoth } from "./cost.ts";
import { exactShareOf } from "./exact-share.ts";
import { absentFlag, createPairs, type Pair, type Pairs, type Shares, sharesOf } from "./flips.ts";
import {
  type Counted,
  examplesOf,
  type Flip,
  maxExamples,
  type PreviewExample,
  type PreviewedFlag,
  showFlag,
} from "./shown.ts";
import { compileSide, type Side } from "./side.ts";
import { attributesIn, createIsUnseen, possibleWorlds, type Unseen, unseenIn } from "./unseen.ts";

export type { Flip, PreviewExample, PreviewedFlag };

export interface PreviewQuestion {
  readonly before: Side;
  readonly after: Side;
  /** The keys of the changed flags. */
  readonly changed: readonly string[];
  /** The keys of other flags that are affected: they require a changed flag, or reference a changed segment. */
  readonly touched: readonly string[];
  readonly contexts: readonly EvaluationContext[];
}

/** The shares exclude contexts with an undetermined result. */
export interface Preview extends Shares {
  /** The number of contexts for which the value of some flag changes, of no flag, and for which it is undetermined. */
  readonly changed: number;
  readonly unchanged: number;
  readonly unknown: number;
  /**
   * In percent of all contexts, evaluated with exactly the attributes they contain; null without any. The impact limit uses
   * it, because a rule for contexts without an attribute affects contexts whose other attributes are unknown.
   */
  readonly shareAsSampled: number | null;
  /** Attributes that flags use and that no context has. */
  readonly unknownAttributes: readonly string[];
  /** The changed flags, and other flags with changed evaluations; most changed evaluations first. */
  readonly flags: readonly PreviewedFlag[];
  /** The number of flags that were skipped because there are too many. */
  readonly flagsLeftOut: number;
  /** The number of contexts that were skipped because evaluating the flags takes too long. All other numbers exclude them. */
  readonly contextsLeftOut: number;
  readonly examples: readonly PreviewExample[];
}

const maxFlags = 250;
const [isUnchanged, isChanged, isUnknown] = [0, 1, 2];

const merge = (one: Unseen, other: Unseen): Unseen => ({
  attributes: [...new Set([...one.attributes, ...other.attributes])],
  leaves: [...new Set([...one.leaves, ...other.leaves])],
  isBucket: one.isBucket || other.isBucket,
  isBucketBelow: one.isBucketBelow || other.isBucketBelow,
});

/** Indexed like the contexts. */
interface States {
  readonly states: Uint8Array;
  /** 1 if a value changes for the context as it was sampled. */
  readonly flipped: Uint8Array;
}

type Look = (context: EvaluationContext, pairs: Pairs) => Pair;

/** Evaluates a flag on both sides. */
const createLook = (
  question: PreviewQuestion,
  key: string,
  compiled: Record<"before" | "after", ReturnType<typeof compileSide>>,
): Look | undefined => {
  const [from, to] = [question.before.flag(key)?.flag, question.after.flag(key)?.flag];
  const some = from ?? to;
  if (some === undefined) return undefined;
  const before = compiled.before(key) ?? absentFlag(some);
  const after = compiled.after(key) ?? absentFlag(some);
  return (context, pairs) => pairs.of(evaluate(before, context), evaluate(after, context));
};

function* countFlag(
  question: PreviewQuestion,
  key: string,
  looks: readonly Look[],
  unseen: Unseen,
  { states, flipped }: States,
  workOfLook: number,
): Generator<void, Counted> {
  const { before, after, contexts } = question;
  const [look, ...others] = looks;
  const pairs = createPairs();
  const otherPairs = others.map(createPairs);
  let [changed, unknown, work] = [0, 0, 0];
  const isMissing = (result: Evaluation): boolean =>
    "errorCode" in result && result.errorCode === "TARGETING_KEY_MISSING";
  const isHidden = ({ from, to }: Pair): boolean =>
    unseen.isBucketBelow || (unseen.isBucket && (isMissing(from) || isMissing(to)));
  for (const [index, context] of contexts.entries()) {
    if (look === undefined) break;
    const pair = look(context, pairs);
    if (pair.isChange) flipped[index] = 1;
    const isOpen =
      isHidden(pair) ||
      others.some((other, world) => {
        const possible = other(context, otherPairs[world] ?? pairs);
        return possible.isChange !== pair.isChange;
      });
    if (isOpen) {
      unknown += 1;
      if (states[index] === isUnchanged) states[index] = isUnknown;
    } else {
      pair.count += 1;
      if (pair.isChange) {
        changed += 1;
        states[index] = isChanged;
        if (pair.examples.length < maxExamples) pair.examples.push(index);
      }
    }
    work += looks.length * workOfLook;
    if (work >= sliceWork) {
      work = 0;
      yield;
    }
  }
  return {
    key,
    pairs: pairs.all().filter((pair) => pair.isChange && pair.count > 0),
    changed,
    unknown,
    attributes: unknown > 0 ? unseen.attributes : [],
    exactShare: exactShareOf(before.flag(key)?.flag, after.flag(key)?.flag),
  };
}

/** The possible cases for a flag: the contexts as sampled, and with attributes that no context has. */
function* looksOf(
  question: PreviewQuestion,
  key: string,
  asItIs: Look,
  { leaves }: Unseen,
): Generator<void, readonly Look[]> {
  const { before, after } = question;
  const looks = [asItIs];
  for (const rewrite of possibleWorlds(leaves)) {
    yield;
    const look = createLook(question, key, {
      before: compileSide(before, rewrite),
      after: compileSide(after, rewrite),
    });
    if (look !== undefined) looks.push(look);
  }
  return looks;
}

/** Yields between its parts, so that the caller can do other work. */
export function* previewChanges(
  wholeQuestion: PreviewQuestion,
  maxEvaluations = 10_000_000,
  maxWork = maxCountedWork,
): Generator<void, Preview> {
  const { before, after, changed, touched } = wholeQuestion;
  const own = new Set(changed);
  const keys = [...new Set([...changed, ...touched])];
  const compiled = { before: compileSide(before), after: compileSide(after) };
  const works = new Map<string, number>();
  for (const key of keys.slice(0, maxFlags)) {
    works.set(key, workOnBoth(before, after, key));
    yield;
  }
  const workOf = (key: string): number => works.get(key) ?? 0;
  const contexts = someOf(
    wholeQuestion.contexts,
    [...works.values()].reduce((sum, each) => sum + each, 0),
    maxWork,
  );
  const question = { ...wholeQuestion, contexts };
  const isUnseen = createIsUnseen(wholeQuestion.contexts);
  const states = new Uint8Array(contexts.length);
  const flipped = new Uint8Array(contexts.length);
  const counted: Counted[] = [];
  let left = maxEvaluations;
  let leftWork = maxWork;
  let looked = 0;
  for (const key of keys.slice(0, maxFlags)) {
    const asItIs = createLook(question, key, compiled);
    looked += 1;
    // The flag no longer exists.
    if (asItIs === undefined) continue;
    // Each attribute is looked up in all contexts once.
    for (const side of [before, after]) {
      for (const attribute of attributesIn(side, key)) {
        isUnseen(attribute);
        yield;
      }
    }
    const unseen = merge(unseenIn(before, key, isUnseen), unseenIn(after, key, isUnseen));
    const possible = yield* looksOf(question, key, asItIs, unseen);
    const possibleWork = contexts.length * possible.length * workOf(key);
    // A changed flag is always evaluated, at least for the contexts as sampled.
    const isTooMany = left < contexts.length * possible.length * 2;
    // The work for the contexts as sampled was counted for all flags before.
    const isWithin = !isTooMany && (possible.length === 1 || leftWork >= possibleWork);
    if (isTooMany && !own.has(key)) {
      looked -= 1;
      break;
    }
    const looks = isWithin ? possible : [asItIs];
    left -= contexts.length * looks.length * 2;
    if (looks.length > 1) leftWork -= possibleWork;
    // The other cases were not evaluated, so the result is undetermined for all contexts.
    const isBucketBelow = unseen.isBucketBelow || looks.length < possible.length;
    const open = { ...unseen, isBucketBelow };
    counted.push(yield* countFlag(question, key, looks, open, { states, flipped }, workOf(key)));
  }
  const affected = counted
    .filter((each) => own.has(each.key) || each.changed > 0 || each.unknown > 0)
    .toSorted((one, other) => other.changed - one.changed);
  const count = (state: number | undefined) =>
    states.reduce((sum, each) => sum + (each === state ? 1 : 0), 0);
  const [all, unknown] = [count(isChanged), count(isUnknown)];
  return {
    changed: all,
    unchanged: count(isUnchanged),
    unknown,
    ...sharesOf(all, contexts.length - unknown),
    shareAsSampled: sharesOf(
      flipped.reduce((sum, each) => sum + each, 0),
      contexts.length,
    ).share,
    unknownAttributes: [...new Set(counted.flatMap(({ attributes }) => attributes))].toSorted(),
    flags: affected.map((each) => showFlag(each, contexts.length)),
    flagsLeftOut: keys.length - looked,
    contextsLeftOut: wholeQuestion.contexts.length - contexts.length,
    examples: examplesOf(affected, contexts),
  };
}
