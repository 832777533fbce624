// Texts as conditions compare them.

/** A longer text is unknown: one context must not slow down the evaluations of others. In UTF-16 code units. */
export const longestText = 1_024;
/** The same for lists: their elements, and the characters of all their texts together. */
export const longestList = 1_000;
export const longestListText = 65_536;

export const isShortText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= longestText;

const [upperA, upperZ, toLower] = [65, 90, 32];

/** Lowers A to Z and nothing else: the same in every language and locale. */
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

/** The number that a text such as `-12.5` stands for. */
export const numberFrom = (text: string): number | undefined => {
  if (!decimalPattern.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number + 0 : undefined;
};
