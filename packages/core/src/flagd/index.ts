// Compiles an environment to a flagd definition with the same decisions, and reports which flags have no equivalent.
import { choiceOf } from "../flags/registry.ts";
import type { Segment } from "../targeting/segment.ts";
import { compileDecision, hashesTheSame, type LeveledFlag, onlyWithTheHash } from "./decision.ts";
import { collectFindings } from "./findings.ts";
import type { Logic } from "./logic.ts";
import { createRoom } from "./room.ts";
import { compileSegments } from "./segments.ts";

/**
 * - `exact`: the same value and variant in the engines of Go, Java, Python and JavaScript.
 * - `ascii`: the same for contexts that fit the reasons, usually ASCII bucketing values and canonical versions.
 * - `left-out`: not in the definition.
 */
export type FlagdClass = "exact" | "ascii" | "left-out";

export interface FlagdFlag {
  readonly key: string;
  readonly class: FlagdClass;
  /** Sentences for display; empty if the flag is exact. */
  readonly reasons: readonly string[];
}

export interface FlagdSet {
  readonly flags: readonly FlagdFlag[];
  /** The definition as JSON, without the flags that are left out. */
  readonly text: string;
}

export interface FlagdContent {
  readonly flags: readonly LeveledFlag[];
  readonly segments: readonly Segment[];
}

const hashEvaluator = "same hash";

/** flagd would interpret such a field as one of its own references. */
const looksLikeReference = (value: unknown): boolean =>
  typeof value === "object" && value !== null && JSON.stringify(value).includes('"$ref"');

const compileFlag = (
  flag: LeveledFlag,
  surroundings: Parameters<typeof compileDecision>[1],
): { readonly report: FlagdFlag; readonly definition: string | undefined } => {
  const findings = collectFindings();
  const { key } = flag;
  const { gives, splits } = compileDecision(flag, surroundings, findings);
  const { variants, off } = choiceOf(flag);
  if (looksLikeReference(variants)) findings.leaveOut("A value has a field named $ref.");
  if (findings.leftOut.size > 0) {
    const reasons = [...findings.leftOut];
    return { report: { key, class: "left-out", reasons }, definition: undefined };
  }
  const definition = {
    state: "ENABLED",
    variants: variants as Logic,
    ...(typeof gives === "string"
      ? { defaultVariant: gives }
      : {
          defaultVariant: off,
          targeting: splits ? onlyWithTheHash({ $ref: hashEvaluator }, gives) : gives,
        }),
  };
  const reasons = typeof gives === "string" ? [] : [...findings.limits];
  const report = { key, class: reasons.length > 0 ? "ascii" : "exact", reasons } as const;
  // Converted to text immediately: the expressions of all flags together would fill the memory.
  return { report, definition: JSON.stringify(definition) };
};

/** A part of a definition: the JSON of a flag and the report about it. A flag that is left out has no `text`; parts that are not flags have no `report`. */
export interface FlagdPart {
  readonly report?: FlagdFlag;
  readonly text: string | undefined;
}

/** Compiles one flag per part. The texts together form the definition. `flagSetId` is the name of the environment. */
export function* compileParts(
  { flags, segments }: FlagdContent,
  flagSetId: string,
): Generator<FlagdPart, void> {
  const byKey = new Map(flags.map((flag) => [flag.key, flag]));
  const room = createRoom();
  const surroundings = {
    flag: (key: string) => byKey.get(key),
    segments: compileSegments(segments, room),
    room,
  };
  const compile = (flag: LeveledFlag) => {
    try {
      return compileFlag(flag, surroundings);
    } catch {
      // The stored flag is not valid. The other flags are compiled anyway.
      const reasons = ["Its stored form is not valid in this version."];
      return {
        report: { key: flag.key, class: "left-out", reasons } as const,
        definition: undefined,
      };
    }
  };
  // Providers that get no scope send their selector instead, which may be a key.
  const metadata = JSON.stringify({ flagSetId, scope: flagSetId });
  yield { text: `{"metadata":${metadata},"flags":{` };
  let separator = "";
  for (const flag of flags) {
    room.next();
    const { report, definition } = compile(flag);
    if (definition === undefined) {
      yield { report, text: undefined };
      continue;
    }
    yield { report, text: `${separator}${JSON.stringify(report.key)}:${definition}` };
    separator = ",";
  }
  const evaluators = JSON.stringify({
    [hashEvaluator]: hashesTheSame,
    ...Object.fromEntries(surroundings.segments.evaluators),
  });
  yield { text: `},"$evaluators":${evaluators}}` };
}

export const compileFlagd = (content: FlagdContent, flagSetId: string): FlagdSet => {
  const parts = [...compileParts(content, flagSetId)];
  return {
    flags: parts.flatMap(({ report }) => report ?? []),
    text: parts.map(({ text = "" }) => text).join(""),
  };
};
