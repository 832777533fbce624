// The steps that a percentage can take, and how it is written in whole numbers.

/** One percent is a thousand of these: 0.001 % is the smallest step that a rollout can take. */
export const thousandthsPerPercent = 1_000;

/** What everyone is, in thousandths of a percent. */
export const allThousandths = 100 * thousandthsPerPercent;

/** The percentage as whole thousandths, or undefined when it is out of range or finer than that. */
export const toThousandths = (percentage: number): number | undefined => {
  const thousandths = Math.round(percentage * thousandthsPerPercent);
  if (thousandths < 0 || thousandths > allThousandths) return undefined;
  return thousandths / thousandthsPerPercent === percentage ? thousandths : undefined;
};

export const fromThousandths = (thousandths: number): number => thousandths / thousandthsPerPercent;
