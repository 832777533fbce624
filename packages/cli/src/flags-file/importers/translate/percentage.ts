// Converts percentages of other products, if Halyard can represent them exactly.

/** Accepts a number or string in percent. Undefined if it is neither, or finer than 0.001%. */
export const percentOf = (value: unknown): number | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^\d{1,3}(\.\d{1,3}0*)?$/.test(text.trim())) return undefined;
  const percent = Number(text);
  return percent <= 100 ? percent : undefined;
};

export const notAPercentage = (value: unknown): string =>
  `has a percentage of ${String(value)}, which is not between 0% and 100% in steps of 0.001%`;
