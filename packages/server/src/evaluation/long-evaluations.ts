// Evaluations of all flags of an environment whose rules take long: one after the other, and each in slices.
import type { EvaluationContext } from "@halyard/core/context";
import { evaluate } from "@halyard/core/evaluate";
import { Turn } from "@halyard/core/targeting/turn";
import { createQueue, type Queue, type RunInSlices } from "../platform/background/slices.ts";
import { fail, type Result } from "../platform/errors.ts";
import type { EvaluationFlag, Snapshot } from "./snapshot.ts";

/** Steps (see @halyard/core/targeting/work). Smaller evaluations run in one go. */
const longWork = 200_000;
/** Steps between two yields. */
const sliceWork = 50_000;
/** The maximum number of waiting requests of an environment: each holds its body. */
const maxWaiting = 64;

/** Flags that require others come last, when the required flags are already decided. */
function* decide(snapshot: Snapshot, context: EvaluationContext): Generator<void, Turn> {
  const turn = new Turn();
  let work = 0;
  const isSliceOver = (more: number): boolean => {
    work += more;
    if (work < sliceWork) return false;
    work = 0;
    return true;
  };
  for (const { test, work: steps } of snapshot.segments()) {
    turn.segment(test, () => test(context, turn));
    if (isSliceOver(steps)) yield;
  }
  const requiresOthers = ({ flag }: EvaluationFlag): boolean => flag.requires !== undefined;
  const flags = snapshot.all().filter(({ prepared }) => prepared.decide !== undefined);
  const inOrder = [
    ...flags.filter((entry) => !requiresOthers(entry)),
    ...flags.filter(requiresOthers),
  ];
  for (const { flag, prepared, work: steps } of inOrder) {
    turn.evaluations.set(flag.key, evaluate(prepared, context, turn));
    if (isSliceOver(steps)) yield;
  }
  return turn;
}

export interface LongEvaluations {
  isLong(snapshot: Snapshot): boolean;
  /** Runs the task after all earlier tasks have ended. */
  inTurn<T>(snapshot: Snapshot, task: () => Promise<Result<T>>): Promise<Result<T>>;
  /** Decides all flags. Use the result before the next await. */
  decideAll(snapshot: Snapshot, context: EvaluationContext): Promise<Turn>;
}

export const createLongEvaluations = (runInSlices: RunInSlices): LongEvaluations => {
  const queues = new WeakMap<Snapshot, Queue>();
  return {
    isLong: ({ work }) => work > longWork,
    inTurn(snapshot, task) {
      const queue = queues.getOrInsertComputed(snapshot, createQueue);
      if (queue.length >= maxWaiting) {
        return Promise.resolve(
          fail({
            code: "UNAVAILABLE",
            message: "Too many bulk evaluations are queued for this environment; try again.",
          }),
        );
      }
      return queue.run(task);
    },
    async decideAll(snapshot, context) {
      const { name } = snapshot;
      const turn = await runInSlices(decide(snapshot, context));
      // A change arrived in between. All flags of a response must have the same revision.
      return snapshot.name === name ? turn : new Turn();
    },
  };
};
