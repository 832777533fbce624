// Whom a change would hit: evaluates the contexts of a sample before and after it, and counts those whose value changes.
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
  /** The keys of the flags that are changed themselves. */
  readonly changed: readonly string[];
  /** The keys of the others that may give something else: they require one of those, or name a segment that is changed. */
  readonly touched: readonly string[];
  readonly contexts: readonly EvaluationContext[];
}

/** Shares are of the contexts about which something is known. */
export interface Preview extends Shares {
  /** Contexts for which the value of a flag changes, of none, and of which it cannot be known. */
  readonly changed: number;
  readonly unchanged: number;
  readonly unknown: number;
  /**
   * In percent of all contexts, when each has just the attributes that it came with; null without any. The limit on flips goes by
   * it: a rule for all who lack an attribute hits those of whom nothing else is known.
   */
  readonly shareAsSampled: number | null;
  /** Flags ask for them, and no context has them. */
  readonly unknownAttributes: readonly string[];
  /** Those that are changed, and of the others those that give something else; the most flips first. */
  readonly flags: readonly PreviewedFlag[];
  /** Flags that were not looked at, because there are too many. */
  readonly flagsLeftOut: number;
  /** Contexts that were not counted, because the flags take too much work. All other numbers cover the counted contexts. */
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

/** By the place of the context. */
interface States {
  readonly states: Uint8Array;
  /** 1 where a value changes, as the context is. */
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

/** What can be so, for a flag: as it is, and as it would be with what no context has. */
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

/** Yields between its parts, so that whoever runs it can do other things too. */
export function* previewChanges(
  asked: PreviewQuestion,
  maxEvaluations = 10_000_000,
  maxWork = maxCountedWork,
): Generator<void, Preview> {
  const { before, after, changed, touched } = asked;
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
    asked.contexts,
    [...works.values()].reduce((sum, each) => sum + each, 0),
    maxWork,
  );
  const question = { ...asked, contexts };
  const isUnseen = createIsUnseen(asked.contexts);
  const states = new Uint8Array(contexts.length);
  const flipped = new Uint8Array(contexts.length);
  const counted: Counted[] = [];
  let left = maxEvaluations;
  let leftWork = maxWork;
  let looked = 0;
  for (const key of keys.slice(0, maxFlags)) {
    const asItIs = createLook(question, key, compiled);
    looked += 1;
    // Another change has taken it away.
    if (asItIs === undefined) continue;
    // Each is looked for in all contexts, once.
    for (const side of [before, after]) {
      for (const attribute of attributesIn(side, key)) {
        isUnseen(attribute);
        yield;
      }
    }
    const unseen = merge(unseenIn(before, key, isUnseen), unseenIn(after, key, isUnseen));
    const possible = yield* looksOf(question, key, asItIs, unseen);
    const possibleWork = contexts.length * possible.length * workOf(key);
    // A flag that is changed itself is looked at in any case, as the contexts are.
    const isTooMany = left < contexts.length * possible.length * 2;
    // What it takes as it is was counted for all flags before.
    const isWithin = !isTooMany && (possible.length === 1 || leftWork >= possibleWork);
    if (isTooMany && !own.has(key)) {
      looked -= 1;
      break;
    }
    const looks = isWithin ? possible : [asItIs];
    left -= contexts.length * looks.length * 2;
    if (looks.length > 1) leftWork -= possibleWork;
    // What could be otherwise was not tried out then, so all of it is unknown.
    const isBucketBelow = unseen.isBucketBelow || looks.length < possible.length;
    const open = { ...unseen, isBucketBelow };
    counted.push(yield* countFlag(question, key, looks, open, { states, flipped }, workOf(key)));
  }
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
    shareAsSampled: sharesOf(
      flipped.reduce((sum, each) => sum + each, 0),
      contexts.length,
    ).share,
    unknownAttributes: [...new Set(counted.flatMap(({ attributes }) => attributes))].toSorted(),
    flags: told.map((each) => showFlag(each, contexts.length)),
    flagsLeftOut: keys.length - looked,
    contextsLeftOut: asked.contexts.length - contexts.length,
    examples: examplesOf(told, contexts),
  };
}
