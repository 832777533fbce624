// One environment in memory: every flag prepared for evaluation, the revision, and the latest changes.
import type { Evaluation, PreparedFlag } from "@halyard/core/evaluate";
import { choiceOf, prepare } from "@halyard/core/flags/registry";
import { ResultCounter } from "@halyard/core/result-counts";
import type { Test } from "@halyard/core/targeting/conditions/condition";
import type { Environment } from "@halyard/core/targeting/decision";
import {
  applyToState,
  compileSegment,
  type SegmentState,
  stateOf,
} from "@halyard/core/targeting/segment";
import { workOfRules, workOfSegment } from "@halyard/core/targeting/work";
import type { Revision, VersionedFlag } from "../writes/change.ts";
import type { EnvironmentContent } from "./content.ts";
import { createRecentChanges, revisionName } from "./recent-changes.ts";
import { allFlags, type Outcome } from "./usage/counts.ts";

/** Evaluations since they were last stored. */
export interface Counter {
  on: number;
  off: number;
  /** By variant and by rule, once the flag has had more to decide than a percentage. */
  results: ResultCounter | undefined;
}

export interface Counters {
  /** The counter of a flag: the same one for as long as the flag exists. */
  of(environmentId: number, flagKey: string): Counter;
  /** The flag is gone, or all of them with their environment. */
  forget(environmentId: number, flagKey?: string): void;
}

/** What callers get for one result of a flag. */
export interface KeptBody {
  readonly evaluation: Evaluation;
  readonly outcome: Outcome;
  /** Whether it says which rule decided. */
  readonly isFull: boolean;
  readonly text: string;
}

export interface EvaluationFlag extends VersionedFlag {
  readonly prepared: PreparedFlag;
  /** Its variant while it is off; every other counts as on. */
  readonly off: string;
  readonly counter: Counter;
  /** The counter's results, if the flag has more to decide than a percentage. */
  readonly results: ResultCounter | undefined;
  /** Steps that its rules take for the largest context. */
  readonly work: number;
  /** One for each result so far; a prepared flag has a fixed set of results, one object for each. */
  readonly bodies: KeptBody[];
}

/** Its state changes in place, so the entry of a version is a new object. */
export interface EvaluationSegment {
  readonly state: SegmentState;
  readonly version: number;
  readonly test: Test;
  readonly work: number;
}

/**
 * Changed in place, by whole changes and never across an await: what reads it in one go sees one revision. Copying it for
 * each change would make a change cost as much as all flags together.
 */
export interface Snapshot {
  readonly environmentId: number;
  readonly environmentName: string;
  readonly revision: number;
  /** When the revision was made; null before the first change. */
  readonly changedAt: Date | null;
  /** The revision's name, see revisionName. */
  readonly name: string;
  /** Counts bulk evaluations, as `on`. */
  readonly bulk: Counter;
  get(key: string): EvaluationFlag | undefined;
  /** Sorted by key. */
  all(): readonly EvaluationFlag[];
  /** Sorted by key. */
  segments(): readonly EvaluationSegment[];
  /** What flags name outside themselves. */
  readonly environment: Environment;
  /** Steps that all of them take for the largest context. */
  readonly work: number;
  /** The changes since the revision of this name; undefined when it is not known or too long ago. */
  since(name: string): readonly Revision[] | undefined;
}

export interface ChangeableSnapshot extends Snapshot {
  /** The next revision. */
  apply(revision: Revision): void;
  /** Everything anew; what was kept of changes is gone. */
  replace(list: EnvironmentContent): void;
}

/** Steps of a flag with targeting in addition to its rules: most of them hash its bucket. */
const ofDecision = 50;

export const createSnapshot = (
  environmentId: number,
  environmentName: string,
  list: EnvironmentContent,
  counters: Counters,
): ChangeableSnapshot => {
  const flags = new Map<string, EvaluationFlag>();
  const segments = new Map<string, EvaluationSegment>();
  const environment: Environment = {
    segment: (key) => segments.get(key)?.test,
    flag: (key) => flags.get(key)?.prepared,
  };
  let sorted: EvaluationFlag[] | undefined;
  const recent = createRecentChanges();
  let revision = 0;
  let changedAt: Date | null = null;
  let name = "";
  let work = 0;

  const moveTo = (newRevision: number, at: Date | null) => {
    revision = newRevision;
    changedAt = at;
    name = revisionName(newRevision, at);
  };

  const put = ({ flag, version, level }: VersionedFlag) => {
    const known = flags.get(flag.key);
    const counter = known?.counter ?? counters.of(environmentId, flag.key);
    const prepared = prepare(flag, level, environment);
    if (prepared.decide !== undefined) counter.results ??= new ResultCounter();
    const entry: EvaluationFlag = {
      flag,
      version,
      level,
      prepared,
      off: choiceOf(flag).off,
      counter,
      results: prepared.decide && counter.results,
      work: prepared.decide === undefined ? 0 : ofDecision + workOfRules(flag.rules),
      bodies: [],
    };
    flags.set(flag.key, entry);
    work += entry.work - (known?.work ?? 0);
    if (known && sorted) sorted[indexOf(sorted, flag.key)] = entry;
    else sorted = undefined;
  };

  const remove = (key: string) => {
    const known = flags.get(key);
    if (!known) return;
    // A later flag of the same key begins anew.
    counters.forget(environmentId, key);
    flags.delete(key);
    work -= known.work;
    sorted = undefined;
  };

  const putSegment = (state: SegmentState, version: number) => {
    const entry = { state, version, test: compileSegment(state), work: workOfSegment(state.when) };
    work += entry.work - (segments.get(state.key)?.work ?? 0);
    segments.set(state.key, entry);
  };

  const removeSegment = (key: string) => {
    work -= segments.get(key)?.work ?? 0;
    segments.delete(key);
  };

  const replace = (whole: EnvironmentContent) => {
    const before = [...flags.keys()];
    flags.clear();
    segments.clear();
    work = 0;
    for (const { segment, version } of whole.segments) putSegment(stateOf(segment), version);
    for (const entry of whole.flags) put(entry);
    for (const key of before) if (!flags.has(key)) counters.forget(environmentId, key);
    moveTo(whole.revision, whole.changedAt);
    recent.clear(name);
  };
  replace(list);

  return {
    environmentId,
    environmentName,
    get revision() {
      return revision;
    },
    get changedAt() {
      return changedAt;
    },
    get name() {
      return name;
    },
    bulk: counters.of(environmentId, allFlags),
    get: (key) => flags.get(key),

    all() {
      // Keys are ASCII: this is the order of every list.
      sorted ??= [...flags.values()].sort((a, b) => (a.flag.key < b.flag.key ? -1 : 1));
      return sorted;
    },

    segments: () => [...segments.values()].sort((a, b) => (a.state.key < b.state.key ? -1 : 1)),
    environment,
    get work() {
      return work;
    },

    since: (wanted) => (wanted === name ? [] : recent.since(wanted)),

    apply(change) {
      switch (change.kind) {
        case "flag":
          if (change.value) put({ ...change, flag: change.value });
          else remove(change.key);
          break;
        case "segment":
          if (change.value === null) removeSegment(change.key);
          else {
            const before = segments.get(change.key)?.state;
            putSegment(applyToState(before, change.value), change.version);
          }
      }
      recent.add(change);
      moveTo(change.revision, change.at);
    },

    replace,
  };
};

/** Where the key lies in a list that is sorted by key and has it. */
const indexOf = (flags: readonly EvaluationFlag[], key: string): number => {
  let low = 0;
  let high = flags.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((flags[middle]?.flag.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
};
