// Strings in conditions.

/** In UTF-16 code units. Conditions on longer strings are unknown, so that one context can't slow down others. */
export const longestText = 1_024;
/** The limits of lists: elements, and characters of all strings together. */
export const longestList = 1_000;
export const longestListText = 65_536;

export const isShortText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= longestText;

const [upperA, upperZ, toLower] = [65, 90, 32];

/** Converts only A to Z, to be independent of language and locale. */
export const foldCase = (text: string): string => {
  if (!/[A-Z]/.test(text)) return text;
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  if (text.length > longestText) {
    return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }
  const codes = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    codes[index] = code >= upperA && code <= upperZ ? code + toLower : code;
  }
  return String.fromCharCode(...codes);
};

const decimalPattern = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** The number that a string such as `-12.5` contains. */
export const numberFrom = (text: string): number | undefined => {
  if (!decimalPattern.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number + 0 : undefined;
};
