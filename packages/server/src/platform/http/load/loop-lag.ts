// Measures how late the event loop is: whatever asks for something now has waited at least that long.

/** Often enough to notice soon, seldom enough to cost nothing when there is nothing to do. */
const tickEvery = 20;
export interface LoopLag {
  /** Milliseconds, at this time of the clock. */
  late(at: number): number;
  close(): void;
}

/**
 * A limit on the lag. It is exceeded when the loop is later than that now, and every turn has been for a while, two of them at
 * least: a single pause, as of a process that was stopped, is no overload.
 */
export interface LagLimit {
  readonly milliseconds: number;
  isExceeded(late: number): boolean;
  tick(late: number, at: number): void;
}

/** 0 milliseconds for no limit. */
export const createLagLimit = (
  milliseconds: number,
  sustained: number,
  startedAt: number,
): LagLimit => {
  const limit = milliseconds === 0 ? Number.POSITIVE_INFINITY : milliseconds;
  let goodAt = startedAt;
  let lateTicks = 0;
  let isSustained = false;
  return {
    milliseconds: limit,
    isExceeded: (late) => isSustained && late > limit,
    tick(late, at) {
      if (late <= limit) {
        goodAt = at;
        lateTicks = 0;
      } else lateTicks += 1;
      isSustained = lateTicks >= 2 && at - goodAt >= sustained;
    },
  };
};

export const watchLoop = (
  now: () => number,
  onTick: (late: number, at: number) => void,
): LoopLag => {
  let dueAt = now() + tickEvery;
  const timer = setInterval(() => {
    const at = now();
    const late = at - dueAt;
    dueAt = at + tickEvery;
    onTick(late, at);
  }, tickEvery).unref();
  return { late: (at) => at - dueAt, close: () => clearInterval(timer) };
};
