// A histogram with fixed buckets, cheap enough to time the most frequent requests.

/** The upper bounds of the buckets, in seconds. */
const bounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15,
];

export interface Bucket {
  /** In seconds; infinite for the last. */
  readonly upTo: number;
  /** Durations up to this bound, those of lower buckets included. */
  readonly count: number;
}

export interface Timing {
  add(milliseconds: number): void;
  /** In seconds. */
  sum(): number;
  buckets(): readonly Bucket[];
}

export const createTiming = (): Timing => {
  const counts = new Float64Array(bounds.length + 1);
  let total = 0;
  return {
    add(milliseconds) {
      const seconds = milliseconds / 1_000;
      let index = 0;
      while (index < bounds.length && seconds > (bounds[index] ?? 0)) index += 1;
      counts[index] = (counts[index] ?? 0) + 1;
      total += seconds;
    },
    sum: () => total,
    buckets() {
      let count = 0;
      return [...bounds, Number.POSITIVE_INFINITY].map((upTo, index) => {
        count += counts[index] ?? 0;
        return { upTo, count };
      });
    },
  };
};
