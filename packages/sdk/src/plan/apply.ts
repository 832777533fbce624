// Applies a plan on a server, stage by stage: several changes at once, and changes of existing flags in groups.
import type { Change } from "@halyard/core/plan/plan";
import { stagesOf } from "@halyard/core/plan/stages";
import type { Management } from "../management/management.ts";
import type { ManagementError } from "../management/result.ts";
import { type FlagUpdate, flagChanges, groupsOf, type Versions } from "./apply-flags.ts";
import { segmentChanges } from "./apply-segments.ts";
import { type Outcome, untried, withRateLimit } from "./outcome.ts";

export type { Outcome } from "./outcome.ts";

interface ApplyOptions {
  readonly onProgress: (done: number) => void;
  /** The rate limit is reached for this many milliseconds. */
  readonly onWait: (milliseconds: number) => void;
  /** The versions of flags when the changes were planned. Other flags are read first, and must be unchanged. */
  readonly versions?: Versions;
  /** After it aborts, no further change starts or waits for the rate limit. Retries of `management` end with its `retryUntil`. */
  readonly signal?: AbortSignal;
}

const concurrency = 16;

/** Errors that all other changes would get too. */
const fatalCodes = new Set<ManagementError["code"]>([
  "UNAUTHORIZED",
  "FORBIDDEN",
  "UNREACHABLE",
  "UNAVAILABLE",
  "UNEXPECTED_ANSWER",
  "RATE_LIMITED",
]);

const isUpdate = (change: Change): change is FlagUpdate =>
  change.of === "flag" && change.kind === "update";

export const applyChanges = async (
  management: Management,
  changes: readonly Change[],
  { onProgress, onWait, versions, signal }: ApplyOptions,
): Promise<Outcome[]> => {
  const call = withRateLimit(onWait, signal);
  const flags = flagChanges(management, call, versions);
  const applySegment = segmentChanges(management, call);
  const outcomes = new Map<Change, Outcome>();
  let hasFailed = false;
  const isStopped = (): boolean => hasFailed || signal?.aborted === true;

  const record = (change: Change, outcome: Outcome): void => {
    if (outcome.kind === "failed" && fatalCodes.has(outcome.error.code)) hasFailed = true;
    if (outcome.kind !== "untried") outcomes.set(change, outcome);
    onProgress(outcomes.size);
  };

  /** Several at once, until one gets an error that all others would get too. */
  const each = async <T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < list.length && !isStopped(); index = next++) {
        const one = list[index];
        if (one !== undefined) await work(one);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };

  const applyOne = async (change: Change): Promise<Outcome> => {
    if (change.of === "segment") return applySegment(change);
    if (change.kind === "create") return flags.create(change.flag);
    return change.kind === "delete" ? flags.remove(change.flag) : untried;
  };

  const applyUpdates = async (updates: readonly FlagUpdate[]): Promise<void> => {
    const versions = new Map<FlagUpdate, number>();
    await each(updates, async (change) => {
      const found = await flags.findVersion(change.before, change.after);
      if ("kind" in found) record(change, found);
      else versions.set(change, found.version);
    });
    const ready = updates.flatMap((change) => {
      const version = versions.get(change);
      return version === undefined ? [] : [{ change, version }];
    });
    // In their order: a flag of one group may require one of an earlier group.
    for (const group of groupsOf(ready)) {
      if (isStopped()) return;
      for (const [change, outcome] of await flags.updateGroup(group)) record(change, outcome);
    }
  };

  for (const stage of stagesOf(changes)) {
    await applyUpdates(stage.filter(isUpdate));
    await each(
      stage.filter((change) => !isUpdate(change)),
      async (change) => record(change, await applyOne(change)),
    );
  }
  return changes.map((change) => outcomes.get(change) ?? untried);
};
