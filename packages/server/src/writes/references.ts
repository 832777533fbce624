// What flags name outside themselves: segments, and the flags that they require. What is named must be there, and stays.
import { isSameValue } from "@halyard/core/difference";
import { choiceOf, type Flag } from "@halyard/core/flags/registry";
import { maxDepth, maxFlags } from "@halyard/core/targeting/decision";
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import { namedSegments } from "@halyard/core/targeting/references";
import { maxEnvironmentWork } from "@halyard/core/targeting/work";
import { named } from "../features/segments/rules.ts";
import { conflict, ok, type Result, refused } from "../platform/errors.ts";
import type { Decision, EnvironmentState, FlagDecision, VersionedFlag } from "./change.ts";

/** A flag that names a segment, or requires a variant of another flag. */
export interface Reference {
  readonly flag: string;
  /** Null for a segment. */
  readonly variant: string | null;
}

export interface ReferenceReads {
  flagsAmong(environmentId: number, keys: readonly string[]): Promise<readonly VersionedFlag[]>;
  /** Those of the keys that are there. */
  segmentsAmong(environmentId: number, keys: readonly string[]): Promise<readonly string[]>;
  /** Sorted by the key of the flag. */
  referencesTo(
    environmentId: number,
    kind: "flag" | "segment",
    key: string,
  ): Promise<readonly Reference[]>;
  /** The keys of the flags that require one of these. */
  requiring(environmentId: number, keys: readonly string[]): Promise<readonly string[]>;
}

const maxDefinitionBytes = 32 * 1_024 * 1_024;

const flagsOf = (references: readonly Reference[]): string => named(references.map((r) => r.flag));

/** A flag of a newer version may be stored without any. */
const variantsOf = (flag: Flag | null) => (flag && choiceOf(flag).variants) ?? {};

/** Whether it takes out a variant, or the flag with all of them. */
const takesOut = ({ before, after }: FlagDecision): boolean => {
  const offered = variantsOf(after);
  return !Object.keys(variantsOf(before)).every((name) => Object.hasOwn(offered, name));
};

/** What others require of the flag must still be there. */
const checkRequired = async (
  reads: ReferenceReads,
  environmentId: number,
  { key, after }: FlagDecision,
): Promise<Result<void>> => {
  const offered = variantsOf(after);
  const references = await reads.referencesTo(environmentId, "flag", key);
  if (after === null) {
    return references.length === 0
      ? ok(undefined)
      : conflict(
          `The flag "${key}" is required by ${flagsOf(references)}; take it out of them first.`,
        );
  }
  const missing = references.filter(({ variant }) => !Object.hasOwn(offered, variant ?? ""));
  return missing.length === 0
    ? ok(undefined)
    : conflict(
        `The variant "${missing[0]?.variant}" of the flag "${key}" cannot be taken out: it is required by ${flagsOf(missing)}.`,
      );
};

const checkSegments = async (
  reads: ReferenceReads,
  environmentId: number,
  after: Flag,
): Promise<readonly ValidationError[]> => {
  const names = namedSegments(after);
  if (names.length === 0) return [];
  const keys = [...new Set(names.map(({ key }) => key))];
  const known = new Set(await reads.segmentsAmong(environmentId, keys));
  return names
    .filter(({ key }) => !known.has(key))
    .map(({ key, place }) => ({
      place,
      message: `must name a segment that exists; there is no "${key}"`,
    }));
};

interface Above {
  /** The longest chain of flags that require this one, this one not counted. */
  readonly length: number;
  readonly keys: ReadonlySet<string>;
}

const readAbove = async (
  reads: ReferenceReads,
  environmentId: number,
  key: string,
): Promise<Above> => {
  const keys = new Set<string>();
  let level: readonly string[] = [key];
  for (let length = 0; ; length += 1) {
    level = await reads.requiring(environmentId, level);
    if (level.length === 0 || length > maxDepth) return { length, keys };
    for (const each of level) keys.add(each);
  }
};

/** The flags given, and all that they require, directly and through others. */
const readRequired = async (
  reads: ReferenceReads,
  environmentId: number,
  begin: readonly Flag[],
): Promise<Map<string, Flag>> => {
  const found = new Map(begin.map((flag) => [flag.key, flag]));
  let last = begin;
  for (;;) {
    const required = last.flatMap(({ requires = [] }) => requires.map((each) => each.flag));
    const wanted = [...new Set(required)].filter((key) => !found.has(key));
    if (wanted.length === 0) return found;
    last = (await reads.flagsAmong(environmentId, wanted)).map(({ flag }) => flag);
    if (last.length === 0) return found;
    for (const flag of last) found.set(flag.key, flag);
  }
};

/** How many flags a flag requires, directly and through others. */
const countBelow = (flags: ReadonlyMap<string, Flag>, key: string): number => {
  const reached = new Set([key]);
  // A set that grows is walked to its end.
  for (const each of reached) {
    for (const { flag } of flags.get(each)?.requires ?? []) reached.add(flag);
  }
  return reached.size - 1;
};

/** A flag that would require too many, of the changed one and those above it. */
const findTooLarge = async (
  reads: ReferenceReads,
  environmentId: number,
  after: Flag,
  below: ReadonlyMap<string, Flag>,
  above: ReadonlySet<string>,
): Promise<string | undefined> => {
  if (countBelow(below, after.key) > maxFlags) return after.key;
  if (above.size === 0) return undefined;
  const found = await reads.flagsAmong(environmentId, [...above]);
  const all = await readRequired(
    reads,
    environmentId,
    found.map(({ flag }) => flag),
  );
  for (const [key, flag] of below) all.set(key, flag);
  return [...above].find((key) => countBelow(all, key) > maxFlags);
};

/** The longest chain below a flag; or the circle that it is part of. */
const walk = (
  flags: ReadonlyMap<string, Flag>,
  key: string,
  path: readonly string[],
  lengths: Map<string, number>,
): number | readonly string[] => {
  if (path.includes(key)) return [...path.slice(path.indexOf(key)), key];
  const known = lengths.get(key);
  if (known !== undefined) return known;
  let longest = 0;
  for (const requirement of flags.get(key)?.requires ?? []) {
    const below = walk(flags, requirement.flag, [...path, key], lengths);
    if (typeof below !== "number") return below;
    longest = Math.max(longest, below + 1);
  }
  lengths.set(key, longest);
  return longest;
};

const checkRequirements = async (
  reads: ReferenceReads,
  environmentId: number,
  after: Flag,
): Promise<Result<readonly ValidationError[]>> => {
  const requires = after.requires ?? [];
  if (requires.length === 0) return ok([]);
  const flags = await readRequired(reads, environmentId, [after]);
  const problems = requires.flatMap(({ flag, variant }, index): ValidationError[] => {
    const required = flags.get(flag);
    if (required === undefined) {
      const message = `must be a flag that exists; there is no "${flag}"`;
      return [{ place: `requires[${index}].flag`, message }];
    }
    const names = Object.keys(choiceOf(required).variants);
    if (names.includes(variant)) return [];
    const message = `must be a variant of the flag "${flag}": ${names.join(", ")}`;
    return [{ place: `requires[${index}].variant`, message }];
  });
  if (problems.length > 0) return ok(problems);
  const below = walk(flags, after.key, [], new Map());
  if (typeof below !== "number") {
    return conflict(`The requirements make a circle: ${below.join(" → ")}.`);
  }
  const above = await readAbove(reads, environmentId, after.key);
  if (below + above.length > maxDepth) {
    return conflict(
      `The requirements would make a chain of more than ${maxDepth} flags above one another.`,
    );
  }
  const tooLarge = await findTooLarge(reads, environmentId, after, flags, above.keys);
  if (tooLarge !== undefined) {
    return conflict(
      `The flag "${tooLarge}" would require more than ${maxFlags} flags, directly and through others.`,
    );
  }
  return ok([]);
};

/** Whether all that the flag names is there, and all that others require of it stays. */
export const checkReferences = async (
  reads: ReferenceReads,
  environmentId: number,
  decision: FlagDecision,
): Promise<Result<void>> => {
  if (takesOut(decision)) {
    const required = await checkRequired(reads, environmentId, decision);
    if (!required.ok) return required;
  }
  const { before, after } = decision;
  if (after === null) return ok(undefined);
  const problems: ValidationError[] = [];
  if (!isSameValue(before?.rules, after.rules)) {
    problems.push(...(await checkSegments(reads, environmentId, after)));
  }
  if (!isSameValue(before?.requires, after.requires)) {
    const requirements = await checkRequirements(reads, environmentId, after);
    if (!requirements.ok) return requirements;
    problems.push(...requirements.value);
  }
  return problems.length === 0 ? ok(undefined) : refused(problems);
};

/** Whether the environment stays whole with the decision. Read under its lock. */
export const checkDecision = (
  reads: ReferenceReads,
  { id, name, definitionBytes, definitionWork }: EnvironmentState,
  decision: Decision,
): Result<void> | Promise<Result<void>> => {
  if (decision.bytes > 0 && definitionBytes + decision.bytes > maxDefinitionBytes) {
    return conflict(
      `The rules, variants and segments of the environment "${name}" would take more than 32 MiB; make some of them smaller first.`,
    );
  }
  const work = definitionWork + decision.work;
  if (decision.work > 0 && work > maxEnvironmentWork) {
    return conflict(
      `The rules and segments of the environment "${name}" would take ${work.toLocaleString("en")} steps to evaluate, more than ${maxEnvironmentWork.toLocaleString("en")}; use fewer conditions or values first, especially with contains.`,
    );
  }
  return decision.kind === "flag" ? checkReferences(reads, id, decision) : ok(undefined);
};
