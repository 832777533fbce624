// The server's rules for a flag, written out so that all mistakes of a file are known before anything is sent; a test holds them against the core.

export const flagKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
export const longestKey = 128;
export const keyRule =
  "1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit";

export const longestDescription = 2_000;
export const descriptionRule = "a text of at most 2,000 characters, or null";

export const percentageRule = "a number from 0 to 100 with at most three decimals";

export const isFlagKey = (value: unknown): value is string =>
  typeof value === "string" && flagKeyPattern.test(value);

export const isDescription = (value: unknown): value is string | null =>
  value === null || (typeof value === "string" && Array.from(value).length <= longestDescription);

/** In decimal digits: 0.1 + 0.2 is not a multiple of 0.001, and 1.005 is. */
export const isPercentage = (value: unknown): value is number =>
  typeof value === "number" &&
  value >= 0 &&
  value <= 100 &&
  /^\d+(\.\d{1,3})?$/.test(String(value));
