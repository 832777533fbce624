// Why a change was made, as whoever makes it says.

export const maxReasonLength = 500;

/** Control characters, half characters, and what cannot be seen or turns the direction of the rest. */
const control = String.raw`\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff`;
/** Joiners stand between letters only. */
const end = String.raw`[^\s\u200c\u200d${control}]`;
/** Blanks around it do not count. */
export const reasonPattern = String.raw`^\s*${end}([^${control}]{0,${maxReasonLength - 2}}${end})?\s*$`;
