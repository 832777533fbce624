// Translates the decision of a flag to one expression. It returns the name of a variant, or of no variant if the evaluation is an error.
import { bucketOf } from "../bucket.ts";
import { choiceOf, type Flag, isFlagTypeName } from "../flags/registry.ts";
import { isKnownLevel } from "../levels.ts";
import { allThousandths, thousandthsOf } from "../percentage.ts";
import { maxDepth, maxFlags } from "../targeting/decision.ts";
import type { Share } from "../targeting/split.ts";
import type { Serve } from "../targeting/targeting.ts";
import { variableOf } from "./attribute.ts";
import { compileCondition } from "./conditions.ts";
import type { Findings } from "./findings.ts";
import { and, differ, isNumber, isText, type Logic, not, or, same } from "./logic.ts";
import type { Room } from "./room.ts";
import type { Segments } from "./segments.ts";

export type LeveledFlag = Flag & { readonly level?: number };

/** No variant can have such a name, so flagd returns an error that shows it. */
const missingKey = "no targeting key";
const otherHash = "another hash function";
/** The result of a split for buckets outside its shares: evaluation falls through to the next rule. */
const unreached = "";

export interface Surroundings {
  readonly flag: (key: string) => LeveledFlag | undefined;
  readonly segments: Segments;
  readonly room: Room;
}

/** One flag with its prerequisites. */
interface Work extends Surroundings {
  readonly findings: Findings;
  readonly tally: {
    /** The number of flags that can still be added to the definition. */
    left: number;
    splits: boolean;
  };
}

const probe = { seed: "halyard", key: "flagd" };

/**
 * Whether the engine's hash function is this one. Some versions of flagd hash differently. Their result is then an error
 * instead of a wrong bucket.
 */
export const hashesTheSame: Logic = (() => {
  const before = bucketOf(probe.seed, probe.key) - 1;
  const buckets: Logic[] = [
    ["other", before],
    ["same", 1],
    ["other", allThousandths - before - 1],
  ];
  return same({ fractional: [{ cat: [`${probe.seed}:`, probe.key] }, ...buckets] }, "same");
})();

interface Bucketing {
  readonly hasKey: Logic;
  readonly text: Logic;
}

/** The Java engine writes greater numbers with an exponent. */
const greatestWhole = 9_999_999;

const bucketingOf = (flag: Flag, { findings }: Work): Bucketing => {
  const { key, bucketBy, bucketSeed = key } = flag;
  // The Go engine trims spaces from both ends, and the JavaScript engine does not hash UTF-8 bytes.
  if (!/^[!-~][ -~]*$/.test(bucketSeed)) {
    findings.leaveOut(`The bucket seed of ${key} contains characters other than ASCII.`);
  }
  findings.limit(
    `A split needs bucketing values in ASCII without a trailing space: some engines hash other strings differently.`,
  );
  const value = variableOf(bucketBy ?? "targetingKey", findings);
  const text: Logic = { cat: [`${bucketSeed}:`, value] };
  const isKey = and(isText(value), differ(value, ""), { ends_with: [text, value] });
  if (bucketBy === undefined) return { hasKey: isKey, text };
  findings.limit(
    `A split by ${JSON.stringify(bucketBy)} accepts whole numbers of up to seven digits: some engines write greater ones differently.`,
  );
  const isWhole = and(
    isNumber(value),
    { "<=": [value, greatestWhole] },
    { ">=": [value, -greatestWhole] },
    same({ "%": [value, 1] }, 0),
  );
  return { hasKey: or(isKey, isWhole), text };
};

const splitOf = (shares: readonly Share[], { text }: Bucketing): Logic => {
  const buckets = shares.map(({ variant, share }): [string, number] => [
    variant,
    thousandthsOf(share),
  ]);
  const rest = buckets.reduce((left, [, weight]) => left - weight, allThousandths);
  if (rest > 0) buckets.push([unreached, rest]);
  return { fractional: [text, ...buckets] };
};

const isWhole = (shares: readonly Share[]): boolean =>
  shares.reduce((sum, { share }) => sum + thousandthsOf(share), 0) === allThousandths;

const variantsOf = (serve: Serve): readonly string[] =>
  typeof serve === "string" ? [serve] : serve.map(({ variant }) => variant);

/** The condition of a step, and its result. */
type Step = readonly [when: Logic, result: Logic];

const stepsOf = (flag: Flag, work: Work): readonly Step[] => {
  const { variants, otherwise } = choiceOf(flag);
  let bucketing: Bucketing | undefined;
  const stepOf = (when: Logic, serve: Serve): Step => {
    if (!variantsOf(serve).every((variant) => Object.hasOwn(variants, variant))) {
      work.findings.leaveOut("It serves a variant that doesn't exist.");
    }
    if (typeof serve === "string") return [when, serve];
    work.tally.splits = true;
    bucketing ??= bucketingOf(flag, work);
    const { hasKey } = bucketing;
    const split = splitOf(serve, bucketing);
    const result: Logic = { if: [hasKey, split, missingKey] };
    if (isWhole(serve)) return [when, result];
    return [and(when, or(not(hasKey), differ(split, unreached))), result];
  };
  const rules = (flag.rules ?? []).filter(({ disabled }) => disabled !== true);
  const segment = (key: string, wanted: boolean) => work.segments.logic(key, wanted, work.findings);
  return [
    ...rules.map(({ when, serve }) =>
      stepOf(compileCondition(when, true, segment, work.findings), serve),
    ),
    stepOf(true, otherwise),
  ];
};

/** The steps up to the first one that applies to everyone. */
const choose = (steps: readonly Step[], last: string): Logic => {
  const parts: Logic[] = [];
  for (const [when, result] of steps) {
    if (when === false) continue;
    if (when === true) return parts.length === 0 ? result : { if: [...parts, result] };
    parts.push(when, result);
  }
  return parts.length === 0 ? last : { if: [...parts, last] };
};

const requirementsOf = (flag: Flag, work: Work, depth: number): Logic => {
  const { requires = [] } = flag;
  if (requires.length === 0) return true;
  if (depth >= maxDepth) {
    work.findings.leaveOut(`Its prerequisites are more than ${maxDepth} levels deep.`);
    return false;
  }
  return and(
    ...requires.map(({ flag: key, variant }): Logic => {
      if (work.tally.left === 0) {
        work.findings.leaveOut(`It has more than ${maxFlags} prerequisites in all.`);
        return false;
      }
      work.tally.left -= 1;
      const required = work.flag(key);
      if (required === undefined) return false;
      if (required.enabled && !work.room.take(required, work.findings)) return false;
      const gives = decide(required, work, depth + 1, `The prerequisite ${key}: `);
      return typeof gives === "string" ? gives === variant : same(gives, variant);
    }),
  );
};

const decide = (flag: LeveledFlag, outer: Work, depth: number, place: string): Logic => {
  const { leaveOut, limit } = outer.findings;
  const findings: Findings = {
    leaveOut: (reason) => leaveOut(`${place}${reason}`),
    limit: (reason) => limit(`${place}${reason}`),
  };
  if (!isKnownLevel(flag.level) || !isFlagTypeName(flag.type)) {
    findings.leaveOut("It uses a feature that this version does not support.");
    return missingKey;
  }
  const { off } = choiceOf(flag);
  if (!flag.enabled) return off;
  const work: Work = { ...outer, findings };
  const met = requirementsOf(flag, work, depth);
  if (met === false) return off;
  const result = choose(stepsOf(flag, work), off);
  return met === true ? result : { if: [met, result, off] };
};

export interface Decision {
  readonly gives: Logic;
  readonly splits: boolean;
}

export const compileDecision = (
  flag: LeveledFlag,
  surroundings: Surroundings,
  findings: Findings,
): Decision => {
  const tally = { left: maxFlags, splits: false };
  const gives = decide(flag, { ...surroundings, findings, tally }, 0, "");
  return { gives, splits: tally.splits };
};

/** The decision of a flag with splits. */
export const onlyWithTheHash = (isTheSame: Logic, gives: Logic): Logic => ({
  if: [isTheSame, gives, otherHash],
});
