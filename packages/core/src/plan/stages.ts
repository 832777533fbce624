// The order of a plan's changes: a flag or segment must exist before others reference it, and is deleted after them.
import type { Flag } from "../flags/registry.ts";
import type { Change, FlagStep } from "./plan.ts";

const requiredBy = ({ requires = [] }: Flag): readonly string[] => requires.map(({ flag }) => flag);

type Written = FlagStep & { readonly kind: "create" | "update" };

const isWritten = (change: Change): change is Written =>
  change.of === "flag" && (change.kind === "create" || change.kind === "update");

/**
 * Flags are created in even stages and changed in odd ones, to change as many as possible together. A prerequisite is
 * created in an earlier stage than the flag, and changed in the same or an earlier one.
 */
const stagesOfWritten = (changes: readonly Written[]): ReadonlyMap<Change, number> => {
  const byKey = new Map(changes.map((change) => [change.key, change]));
  const stages = new Map<Change, number>();
  const stageOf = (change: Written): number => {
    const known = stages.get(change);
    if (known !== undefined) return known;
    const isNew = change.kind === "create";
    // Set before the recursion, which ends cycles. The server rejects them.
    stages.set(change, isNew ? 0 : 1);
    const required = requiredBy(isNew ? change.flag : change.after).flatMap((key) => {
      const other = byKey.get(key);
      if (other === undefined) return [];
      const stage = stageOf(other);
      if (isNew) return [stage % 2 === 0 ? stage + 2 : stage + 1];
      return [stage % 2 === 0 ? stage + 1 : stage];
    });
    const stage = Math.max(isNew ? 0 : 1, ...required);
    stages.set(change, stage);
    return stage;
  };
  for (const change of changes) stageOf(change);
  return stages;
};

/** Flags that are no longer a prerequisite go first. */
const stagesOfDeleted = (changes: readonly Change[]): ReadonlyMap<Change, number> => {
  const deleted = changes.filter((change) => change.of === "flag" && change.kind === "delete");
  const stages = new Map<Change, number>();
  const stageOf = (change: Change): number => {
    const known = stages.get(change);
    if (known !== undefined) return known;
    stages.set(change, 0);
    const requiring = deleted.filter(
      (other) => other.kind === "delete" && requiredBy(other.flag).includes(change.key),
    );
    const stage = requiring.length === 0 ? 0 : 1 + Math.max(...requiring.map(stageOf));
    stages.set(change, stage);
    return stage;
  };
  for (const change of deleted) stageOf(change);
  return stages;
};

/** Greater than any stage: prerequisites are at most five levels deep. */
const afterAllWritten = 1_000;
const last = 1_000_000;

/** Each stage must be complete before the next one starts. Within a stage, prerequisites come first. */
export const stagesOf = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const written = stagesOfWritten(changes.filter(isWritten));
  const deleted = stagesOfDeleted(changes);
  const stageOf = (change: Change): number => {
    if (change.of === "segment") return change.kind === "delete" ? last : -1;
    if (change.kind === "delete") return afterAllWritten + (deleted.get(change) ?? 0);
    return written.get(change) ?? 0;
  };
  return [...Map.groupBy(changes, stageOf)]
    .sort(([one], [other]) => one - other)
    .map(([, stage]) => requiredFirst(stage));
};

const requiredFirst = (stage: readonly Change[]): readonly Change[] => {
  const byKey = new Map(stage.filter(isWritten).map((change) => [change.key, change]));
  const sorted = new Set<Change>();
  const visiting = new Set<Change>();
  const visit = (change: Change): void => {
    if (visiting.has(change)) return;
    visiting.add(change);
    if (isWritten(change)) {
      const flag = change.kind === "create" ? change.flag : change.after;
      for (const key of requiredBy(flag)) {
        const other = byKey.get(key);
        if (other !== undefined) visit(other);
      }
    }
    sorted.add(change);
  };
  for (const change of stage) visit(change);
  return [...sorted];
};
