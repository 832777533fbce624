// The precision of percentages, and their integer form.

/** 0.001% is the smallest step of a rollout. */
const thousandthsPerPercent = 1_000;

/** 100%, in thousandths of a percent. */
export const allThousandths = 100 * thousandthsPerPercent;

/** Whether the value is a number from 0 to 100 with at most three decimals. */
export const isPercentage = (value: unknown): value is number =>
  typeof value === "number" &&
  value >= 0 &&
  value <= 100 &&
  fromThousandths(Math.round(value * thousandthsPerPercent)) === value;

/** The percentage in thousandths of a percent, rounded to the nearest. */
export const thousandthsOf = (percentage: number): number =>
  Math.round(percentage * thousandthsPerPercent);

export const fromThousandths = (thousandths: number): number => thousandths / thousandthsPerPercent;
