// The rules for the members that every flag has.

export const flagKeyPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
const flagKeyExpression = new RegExp(flagKeyPattern);
export const longestFlagKey = 128;
export const flagKeyRule =
  "1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit";

export const isFlagKey = (value: unknown): value is string =>
  typeof value === "string" && flagKeyExpression.test(value);

export const maxDescriptionLength = 2_000;
export const descriptionRule = "a string of at most 2,000 characters, or null";

export const isDescription = (value: unknown): value is string | null =>
  value === null || (typeof value === "string" && Array.from(value).length <= maxDescriptionLength);
