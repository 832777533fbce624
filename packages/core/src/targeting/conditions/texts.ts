// Texts as conditions compare them.

/** A longer one is unknown: what somebody sends must not cost others more than a glance for each condition. */
const longest = 1_024;
/** The same for lists. */
export const longestList = 1_000;

export const isShortText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= longest;

/** Lowers A to Z and nothing else: the same in every language and locale. */
export const foldCase = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const decimalPattern = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** The number that a text such as `-12.5` stands for. */
export const numberFrom = (text: string): number | undefined => {
  if (!decimalPattern.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number + 0 : undefined;
};
