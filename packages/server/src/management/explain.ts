// Why a flag gives what it gives: now, as it would be with a patch, or as it was at a revision.
import type { EvaluationContext } from "@halyard/core/context";
import { evaluate, unknownFlag } from "@halyard/core/evaluate";
import {
  choiceOf,
  type Flag,
  levelOf,
  type PatchFlag,
  prepare,
} from "@halyard/core/flags/registry";
import { isKnownLevel } from "@halyard/core/levels";
import type { Test } from "@halyard/core/targeting/conditions/condition";
import type { Environment } from "@halyard/core/targeting/decision";
import { type Explanation, explainDecision } from "@halyard/core/targeting/explain";
import { namedSegments } from "@halyard/core/targeting/references";
import {
  compileSegment,
  memberLists,
  type Segment,
  type SegmentChange,
  type SegmentState,
  type SegmentSummary,
  stateOf,
} from "@halyard/core/targeting/segment";
import type { VersionedFlag } from "../domain/change.ts";
import { decidePatch } from "../domain/change-flag.ts";
import type { EnvironmentRef } from "../domain/principal.ts";
import { checkReferences } from "../domain/references.ts";
import {
  conflict,
  fail,
  failureIn,
  invalid,
  noEnvironment,
  notFound,
  ok,
  type Result,
} from "../errors.ts";
import type { Store } from "../ports.ts";

/** One environment in memory. */
export interface ExplainMemory {
  readonly get: (environmentId: number) =>
    | {
        readonly revision: number;
        readonly environment: Environment;
        get(key: string): VersionedFlag | undefined;
      }
    | undefined;
  readonly current: () => Promise<void>;
}

/** At most one of them. */
export interface ExplainAbout {
  readonly patch?: PatchFlag;
  readonly at?: Date;
  readonly revision?: number;
}

export interface Explained extends Explanation {
  readonly revision: number;
  readonly flag: Flag;
}

export type Explain = (
  environment: EnvironmentRef,
  key: string,
  context: EvaluationContext,
  about: ExplainAbout,
) => Promise<Result<Explained>>;

const unknown = evaluate(unknownFlag, {});

const explainFlag = (
  flag: Flag,
  level: number | undefined,
  environment: Environment,
  context: EvaluationContext,
): Explanation => {
  const { key, enabled } = flag;
  const targeting = isKnownLevel(level) ? flag : {};
  const decidable = { key, enabled, ...choiceOf(flag), targeting };
  try {
    const explained = explainDecision(decidable, environment, context);
    return isKnownLevel(level) ? explained : { ...explained, decision: unknown };
  } catch {
    // Something else has written the flag.
    const plain = explainDecision({ ...decidable, targeting: {} }, environment, context);
    return { ...plain, decision: unknown };
  }
};

/** Takes a change of the lists back, in place. */
const undo = (state: SegmentState, before: SegmentSummary, change: SegmentChange): SegmentState => {
  for (const list of memberLists) {
    for (const each of change[list]?.added ?? []) state[list].delete(each);
    for (const each of change[list]?.removed ?? []) state[list].add(each);
  }
  const { description, when } = before;
  return { ...state, description, when };
};

export const createExplain = (store: Store, { get, current }: ExplainMemory): Explain => {
  /** The flag as it was: what the first change after the revision found, or what is there now. */
  const flagAt = async (
    environmentId: number,
    key: string,
    revision: number,
  ): Promise<Flag | undefined> => {
    const now = await store.flag(environmentId, key);
    const [next] = await store.changesOf(environmentId, "flag", key, revision, 1);
    return next === undefined ? now?.flag : ((next.before as Flag | null) ?? undefined);
  };

  /** The segment as it was: what is there now, or was when it was deleted, without the changes since. */
  const segmentAt = async (
    environmentId: number,
    key: string,
    revision: number,
  ): Promise<SegmentState | undefined> => {
    const whole = await store.wholeSegment(environmentId, key);
    let segment = whole && stateOf(whole.segment);
    const changes = await store.changesOf(environmentId, "segment", key, revision);
    for (const { version, before, after } of changes.toReversed()) {
      // Made after the members were read.
      if (whole !== undefined && version > whole.version) continue;
      if (after === null) segment = stateOf(before as Segment);
      else if (before === null || segment === undefined) segment = undefined;
      else segment = undo(segment, before as SegmentSummary, after as SegmentChange);
    }
    return segment;
  };

  /** What the flag names, directly and through others, as it was. */
  const environmentAt = async (
    environmentId: number,
    flag: Flag,
    revision: number,
  ): Promise<Environment> => {
    const flags = new Map<string, Flag>([[flag.key, flag]]);
    let wanted = (flag.requires ?? []).map((each) => each.flag);
    while (wanted.length > 0) {
      const next = new Set<string>();
      for (const key of wanted) {
        const found = await flagAt(environmentId, key, revision);
        if (found === undefined) continue;
        flags.set(key, found);
        for (const requirement of found.requires ?? []) next.add(requirement.flag);
      }
      wanted = [...next].filter((key) => !flags.has(key));
    }
    const segments = new Map<string, Test>();
    const keys = new Set([...flags.values()].flatMap(namedSegments).map(({ key }) => key));
    for (const key of keys) {
      const found = await segmentAt(environmentId, key, revision);
      if (found !== undefined) segments.set(key, compileSegment(found));
    }
    const environment: Environment = {
      segment: (key) => segments.get(key),
      flag: (key) => prepared.get(key),
    };
    const prepared = new Map(
      [...flags].map(([key, each]) => [key, prepare(each, levelOf(each), environment)]),
    );
    return environment;
  };

  const explainPast = async (
    { id, name }: EnvironmentRef,
    key: string,
    context: EvaluationContext,
    revision: number,
    last: number,
  ): Promise<Result<Explained>> => {
    if ((await store.revisionsAfter(id, revision)) < last - revision) {
      return conflict(
        `The history of the environment "${name}" no longer has all changes since revision ${revision}, so what it was then cannot be told.`,
      );
    }
    const flag = await flagAt(id, key, revision);
    if (flag === undefined) return notFound(`At revision ${revision}, the flag`, key);
    const environment = await environmentAt(id, flag, revision);
    return ok({
      revision,
      flag,
      ...explainFlag(flag, levelOf(flag), environment, context),
    });
  };

  return async (environment, key, context, about) => {
    await current();
    const memory = get(environment.id);
    if (!memory) return noEnvironment;
    const { revision } = memory;
    if (about.revision !== undefined && about.revision > revision) {
      return invalid("revision", `must be at most ${revision}, the revision of now`);
    }
    const past =
      about.at === undefined ? about.revision : await store.revisionAt(environment.id, about.at);
    if (past !== undefined) return explainPast(environment, key, context, past, revision);

    const found = memory.get(key);
    if (!found) return notFound("The flag", key);
    let { flag, level } = found;
    if (about.patch !== undefined) {
      const decision = decidePatch(found, about.patch);
      if (!decision.ok) return fail(failureIn("patch", decision.failure));
      if (decision.value?.after) {
        const possible = await checkReferences(store, environment.id, decision.value);
        if (!possible.ok) return fail(failureIn("patch", possible.failure));
        ({ after: flag, level } = { ...decision.value, after: decision.value.after });
      }
    }
    return ok({ revision, flag, ...explainFlag(flag, level, memory.environment, context) });
  };
};
