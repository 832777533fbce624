// Converts percentages of other products, exactly or not at all.

/** From a number or a text in percent; undefined if it is neither, or finer than a thousandth of a percent. */
export const percentOf = (value: unknown): number | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^\d{1,3}(\.\d{1,3}0*)?$/.test(text.trim())) return undefined;
  const percent = Number(text);
  return percent <= 100 ? percent : undefined;
};

export const notAPercentage = (value: unknown): string =>
  `has a percentage of ${String(value)}, which is not one of 0 to 100 % in steps of 0.001 %`;
