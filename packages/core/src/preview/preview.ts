// Whom a change would hit: evaluates the contexts of a sample before and after it, and counts those whose value changes.
import type { EvaluationContext } from "../context.ts";
import { type Evaluation, evaluate } from "../evaluate.ts";
import { exactShareOf } from "./exact-share.ts";
import {
  absentFlag,
  createPairs,
  type Outcome,
  type Pair,
  type Pairs,
  type Shares,
  sharesOf,
  shown,
} from "./flips.ts";
import { compileSide, type Side } from "./side.ts";
import { createIsUnseen, type IsUnseen, possibleWorlds, type Unseen, unseenIn } from "./unseen.ts";

export interface PreviewQuestion {
  readonly before: Side;
  readonly after: Side;
  /** The keys of the flags that are changed themselves. */
  readonly changed: readonly string[];
  /** The keys of the others that may give something else: they require one of those, or name a segment that is changed. */
  readonly touched: readonly string[];
  readonly contexts: readonly EvaluationContext[];
}

export interface Flip extends Shares {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly count: number;
}

export interface PreviewedFlag extends Shares {
  readonly key: string;
  readonly changed: number;
  readonly unknown: number;
  /** In percent of everybody, where it follows from the flag alone. */
  readonly exactShare?: number;
  /** The most frequent first. */
  readonly flips: readonly Flip[];
  readonly flipsLeftOut: number;
}

export interface PreviewExample {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly from: Outcome;
  readonly to: Outcome;
}

/** Shares are of the contexts about which something is known. */
export interface Preview extends Shares {
  /** Contexts for which the value of a flag changes, of none, and of which it cannot be known. */
  readonly changed: number;
  readonly unchanged: number;
  readonly unknown: number;
  /** Flags ask for them, and no context has them. */
  readonly unknownAttributes: readonly string[];
  /** Those that are changed, and of the others those that give something else; the most flips first. */
  readonly flags: readonly PreviewedFlag[];
  /** Flags that were not looked at, because there are too many. */
  readonly flagsLeftOut: number;
  readonly examples: readonly PreviewExample[];
}

const maxFlags = 250;
const maxEvaluations = 10_000_000;
const maxFlips = 20;
const maxExamples = 20;
/** Evaluations between two yields. */
const slice = 500;

const [isUnchanged, isChanged, isUnknown] = [0, 1, 2];

interface Counted {
  readonly key: string;
  readonly pairs: readonly Pair[];
  readonly changed: number;
  readonly unknown: number;
  readonly attributes: readonly string[];
  readonly exactShare: number | undefined;
}

const merge = (one: Unseen, other: Unseen): Unseen => ({
  attributes: [...new Set([...one.attributes, ...other.attributes])],
  leaves: [...new Set([...one.leaves, ...other.leaves])],
  isBucket: one.isBucket || other.isBucket,
  isBucketBelow: one.isBucketBelow || other.isBucketBelow,
});

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
  states: Uint8Array,
): Generator<void, Counted> {
  const { before, after, contexts } = question;
  const [look, ...others] = looks;
  const pairs = createPairs();
  const otherPairs = others.map(createPairs);
  let [changed, unknown, evaluations] = [0, 0, 0];
  const isMissing = (result: Evaluation): boolean =>
    "errorCode" in result && result.errorCode === "TARGETING_KEY_MISSING";
  const isHidden = ({ from, to }: Pair): boolean =>
    unseen.isBucketBelow || (unseen.isBucket && (isMissing(from) || isMissing(to)));
  for (const [index, context] of contexts.entries()) {
    if (look === undefined) break;
    const pair = look(context, pairs);
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
    evaluations += looks.length;
    if (evaluations >= slice) {
      evaluations = 0;
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

/** The parts of a split that lead to the same are one flip. */
const flipsOf = (pairs: readonly Pair[], of: number): readonly Flip[] => {
  const flips = new Map<string, { from: Outcome; to: Outcome; count: number }>();
  for (const { from, to, count } of pairs) {
    const flip = { from: shown(from), to: shown(to) };
    const name = JSON.stringify(flip);
    flips.set(name, { ...flip, count: count + (flips.get(name)?.count ?? 0) });
  }
  return [...flips.values()]
    .toSorted((one, other) => other.count - one.count)
    .map((flip) => ({ ...flip, ...sharesOf(flip.count, of) }));
};

/** One of each flip, then a second of each, and so on. */
const examplesOf = (
  counted: readonly Counted[],
  contexts: readonly EvaluationContext[],
): readonly PreviewExample[] => {
  const examples: PreviewExample[] = [];
  const flips = counted.flatMap(({ key, pairs }) => pairs.map((pair) => ({ key, pair })));
  for (let turn = 0; turn < maxExamples && examples.length < maxExamples; turn += 1) {
    for (const { key, pair } of flips) {
      const context = contexts[pair.examples[turn] ?? -1];
      if (context === undefined) continue;
      examples.push({ flag: key, context, from: shown(pair.from), to: shown(pair.to) });
      if (examples.length === maxExamples) break;
    }
  }
  return examples;
};

const showFlag = (
  { key, pairs, changed, unknown, exactShare }: Counted,
  contexts: number,
): PreviewedFlag => {
  const flips = flipsOf(pairs, contexts - unknown);
  return {
    key,
    changed,
    unknown,
    ...sharesOf(changed, contexts - unknown),
    ...(exactShare !== undefined && { exactShare }),
    flips: flips.slice(0, maxFlips),
    flipsLeftOut: Math.max(0, flips.length - maxFlips),
  };
};

/** What can be so, for a flag: as it is, and as it would be with what no context has. */
const looksOf = (
  question: PreviewQuestion,
  key: string,
  asItIs: Look,
  { leaves }: Unseen,
): readonly Look[] => {
  const { before, after } = question;
  const worlds = possibleWorlds(leaves).flatMap(
    (rewrite) =>
      createLook(question, key, {
        before: compileSide(before, rewrite),
        after: compileSide(after, rewrite),
      }) ?? [],
  );
  return [asItIs, ...worlds];
};

/** Yields between its parts, so that whoever runs it can do other things too. */
export function* previewChanges(question: PreviewQuestion): Generator<void, Preview> {
  const { before, after, changed, touched, contexts } = question;
  const keys = [...new Set([...changed, ...touched])];
  const compiled = { before: compileSide(before), after: compileSide(after) };
  const isUnseen: IsUnseen = createIsUnseen(contexts);
  const states = new Uint8Array(contexts.length);
  const counted: Counted[] = [];
  let left = maxEvaluations;
  let looked = 0;
  for (const key of keys.slice(0, maxFlags)) {
    const asItIs = createLook(question, key, compiled);
    looked += 1;
    // Another change has taken it away.
    if (asItIs === undefined) continue;
    const unseen = merge(unseenIn(before, key, isUnseen), unseenIn(after, key, isUnseen));
    yield;
    const looks = looksOf(question, key, asItIs, unseen);
    left -= contexts.length * looks.length * 2;
    if (left < 0 && counted.length > 0) {
      looked -= 1;
      break;
    }
    counted.push(yield* countFlag(question, key, looks, unseen, states));
  }
  const own = new Set(changed);
  const told = counted
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
    unknownAttributes: [...new Set(counted.flatMap(({ attributes }) => attributes))].toSorted(),
    flags: told.map((each) => showFlag(each, contexts.length)),
    flagsLeftOut: keys.length - looked,
    examples: examplesOf(told, contexts),
  };
}
