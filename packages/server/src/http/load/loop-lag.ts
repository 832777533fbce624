// How late the event loop is: whatever asks for something now has waited at least that long.

/** Often enough to notice soon, seldom enough to cost nothing when there is nothing to do. */
const tickEvery = 20;
/** So long every turn of the loop must have been late: a single pause, as of a process that was stopped, is no overload. */
const sustained = 500;

export interface LoopLag {
  /** Milliseconds, at this time of the clock. */
  late(at: number): number;
  /** Whether the loop has been later than the limit for a while. */
  isSustained(): boolean;
  close(): void;
}

export interface LoopLagDependencies {
  readonly now: () => number;
  /** Milliseconds that the loop may be late for long; 0 when that is never too long. */
  readonly maxLag: number;
  readonly onTick: (late: number) => void;
}

export const watchLoop = ({ now, maxLag, onTick }: LoopLagDependencies): LoopLag => {
  const limit = maxLag === 0 ? Number.POSITIVE_INFINITY : maxLag;
  let dueAt = now() + tickEvery;
  let goodAt = now();
  let lateTicks = 0;
  let isSustained = false;
  const timer = setInterval(() => {
    const at = now();
    const late = at - dueAt;
    dueAt = at + tickEvery;
    if (late <= limit) {
      goodAt = at;
      lateTicks = 0;
    } else lateTicks += 1;
    isSustained = lateTicks >= 2 && at - goodAt >= sustained;
    onTick(late);
  }, tickEvery).unref();
  return {
    late: (at) => at - dueAt,
    isSustained: () => isSustained,
    close: () => clearInterval(timer),
  };
};
