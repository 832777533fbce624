// The limits of the fields that every flag has.

export const flagKeyPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
const flagKeyExpression = new RegExp(flagKeyPattern);
export const longestFlagKey = 128;
export const flagKeyRule =
  "1 to 128 characters, letters, digits, dot, underscore or hyphen, beginning with a letter or a digit";

export const isFlagKey = (value: unknown): value is string =>
  typeof value === "string" && flagKeyExpression.test(value);

export const maxDescriptionLength = 2_000;
/** Enough for 2,000 characters of any script. Control characters take six bytes each in JSON and can exceed it. */
const maxDescriptionBytes = 8_000;
export const descriptionRule =
  "a string of at most 2,000 characters and 8,000 bytes of JSON, or null";

/** The number of bytes in UTF-8. */
export const bytesOf = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

/** Without the quotes. A UTF-16 unit takes six bytes at most, so most texts need no counting. */
const isShort = (text: string): boolean =>
  text.length * 6 <= maxDescriptionBytes ||
  (bytesOf(JSON.stringify(text)) - 2 <= maxDescriptionBytes &&
    Array.from(text).length <= maxDescriptionLength);

export const isDescription = (value: unknown): value is string | null =>
  value === null || (typeof value === "string" && isShort(value));
