// Confidence interval of a share that was measured in a sample.

export interface Interval {
  /** All three in percent, rounded to hundredths. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution for 95%. */
const z = 1.959964;

const percent = (part: number): number => Math.round(part * 10_000) / 100;

/**
 * Wilson's score interval with continuity correction, which covers at least 95% even for rare outcomes. Without the
 * correction, coverage holds only on average. Undefined without a sample.
 */
export const intervalOf = (count: number, of: number): Interval | undefined => {
  if (of === 0) return undefined;
  const share = count / of;
  const middle = 2 * count + z * z;
  const spread = (sign: 1 | -1): number =>
    z * Math.sqrt(Math.max(0, z * z - 1 / of + 4 * count * (1 - share) + sign * (4 * share - 2))) +
    1;
  const whole = 2 * (of + z * z);
  return {
    share: percent(share),
    low: count === 0 ? 0 : percent(Math.max(0, (middle - spread(1)) / whole)),
    high: count === of ? 100 : percent(Math.min(1, (middle + spread(-1)) / whole)),
  };
};
