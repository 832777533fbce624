// The format of the reason that an author can state for a change.

export const maxReasonLength = 500;

/** Control characters, lone surrogates, invisible characters and changes of text direction. */
const control = String.raw`\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff`;
/** Joiners are allowed only between letters. */
const end = String.raw`[^\s\u200c\u200d${control}]`;
/** Surrounding white space doesn't count. */
export const reasonPattern = String.raw`^\s*${end}([^${control}]{0,${maxReasonLength - 2}}${end})?\s*$`;
